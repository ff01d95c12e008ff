#include "burnin/node/thermal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/cpu/stress_ng.h"
#include "burnin/node/heat.h"
#include "burnin/node/inlet.h"
#include "burnin/node/soak.h"
#include "burnin/parameters.h"
#include "burnin/script.h"
#include "burnin/tools/tool_gpus.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;

constexpr std::array<std::string_view, 2> kLoads{"cpu", "gpu"};
constexpr std::string_view kStage = "thermal";
constexpr std::array<std::string_view, 2> kPrograms{"cupel-node", "cupel-burn"};
constexpr std::array kParameters{
    ParameterRow{.name = "load",
                 .kind = ParameterRow::Kind::word,
                 .summary = "what makes it hot: all cores, or all GPUs",
                 .fallback = "cpu",
                 .words = kLoads},
    ParameterRow{"duration",
                 ParameterRow::Kind::duration,
                 "how long it is under load",
                 "30m",
                 {},
                 10,
                 kWeek},
    ParameterRow{"window",
                 ParameterRow::Kind::duration,
                 "steady is what changes by less than 1.6 C in it",
                 "5m",
                 {},
                 5,
                 kHour},
};
constexpr auto kMeasures = std::to_array<std::string_view>(
    {"thermal.steady", "thermal.seconds", "thermal.spread", "thermal.above_neighbours",
     "thermal.margin", "thermal.memory", "thermal.inlet", "thermal.inlet.above_neighbours",
     "thermal.faults", "gpu.temperature", "cpu.temperature"});

constexpr long kInterval = 15, kMostSamples = 700;
constexpr std::size_t kMostGpus = 64, kMostRows = 200'000;
constexpr double kColdest = -40, kHottest = 200;

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  const std::string load{text_parameter(kParameters, parameters, "load")};
  if (std::ranges::find(kLoads, std::string_view{load}) == kLoads.end())
    return Error{Code::kInvalid,
                 fmt::format("load must be cpu or gpu, not '{}'", shortened(printable(load), 80))};
  TRY(const auto duration, duration_parameter(kParameters, parameters, "duration"));
  TRY(const auto window, duration_parameter(kParameters, parameters, "window"));
  if (duration < 2 * window)
    return Error{Code::kInvalid, fmt::format("duration must be two windows ({}) or more, not {}",
                                             duration_text(2 * window), duration_text(duration))};
  const bool gpu = load == "gpu";
  const auto interval = std::max(
      {std::min<long>(kInterval, window.count() / 5), duration.count() / kMostSamples + 1, 1L});
  const auto limit = duration + duration / 4 + seconds{300};
  return agent_job({.stage = kStage,
                    .order = {{"load", load},
                              {"seconds", duration.count()},
                              {"window", window.count()},
                              {"interval", interval},
                              {"samples", kMostSamples + 10},
                              {"limit", limit.count()}},
                    .tools = {gpu ? "cupel-burn" : "stress-ng"},
                    .helpful = {"nvidia-smi", "ipmitool"}},
                   duration + seconds{30}, limit);
}

Error nothing_proven(std::string why) { return {Code::kNoMeasurement, std::move(why)}; }

std::optional<double> degrees(std::string_view text) {
  const auto value = script::finite(text);
  return value && *value > kColdest && *value < kHottest ? value : std::nullopt;
}

struct GpuHeat {
  std::vector<HeatSample> chip{};
  std::optional<double> memory{}, margin{};  // the highest, the least
};

struct Samples {
  std::map<int, GpuHeat> gpus{};
  std::map<std::string, std::vector<HeatSample>> cpus{};
};

/// "index, temperature.gpu, ..." and the rows below it; columns by their names.
void read_gpu_row(const std::vector<std::string_view>& columns, std::string_view line,
                  double second, Samples& samples) {
  const auto cells = split(line, ',');
  if (cells.size() != columns.size()) return;
  std::map<std::string_view, std::string_view> row;
  for (std::size_t i = 0; i < cells.size(); ++i) row[trimmed(columns[i])] = trimmed(cells[i]);
  const auto index = number<int>(row["index"]);
  if (!index || *index < 0 || *index >= static_cast<int>(kMostGpus)) return;
  auto& gpu = samples.gpus[*index];
  if (const auto chip = degrees(row["temperature.gpu"])) gpu.chip.push_back({second, *chip});
  if (const auto memory = degrees(row["temperature.memory"]))
    gpu.memory = std::max(gpu.memory.value_or(*memory), *memory);
  if (const auto margin = degrees(row["temperature.gpu.tlimit"]))
    gpu.margin = std::min(gpu.margin.value_or(*margin), *margin);
}

