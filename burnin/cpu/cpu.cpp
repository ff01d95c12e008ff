#include "burnin/cpu/cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/cpu/spare_cpus.h"
#include "burnin/cpu/stress_ng.h"
#include "burnin/node/counters.h"
#include "burnin/node/heat.h"
#include "burnin/node/sysfs.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;

constexpr std::string_view kStage = "cpu", kTool = "stress-ng";
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::array kParameters{
    ParameterRow{"duration",
                 ParameterRow::Kind::duration,
                 "how long every core computes",
                 "5m",
                 {},
                 1,
                 kWeek},
    kSpareParameter,
};
constexpr std::array<std::string_view, 8> kMeasures{
    "cpu.failures",       "cpu.cores",       "cpu.slowest",   "cpu.frequency.lowest",
    "cpu.frequency.base", "cpu.temperature", "cpu.throttled", "cpu.machine_checks"};

constexpr long kMostSamples = 400, kFewSamples = 100;
constexpr std::size_t kMostCpus = 4096;

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(auto work, cpu_work(parameters));
  return agent_job(std::move(work));
}

struct Place {
  int socket = 0, core = 0;
  auto operator<=>(const Place&) const = default;
};

std::string name_of(const Place& place) {
  return fmt::format("cpu{} core {}", place.socket, place.core);
}

std::string socket_name(int socket) { return fmt::format("cpu{}", socket); }

/// Logical CPUs in the order in which the kernel lists them.
using Topology = std::vector<std::pair<int, Place>>;

/// Without those that were left to others.
Topology tested_of(const Topology& all, std::string_view spared) {
  std::set<int> left;
  for (const auto word : words(spared))
    if (const auto cpu = number<int>(word)) left.insert(*cpu);
  Topology tested = all;
  std::erase_if(tested, [&](const auto& each) { return left.contains(each.first); });
  return tested;
}

Topology from_cpuinfo(const Sysfs& sysfs) {
  Topology all;
  for (const auto line : sysfs.lines_of("/proc/cpuinfo")) {
    const auto colon = line.find(':');
    if (colon == line.npos) continue;
    const auto key = trimmed(line.substr(0, colon));
    const auto value = number<int>(trimmed(line.substr(colon + 1)));
    if (!value || *value < 0) continue;
    // Until the kernel says otherwise, a CPU is a core of its own in socket 0.
    if (key == "processor" && all.size() < kMostCpus) all.push_back({*value, {0, *value}});
    if (all.empty()) continue;
    if (key == "physical id") all.back().second.socket = *value;
    if (key == "core id") all.back().second.core = *value;
  }
  return all;
}

Topology read_topology(std::string_view text) {
  const Sysfs sysfs{text};
  auto all = from_cpuinfo(sysfs);
  const auto folders = sysfs.below("/sys/devices/system/cpu");
  for (auto& [cpu, place] : all) {
    const auto folder = folders.find(fmt::format("cpu{}", cpu));
    if (folder == folders.end()) continue;
    const auto socket = number<int>(at(folder->second, "topology/physical_package_id"));
    const auto core = number<int>(at(folder->second, "topology/core_id"));
    if (socket && core && *socket >= 0 && *core >= 0) place = {*socket, *core};
  }
  return all;
}

std::string_view section_named(const std::vector<script::Section>& sections,
                               std::string_view name) {
  for (const auto& section : sections)
    if (section.name == name && section.whole) return section.text;
  return {};
}

Error nothing_proven(std::string why) { return {Code::kNoMeasurement, std::move(why)}; }

struct CpuReport {
  StressReport stress{};
  std::optional<int> status{};
};

using CpuReports = std::map<int, CpuReport>;

/// Evidence of each, by its number.
CpuReports reports_of(const AgentOutput& output) {
  CpuReports reports;
  for (const auto& tool : output.tools) {
    const auto cpu = tool.name == kTool ? number<int>(tool.part) : std::nullopt;
    if (!cpu || reports.size() == kMostCpus) continue;
    // It prints all on standard error in some versions, on standard output in others.
    reports.try_emplace(*cpu, read_stress_report(printed_by(tool).text), tool.status);
  }
  return reports;
}

/// Of an earlier version's script: "12:stress-ng: ..." of each, and "cupel-ended: 12 0".
CpuReports read_reports(std::string_view text) {
  std::map<int, std::string> by_cpu;
  CpuReports reports;
  constexpr std::string_view kEnded = "cupel-ended: ";
  for (const auto line : lines(text)) {
    if (line.starts_with(kEnded)) {
      const auto cells = words(line.substr(kEnded.size()));
      const auto cpu = cells.size() == 2 ? number<int>(cells[0]) : std::nullopt;
      if (cpu && reports.size() < kMostCpus) reports[*cpu].status = number<int>(cells[1]);
      continue;
    }
    const auto colon = line.find(':');
    const auto cpu = colon == line.npos ? std::nullopt : number<int>(line.substr(0, colon));
    if (cpu && by_cpu.size() < kMostCpus)
      by_cpu[*cpu].append(line.substr(colon + 1)).push_back('\n');
  }
  for (const auto& [cpu, output] : by_cpu) reports[cpu].stress = read_stress_report(output);
  return reports;
}

