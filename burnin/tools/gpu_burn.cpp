#include "burnin/tools/gpu_burn.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "burnin/parameters.h"
#include "burnin/script.h"
#include "burnin/settings/pin.h"
#include "burnin/tools/tool_run.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;

constexpr std::string_view kStage = "gpu-burn", kTool = "gpu_burn";
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::size_t kMostGpus = 64;
constexpr std::size_t kMostRates = 100'000;  // of each GPU

constexpr std::array<std::string_view, 3> kPrecisions{"tensor", "double", "single"};
constexpr std::array kParameters{
    ParameterRow{
        "duration", ParameterRow::Kind::duration, "how long it burns", "5m", {}, 10, kWeek},
    ParameterRow{"precision", ParameterRow::Kind::word,
                 "single on tensor cores, double on tensor cores, or single without", "tensor",
                 kPrecisions},
    ParameterRow{"directory", ParameterRow::Kind::folder, "where gpu_burn lies", "/opt/gpu-burn"},
    kNumaParameter,
};
constexpr std::array<std::string_view, 6> kMeasures{"gpuburn.errors",      "gpuburn.died",
                                                    "gpuburn.tensor.rate", "gpuburn.double.rate",
                                                    "gpuburn.single.rate", "gpuburn.temperature"};

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(const auto duration, duration_parameter(kParameters, parameters, "duration"));
  TRY(const auto directory, folder_parameter(kParameters, parameters, "directory"));
  const auto precision = text_parameter(kParameters, parameters, "precision");
  if (std::ranges::find(kPrecisions, precision) == kPrecisions.end())
    return Error{Code::kInvalid, fmt::format("precision must be tensor, double or single, not '{}'",
                                             shortened(printable(precision), 80))};
  // Each GPU fills its memory first, and is given half a minute to end.
  const auto limit = duration + duration / 10 + seconds{600};
  json::object order{{"directory", directory},
                     {"seconds", duration.count()},
                     {"precision", precision},
                     {"limit", limit.count()}};
  TRY(ask_numa(parameters, order));
  return agent_job({.stage = kStage,
                    .order = std::move(order),
                    .tools = {std::string{kTool}, "nvidia-smi"},
                    .folder = directory},
                   duration + seconds{60}, limit);
}

/// What gpu_burn says of one GPU.
struct Burnt {
  double products = 0, errors = 0;
  double in_period = 0;  // it starts to count anew at each of its summaries
  bool died = false, faulty = false;
  bool uncounted = false;       // its errors were once reported in words that are no number
  std::vector<double> rates{};  // Gflop/s, one for each time that products grew
  std::optional<double> celsius{};
};

struct Report {
  std::vector<Burnt> gpus{};
  double percent = 0;
  std::size_t damaged = 0;  // lines of progress that are none
  bool ended = false;       // "Tested 8 GPUs:"
  double tested = 0;
};

/// "0 - 0  (WARNING!)- 3 - -1  (DIED!)": the pieces between " - " and "- ", which stands in front
/// of a minus as well.
std::vector<std::string_view> pieces_of(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const bool apart =
        text[i] == '-' && text[i + 1] == ' ' && i > 0 && (text[i - 1] == ' ' || text[i - 1] == ')');
    // "-- " is a temperature that nothing reported.
    if (!apart) continue;
    pieces.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  pieces.push_back(trimmed(text.substr(begin)));
  return pieces;
}

/// An int that was added to until it overflowed: what it would be were it not signed.
double count_of(std::int64_t reported) {
  constexpr double kRange = 4294967296.0;
  return reported < 0 ? static_cast<double>(reported) + kRange : static_cast<double>(reported);
}

std::optional<std::int64_t> first_number(std::string_view piece) {
  const auto all = words(piece);
  return all.empty() ? std::nullopt : number<std::int64_t>(all[0]);
}