/// `named`: where they have their names.
Samples read_samples(std::string_view text, std::string_view named) {
  constexpr std::string_view kAt = "cupel-at: ", kHwmon = "/sys/class/hwmon/";
  Samples samples;
  std::vector<std::string_view> columns;
  std::optional<double> second;
  std::size_t rows = 0;
  std::string sensors;
  for (const auto line : lines(named))
    if (line.starts_with("cupel-sensor: ")) sensors.append(line).push_back('\n');
  for (const auto line : lines(text)) {
    if (++rows > kMostRows) break;
    if (line.starts_with(kAt)) {
      const auto reported = script::finite(line.substr(kAt.size()));
      // A clock that is set back makes no samples.
      second = reported && *reported >= second.value_or(0) ? reported : second;
      columns.clear();
    } else if (!second) {
      continue;
    } else if (line.starts_with("index,")) {
      columns = split(line, ',');
    } else if (line.starts_with(kHwmon)) {
      for (const auto& [part, celsius] : cpu_temperatures(sensors + std::string{line}))
        for (const double each : celsius) samples.cpus[part].push_back({*second, each});
    } else if (!columns.empty()) {
      read_gpu_row(columns, line, *second, samples);
    }
  }
  return samples;
}

/// Of GPUs that tell no margin: degrees at which each slows down, by `nvidia-smi -q -d
/// TEMPERATURE`, in the order of their index.
std::map<int, double> slowdown_of(std::string_view text) {
  std::map<int, double> slowdown;
  int index = -1;
  for (const auto line : lines(text)) {
    if (line.starts_with("GPU ") && index < static_cast<int>(kMostGpus)) ++index;
    const auto colon = line.find(" : ");
    if (colon == line.npos || trimmed(line.substr(0, colon)) != "GPU Slowdown Temp") continue;
    const auto cells = words(line.substr(colon + 3));
    const auto celsius = cells.size() == 2 && cells[1] == "C" ? degrees(cells[0]) : std::nullopt;
    if (celsius && index >= 0) slowdown[index] = *celsius;
  }
  return slowdown;
}

double highest(const std::vector<HeatSample>& row) {
  return std::ranges::max_element(row, {}, &HeatSample::celsius)->celsius;
}

/// The mean of the samples of the last window.
double settled(const std::vector<HeatSample>& row, double window) {
  double sum = 0, count = 0;
  for (const auto& each : row)
    if (each.seconds >= row.back().seconds - window) {
      sum += each.celsius;
      ++count;
    }
  return sum / count;
}

void add_gpus(const Samples& samples, const ToolGpus& names, const std::map<int, double>& slowdown,
              Findings& findings) {
  for (const auto& [index, gpu] : samples.gpus) {
    const auto part = names.name(index);
    const auto add = [&](std::string_view name, double value) {
      findings.measurements.push_back({std::string{name}, part, value, "C"});
    };
    const auto not_reported = [&](std::string_view what) {
      findings.unknown.push_back(
          {fmt::format("{} of {}", what, part), "nvidia-smi", "the GPU does not tell it"});
    };
    if (gpu.chip.empty()) {
      not_reported("gpu.temperature");
      continue;
    }
    add("gpu.temperature", highest(gpu.chip));
    const auto limit = slowdown.find(index);
    if (gpu.margin)
      add("thermal.margin", *gpu.margin);
    else if (limit != slowdown.end())
      add("thermal.margin", limit->second - highest(gpu.chip));
    else
      not_reported("thermal.margin");
    if (gpu.memory)
      add("thermal.memory", *gpu.memory);
    else
      not_reported("thermal.memory");
  }
}