/// What is known of a core after the run.
struct Core {
  double failures = 0, rate = 0;
  std::size_t cpus = 0;
};

Result<std::map<Place, Core>> read_cores(const Topology& topology, const CpuReports& reports,
                                         double expected) {
  std::map<Place, Core> cores;
  std::string undone;
  bool failed = false;
  for (const auto& [cpu, place] : topology) {
    auto& core = cores[place];
    ++core.cpus;
    const auto report = reports.find(cpu);
    if (report == reports.end() || !report->second.status) {
      undone = fmt::format("logical CPU {} is not reported", cpu);
      continue;
    }
    const auto& [stress, status] = report->second;
    const bool wrong = stress.fail_lines > 0 || *status == kStressFailed;
    failed |= wrong;
    if (wrong) core.failures += static_cast<double>(std::max<std::size_t>(stress.fail_lines, 1));
    auto why = wrong ? std::string{} : left_undone(stress, "cpu", expected);
    if (!wrong && why.empty() && *status != 0)
      why = fmt::format("stress-ng ended with exit status {}", *status);
    if (!why.empty()) undone = fmt::format("on logical CPU {}: {}", cpu, why);
    const auto row = stress.rows.find("cpu");
    if (row != stress.rows.end() && row->second.real_seconds > 0)
      core.rate += row->second.bogo_ops / row->second.real_seconds;
  }
  // A wrong result is a finding whatever else went wrong; what has not worked proves nothing.
  if (!failed && !undone.empty()) return nothing_proven(undone);
  return cores;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Each core, how many there are in a socket, and the slowest beside the socket's median: of the
/// cores all of whose threads were tested.
void add_cores(const Topology& topology, const std::map<Place, Core>& cores, Findings& findings) {
  std::map<int, std::vector<double>> rates;
  std::map<int, Place> slowest;
  std::map<Place, std::size_t> threads;
  std::map<int, std::size_t> of_socket;
  for (const auto& [cpu, place] : topology)
    if (++threads[place] == 1) ++of_socket[place.socket];
  for (const auto& [socket, count] : of_socket)
    findings.measurements.push_back(
        {"cpu.cores", socket_name(socket), static_cast<double>(count), "count"});
  for (const auto& [place, core] : cores) {
    findings.measurements.push_back({"cpu.failures", name_of(place), core.failures, "errors"});
    if (core.cpus < threads[place]) continue;
    rates[place.socket].push_back(core.rate);
    auto& worst = slowest.try_emplace(place.socket, place).first->second;
    if (core.rate < cores.at(worst).rate) worst = place;
  }
  for (const auto& [socket, all] : rates) {
    const double usual = median(all);
    if (usual > 0)
      findings.measurements.push_back({"cpu.slowest", socket_name(socket),
                                       100 * std::ranges::min(all) / usual, "%",
                                       name_of(slowest.at(socket))});
  }
}

/// MHz of each logical CPU, sample by sample. The first sample is of cores that still speed up.
std::map<int, std::vector<double>> read_clocks(std::string_view text, const Topology& topology) {
  constexpr std::string_view kMhz = "cupel-mhz: ", kKhz = "cupel-khz: ";
  std::map<int, std::vector<double>> clocks;
  bool first = true;
  for (const auto line : lines(text)) {
    const bool mega = line.starts_with(kMhz);
    if (!mega && !line.starts_with(kKhz)) continue;
    const auto cells = words(line.substr(kMhz.size()));
    // One that was not reported would shift all the others.
    if (cells.size() != topology.size()) continue;
    if (std::exchange(first, false)) continue;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto value = script::finite(cells[i]);
      if (value && *value > 0) clocks[topology[i].first].push_back(*value / (mega ? 1 : 1000));
    }
  }
  return clocks;
}

/// Of each socket: the clock that its slowest core had for half of the time.
void add_clocks(std::string_view text, const Topology& topology, const Topology& tested,
                Findings& findings) {
  const auto clocks = read_clocks(text, topology);
  std::map<int, std::pair<double, Place>> lowest;
  for (const auto& [cpu, place] : tested) {
    const auto samples = clocks.find(cpu);
    if (samples == clocks.end()) continue;
    const std::pair usual{median(samples->second), place};
    const auto [found, fresh] = lowest.try_emplace(place.socket, usual);
    if (!fresh) found->second = std::min(found->second, usual);
  }
  for (const auto& [socket, slowest] : lowest)
    findings.measurements.push_back({"cpu.frequency.lowest", socket_name(socket), slowest.first,
                                     "MHz", name_of(slowest.second)});
  if (lowest.empty())
    findings.unknown.push_back({"cpu.frequency.lowest", "/proc/cpuinfo, cpufreq",
                                "no clock was reported at least twice while the CPUs worked"});
}