/// "6783 (16942 Gflop/s)"
void read_work(std::string_view piece, Burnt& gpu) {
  const auto products = first_number(piece);
  if (!products) return;
  if (*products < 0) {
    gpu.died = true;
    return;
  }
  const auto open = piece.find('('), unit = piece.find(" Gflop/s");
  const bool grew = static_cast<double>(*products) > gpu.products;
  gpu.products = std::max(gpu.products, static_cast<double>(*products));
  if (!grew || open == piece.npos || unit == piece.npos || unit < open) return;
  const auto rate = script::finite(piece.substr(open + 1, unit - open - 1));
  if (rate && *rate >= 0 && gpu.rates.size() < kMostRates) gpu.rates.push_back(*rate);
}

void read_errors(std::string_view piece, Burnt& gpu) {
  const auto reported = first_number(piece);
  if (piece.contains("DIED")) gpu.died = true;
  if (!reported || *reported < INT32_MIN || *reported > INT32_MAX) {
    gpu.uncounted = true;
    return;
  }
  const double now = count_of(*reported);
  gpu.errors += now >= gpu.in_period ? now - gpu.in_period : now;
  gpu.in_period = now;
}

void read_heat(std::string_view piece, Burnt& gpu) {
  const auto reported = first_number(piece);
  if (!reported || *reported < -100 || *reported > 1000 || !piece.ends_with(" C")) return;
  gpu.celsius = std::max(gpu.celsius.value_or(-1000), static_cast<double>(*reported));
}

/// "50.0%  proc'd: ... errors: ... temps: ... power: ..."; power in new versions alone.
void read_progress(std::string_view line, Report& report) {
  const auto percent = line.find("%  "), work = line.find("proc'd: "),
             wrong = line.find("errors: "), heat = line.find("temps: "),
             power = std::min(line.find("power: "), line.size());
  if (work == line.npos) return;
  ++report.damaged;  // until it is read
  if (percent == line.npos || wrong == line.npos || heat == line.npos) return;
  if (!(percent < work && work < wrong && wrong < heat && heat < power)) return;
  const auto done = script::finite(line.substr(0, percent));
  const auto works = pieces_of(line.substr(work + 8, wrong - work - 8));
  const auto wrongs = pieces_of(line.substr(wrong + 8, heat - wrong - 8));
  const auto heats = pieces_of(line.substr(heat + 7, power - heat - 7));
  const auto count = works.size();
  if (!done || count > kMostGpus || wrongs.size() != count) return;
  if (!report.gpus.empty() && report.gpus.size() != count) return;
  --report.damaged;
  report.gpus.resize(count);
  report.percent = std::max(report.percent, *done);
  for (std::size_t i = 0; i < count; ++i) {
    read_work(works[i], report.gpus[i]);
    read_errors(wrongs[i], report.gpus[i]);
    if (heats.size() == count) read_heat(heats[i], report.gpus[i]);
  }
}

/// "\tGPU 3: FAULTY", below "Tested 8 GPUs:".
void read_end(std::string_view line, Report& report) {
  const auto cells = words(line);
  if (cells.size() == 3 && cells[0] == "Tested" && cells[2] == "GPUs:") {
    report.ended = true;
    report.tested = script::finite(cells[1]).value_or(0);
  }
  if (!report.ended || cells.size() != 3 || cells[0] != "GPU" || cells[2] != "FAULTY") return;
  const auto index = number<std::size_t>(cells[1].substr(0, cells[1].size() - 1));
  if (index && *index < report.gpus.size()) report.gpus[*index].faulty = true;
}

Report read_report(std::string_view text) {
  Report report;
  text = text.substr(0, text.rfind('\n') + 1);  // a line without an end is cut short
  for (const auto line : lines(text))
    for (const auto drawn : split(line, '\r')) {
      read_progress(drawn, report);
      read_end(drawn, report);
    }
  return report;
}

/// Of all but the first, which holds the time of the start; Gflop/s.
std::optional<double> median_of(std::vector<double> rates) {
  if (rates.size() > 1) rates.erase(rates.begin());
  if (rates.empty()) return std::nullopt;
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::ranges::nth_element(rates, middle);
  return *middle;
}