/// Of each GPU, how much hotter it is than the median of the others: one that is hot alone is
/// reported apart from a baseboard whose rear row is warmer than its front row.
void add_above_neighbours(const std::multimap<double, int>& means, const ToolGpus& names,
                          Findings& findings) {
  constexpr std::size_t kFewest = 4;  // of two or three, none is usual
  if (means.size() < kFewest) return;
  for (const auto& [mean, index] : means) {
    std::vector<double> others;  // sorted, as the means are
    for (const auto& [other, at] : means)
      if (at != index) others.push_back(other);
    const auto middle = others.size() / 2;
    const double median =
        others.size() % 2 == 1 ? others[middle] : (others[middle - 1] + others[middle]) / 2;
    findings.measurements.push_back(
        {"thermal.above_neighbours", names.name(index), std::max(0.0, mean - median), "C"});
  }
}

/// Between the hottest and the coldest GPU, once warm; the hottest is named.
void add_spread(const Samples& samples, const ToolGpus& names, double window, Findings& findings) {
  std::multimap<double, int> means;
  for (const auto& [index, gpu] : samples.gpus)
    if (!gpu.chip.empty()) means.emplace(settled(gpu.chip, window), index);
  if (means.size() < 2) return;
  const auto& [hot, index] = *means.rbegin();
  findings.measurements.push_back(
      {"thermal.spread", "", hot - means.begin()->first, "C", names.name(index)});
  add_above_neighbours(means, names, findings);
}

void add_steadiness(const Samples& samples, double window, Findings& findings) {
  std::vector<std::vector<HeatSample>> rows;
  for (const auto& [index, gpu] : samples.gpus)
    if (!gpu.chip.empty()) rows.push_back(gpu.chip);
  for (const auto& [part, row] : samples.cpus) rows.push_back(row);
  double last = 0;
  for (const auto& row : rows) last = std::max(last, row.back().seconds);
  const bool steady = is_steady(rows, last, window);
  findings.measurements.push_back({"thermal.steady", "", steady ? 1.0 : 0.0, ""});
  if (!steady) return;
  for (const auto& sample : rows.front()) {
    if (!is_steady(rows, sample.seconds, window)) continue;
    findings.measurements.push_back({"thermal.seconds", "", sample.seconds, "s"});
    return;
  }
}

Result<void> check_stress(std::string_view text, int status, double expected) {
  auto why = left_undone(read_stress_report(text), "cpu", expected);
  if (why.empty() && status != 0) why = fmt::format("stress-ng ended with exit status {}", status);
  if (!why.empty()) return nothing_proven(std::move(why));
  return ok();
}

/// "gpu4" as the run numbers its GPUs, by its place.
std::string part_of(std::string_view text, const ToolGpus& names) {
  const auto index = text.starts_with("gpu") ? number<int>(text.substr(3)) : std::nullopt;
  return index ? names.name(*index) : script::clean(text);
}

/// Faults that cupel-burn found count by GPU; it must have come to its end, or have found one.
Result<void> check_burn(std::string_view text, int status, const ToolGpus& names,
                        Findings& findings) {
  std::map<std::string, double> faults;
  std::string error;
  bool complete = false;
  for (const auto line : lines(text)) {
    if (!line.starts_with('{')) continue;
    const auto read = parse_json(line);
    if (!read) continue;
    const auto& root = *read;
    const auto kind = text_at(root, "kind").value_or("");
    if (kind == "fault" || kind == "hang")
      ++faults[part_of(text_at(root, "part").value_or(""), names)];
    if (kind == "error" && error.empty())
      error = script::clean(text_at(root, "message").value_or("it does not say why"));
    if (kind == "end") complete = flag_at(root, "complete") == true;
  }
  for (const auto& [part, count] : faults)
    if (findings.measurements.size() < 4096)
      findings.measurements.push_back(
          {"thermal.faults", part.empty() ? "gpus" : part, count, "errors"});
  if (!faults.empty()) return ok();
  if (!error.empty()) return nothing_proven("cupel-burn: " + error);
  if (status != 0 || !complete)
    return nothing_proven(
        fmt::format("cupel-burn did not come to its end (exit status {})", status));
  findings.measurements.push_back({"thermal.faults", "", 0, "errors"});
  return ok();
}