void add_base_clock(std::string_view text, Findings& findings) {
  constexpr std::string_view kBase = "/sys/devices/system/cpu/cpu0/cpufreq/base_frequency";
  const auto khz = script::finite(Sysfs{text}.file(kBase).value_or(""));
  if (khz && *khz > 0)
    findings.measurements.push_back({"cpu.frequency.base", "", *khz / 1000, "MHz"});
}

void add_heat(std::string_view text, Findings& findings) {
  const auto samples = cpu_temperatures(text);
  for (const auto& [part, celsius] : samples)
    if (!celsius.empty())
      findings.measurements.push_back({"cpu.temperature", part, std::ranges::max(celsius), "C"});
  if (samples.empty())
    findings.unknown.push_back(
        {"cpu.temperature", "hwmon", "no sensor of a CPU package (coretemp, k10temp)"});
}

/// What was printed by cupel-node, or by the shell script of a job that an earlier version started.
struct Printed {
  std::optional<double> seconds{};
  std::string topology{}, spared{}, samples{}, sensors{};
  std::optional<CpuReports> reports{};
  CountersOf counters;
};

Printed printed_by(const AgentOutput& output) {
  const auto samples = output.text_of("sample");
  return {output.amount("seconds"),
          output.text_of("topology"),
          output.text_of("spared"),
          samples,
          output.text_of("sensors") + samples,
          reports_of(output),
          CountersOf{output}};
}

Printed printed_by_script(const Output& output) {
  const auto sections = script::sections(output.text);
  const auto reports = section_named(sections, "cores");
  return {script::asked(output, "seconds"),
          std::string{section_named(sections, "topology")},
          std::string{script::after_mark(output, "cupel-spared: ").value_or("")},
          std::string{section_named(sections, "samples")},
          output.text,
          reports.empty() ? std::nullopt : std::optional{read_reports(reports)},
          CountersOf{output.text}};
}

Result<Findings> parse(const Profile&, const Output& output) {
  TRY(const auto agent, read_agent_output(kStage, output, kMeasures));
  const auto printed = agent ? printed_by(*agent) : printed_by_script(output);
  if (!printed.seconds)
    return nothing_proven("stress-ng was not started: " + script::complaint(output));
  const auto topology = read_topology(printed.topology);
  if (topology.empty())
    return nothing_proven("the node does not tell its CPUs: " + script::complaint(output));
  if (!printed.reports)
    return nothing_proven("stress-ng did not come to its end: " + script::complaint(output));
  const auto tested = tested_of(topology, printed.spared);
  TRY(const auto cores, read_cores(tested, *printed.reports, *printed.seconds));
  if (!printed.counters.whole()) return nothing_proven("the node's answer is cut short");
  Findings findings;
  add_cores(topology, cores, findings);
  add_clocks(printed.samples, topology, tested, findings);
  add_base_clock(printed.topology, findings);
  add_heat(printed.sensors, findings);
  printed.counters.add_throttling(findings);
  printed.counters.add_machine_checks(findings);
  return findings;
}

}  // namespace

Result<AgentWork> cpu_work(const Parameters& parameters) {
  TRY(const auto duration, duration_parameter(kParameters, parameters, "duration"));
  TRY(const auto spare, spare_parameter(kParameters, parameters));
  // Beside another stage that lasts for hours fewer samples say the same.
  const auto samples = spare > 0 ? kFewSamples : kMostSamples;
  const auto interval =
      std::max<long>(duration.count() < 60 ? 1 : 15, duration.count() / samples + 1);
  const auto limit = duration + duration / 4 + seconds{300};
  return AgentWork{.order = {.stage = kStage,
                             .order = {{"seconds", duration.count()},
                                       {"interval", interval},
                                       {"samples", samples},
                                       {"spare", spare},
                                       {"limit", limit.count()}},
                             .tools = {std::string{kTool}}},
                   .expected = duration + seconds{10},
                   .limit = limit};
}

Stage cpu() {
  return {"cpu",
          "every core computes and compares by itself; clocks and heat meanwhile (stress-ng)",
          kParameters,
          prepare,
          parse,
          kMeasures,
          {0.2, 0.9, "all cores at their power limit; memory and GPUs idle"},
          kPrograms};
}

}  // namespace cupel::burnin