Error nothing_proven(std::string why) {
  return {Code::kNoMeasurement, "gpu_burn: " + script::clean(why)};
}

Result<void> check_worked(const Report& report, const ToolRun& run) {
  if (!run.asked("seconds"))
    return nothing_proven("it was not started: " + script::complaint(run.output()));
  const bool worked = std::ranges::any_of(report.gpus, [](auto& gpu) { return gpu.products > 0; });
  if (!worked) {
    for (const auto line : lines(run.output().text))
      if (line.contains("Couldn't") || line.contains("No CUDA") || line.contains("rror"))
        return nothing_proven(std::string{line});
    return nothing_proven("no GPU did any work");
  }
  constexpr double kWhole = 99;
  if (!report.ended || report.percent < kWhole)
    return nothing_proven(fmt::format("it ended at {:.0f} %", report.percent));
  if (report.damaged > 0)
    return nothing_proven(fmt::format("{} of its lines cannot be read", report.damaged));
  if (report.tested != static_cast<double>(report.gpus.size()))
    return nothing_proven("it tells of another number of GPUs in the end than before");
  return ok();
}

void add_gpu(const std::string& name, const Burnt& gpu, std::string_view precision,
             Findings& findings) {
  const auto add = [&](std::string measure, double value, const char* unit) {
    findings.measurements.push_back({std::move(measure), name, value, unit});
  };
  const auto unknown = [&](std::string what, std::string why) {
    findings.unknown.push_back({std::move(what) + " of " + name, "gpu_burn", std::move(why)});
  };
  const double errors = std::max(gpu.errors, gpu.faulty ? 1.0 : 0.0);
  add("gpuburn.died", gpu.died ? 1 : 0, "count");
  if (!gpu.died && gpu.products == 0) unknown("gpu_burn", "it did no work");
  // No error among no products is none that was looked for.
  const bool worked = gpu.products > 0 && !gpu.died && !gpu.rates.empty();
  const bool counted = worked && !gpu.uncounted;
  if (counted || errors > 0) add("gpuburn.errors", errors, "errors");
  if (worked && !counted) unknown("gpuburn.errors", "not every count is a number");
  const auto rate = worked ? median_of(gpu.rates) : std::nullopt;
  if (rate && !precision.empty())
    add(fmt::format("gpuburn.{}.rate", precision), *rate / 1000, "TFLOP/s");
  if (gpu.celsius && *gpu.celsius > 0)
    add("gpuburn.temperature", *gpu.celsius, "C");
  else
    unknown("gpuburn.temperature", "it is not reported");
}

Result<Findings> parse(const Profile& profile, const Output& output) {
  TRY(const auto run, ToolRun::read(kStage, kTool, profile, output));
  const auto report = read_report(run.output().text);
  // Where none did any work, CUDA did not begin: that is no GPU's fault.
  const bool began = std::ranges::any_of(report.gpus, [](auto& gpu) { return gpu.products > 0; });
  const bool found = std::ranges::any_of(report.gpus, [&](const Burnt& gpu) {
    return gpu.faulty || gpu.errors > 0 || (began && gpu.died);
  });
  // A fault is a finding whatever else went wrong.
  if (!found) {
    TRY(check_worked(report, run));
  }
  auto precision = run.note("precision");
  if (std::ranges::find(kPrecisions, precision) == kPrecisions.end()) precision.clear();
  Findings findings;
  for (std::size_t i = 0; i < report.gpus.size(); ++i)
    add_gpu(run.gpus().name(static_cast<int>(i)), report.gpus[i], precision, findings);
  run.add_pin(findings);
  return findings;
}

}  // namespace

Stage gpu_burn() {
  return {"gpu-burn",
          "all GPUs at their power limit, each compared with itself (gpu_burn)",
          kParameters,
          prepare,
          parse,
          kMeasures,
          {1, 0, "matrix products on all GPUs at their power limit"},
          kPrograms};
}

}  // namespace cupel::burnin