/// What was printed by cupel-node, or by the shell script of a job that an earlier version started.
struct Printed {
  struct Load {
    std::string text{};
    int status = -1;
  };
  std::optional<double> seconds{}, window{};
  std::string load_name{};
  bool whole = false;
  std::string samples{}, sensors{}, thresholds{}, inlet{};
  std::optional<Load> load{};
  ToolGpus names;
};

Printed printed_by(const AgentOutput& output, const Profile& profile) {
  const auto load_name = output.notes.find("load");
  // stress-ng prints all on standard error in some versions, on standard output in others.
  const auto* load = output.tool("load");
  return {.seconds = output.amount("seconds"),
          .window = output.amount("window"),
          .load_name = load_name == output.notes.end() ? std::string{} : load_name->second,
          .whole = true,
          .samples = output.text_of("sample"),
          .sensors = output.text_of("sensors"),
          .thresholds = output.text_of("thresholds"),
          .inlet = output.text_of("inlet after"),
          .load = load == nullptr ? std::nullopt
                                  : std::optional{Printed::Load{printed_by(*load).text,  //
                                                                load->status}},
          .names = ToolGpus{profile, output}};
}

Printed printed_by_script(const Output& output, const Profile& profile) {
  Printed printed{.seconds = script::asked(output, "seconds"),
                  .window = script::asked(output, "window"),
                  .load_name = std::string{script::after_mark(output, "cupel-load: ").value_or("")},
                  .whole = script::after_mark(output, "cupel-all-told").has_value(),
                  .sensors = output.text,
                  .names = ToolGpus{profile, output}};
  for (const auto& section : script::sections(output.text)) {
    if (!section.whole) continue;
    if (section.name == "samples") printed.samples = section.text;
    if (section.name == "thresholds") printed.thresholds = section.text;
    if (section.name == "inlet after") printed.inlet = section.text;
    if (section.name.starts_with("load ") && !printed.load)
      printed.load = {std::string{section.text}, number<int>(section.name.substr(5)).value_or(-1)};
  }
  return printed;
}

Result<void> check_load(const Printed& printed, Findings& findings) {
  if (!printed.load) return nothing_proven("the load is not reported");
  const auto& [text, status] = *printed.load;
  return printed.load_name == "gpu" ? check_burn(text, status, printed.names, findings)
                                    : check_stress(text, status, *printed.seconds);
}

Result<Findings> parse(const Profile& profile, const Output& output) {
  TRY(const auto agent, read_agent_output(kStage, output, kMeasures));
  const auto printed = agent ? printed_by(*agent, profile) : printed_by_script(output, profile);
  if (!printed.seconds || !printed.window || *printed.window <= 0 || printed.load_name.empty())
    return nothing_proven("the load was not started: " + script::complaint(output));
  if (!printed.whole) return nothing_proven("the node's answer is cut short");
  Findings findings;
  TRY(check_load(printed, findings));
  const auto samples = read_samples(printed.samples, printed.sensors);
  const bool any = std::ranges::any_of(
                       samples.gpus, [](const auto& each) { return !each.second.chip.empty(); }) ||
                   !samples.cpus.empty();
  if (!any) return nothing_proven("no temperature is reported: no hwmon sensor, no nvidia-smi");
  add_steadiness(samples, *printed.window, findings);
  add_spread(samples, printed.names, *printed.window, findings);
  add_gpus(samples, printed.names, slowdown_of(printed.thresholds), findings);
  for (const auto& [part, row] : samples.cpus)
    findings.measurements.push_back({"cpu.temperature", part, highest(row), "C"});
  add_inlet(printed.inlet, output.beside, findings);
  return findings;
}

}  // namespace

Stage thermal() {
  Stage row{"thermal",
            "under load until nothing gets any hotter: margins, spread, inlet",
            kParameters,
            prepare,
            parse,
            kMeasures,
            {1, 1, "all GPUs at their power limit, or all cores"},
            kPrograms};
  row.beside.neighbour_inlets = true;
  return row;
}

}  // namespace cupel::burnin
