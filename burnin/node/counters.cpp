#include "burnin/node/counters.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/node/sysfs.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

constexpr std::string_view kEdac = "/sys/devices/system/edac/mc";
constexpr std::string_view kCpus = "/sys/devices/system/cpu";
constexpr std::size_t kMostDimms = 1024;

using Counts = std::map<std::string, double, std::less<>>;

std::optional<double> count_of(std::string_view text) {
  const auto value = script::finite(text);
  return value && *value >= 0 ? value : std::nullopt;
}

/// By DIMM ("dimm A7"); "" is the sum of the controllers. Controllers name empty slots alike:
/// slots of one label count together.
Counts memory_errors(const Sysfs& sysfs, std::string_view which) {
  Counts counts;
  for (const auto& [name, controller] : sysfs.below(kEdac)) {
    const auto sum = count_of(at(controller, std::string{which} + "_count"));
    if (sum) counts[""] += *sum;
    for (const auto& [path, label] : controller) {
      constexpr std::string_view kLabel = "/dimm_label";
      if (!path.ends_with(kLabel) || counts.size() >= kMostDimms) continue;
      const auto folder = path.substr(0, path.size() - kLabel.size());
      const auto count = count_of(at(controller, fmt::format("{}/dimm_{}_count", folder, which)));
      if (count) counts["dimm " + label] += *count;
    }
  }
  return counts;
}

/// The most of a socket's CPUs: each tells the same, or has not looked yet.
Counts throttling(const Sysfs& sysfs) {
  std::map<int, double> by_id;
  for (const auto& [name, cpu] : sysfs.below(kCpus)) {
    const auto socket = number<int>(at(cpu, "topology/physical_package_id"));
    const auto count = count_of(at(cpu, "thermal_throttle/package_throttle_count"));
    if (!socket || !count) continue;
    auto& most = by_id.try_emplace(*socket, 0.0).first->second;
    most = std::max(most, *count);
  }
  Counts counts;
  for (const auto& [id, count] : by_id) counts[fmt::format("cpu{}", id)] = count;
  return counts;
}

/// "MCE:   0   0   Machine check exceptions", all CPUs together.
std::optional<double> machine_checks(const Sysfs& sysfs) {
  const auto line = sysfs.lines_of("/proc/interrupts");
  if (line.empty()) return std::nullopt;
  double sum = 0;
  std::size_t cpus = 0;
  for (const auto cell : words(line.front())) {
    if (cell == "MCE:") continue;
    const auto count = count_of(cell);
    if (!count) break;
    sum += *count;
    ++cpus;
  }
  return cpus > 0 ? std::optional{sum} : std::nullopt;
}

/// What is new of each that both reported.
void add_new(std::string_view name, std::string_view unit, const Counts& before,
             const Counts& after, std::string_view source, Findings& findings) {
  for (const auto& [part, count] : after) {
    const auto earlier = before.find(part);
    if (earlier != before.end() && count >= earlier->second)
      findings.measurements.push_back(
          {std::string{name}, part, count - earlier->second, std::string{unit}});
    else
      findings.unknown.push_back({fmt::format("{} of {}", name, part.empty() ? "the node" : part),
                                  std::string{source},
                                  "it was not counted before, or the count went backwards"});
  }
}

}  // namespace

CountersOf::CountersOf(const AgentOutput& output) {
  const auto* before = output.tool("counters", "before");
  const auto* after = output.tool("counters", "after");
  if (before != nullptr && !before->cut) before_ = before->out;
  if (after != nullptr && !after->cut) after_ = after->out;
}

CountersOf::CountersOf(std::string_view text) {
  for (const auto& section : script::sections(text)) {
    if (!section.whole) continue;
    if (section.name == "counters before" && !before_) before_ = section.text;
    if (section.name == "counters after") after_ = section.text;
  }
}

void CountersOf::add_memory_errors(Findings& findings) const {
  const Sysfs before{before_.value_or("")}, after{after_.value_or("")};
  bool any = false;
  for (const auto& [which, name] :
       {std::pair{"ue", "memory.uncorrected"}, std::pair{"ce", "memory.corrected"}}) {
    const auto counts = memory_errors(after, which);
    add_new(name, "errors", memory_errors(before, which), counts, kEdac, findings);
    any |= !counts.empty();
  }
  if (!any)
    findings.unknown.push_back({"memory errors", std::string{kEdac},
                                "no EDAC driver watches the memory: load the one for this CPU"});
}

void CountersOf::add_throttling(Findings& findings) const {
  const auto counts = throttling(Sysfs{after_.value_or("")});
  add_new("cpu.throttled", "count", throttling(Sysfs{before_.value_or("")}), counts, kCpus,
          findings);
  if (counts.empty())
    findings.unknown.push_back(
        {"throttling of the CPUs", std::string{kCpus}, "this kernel does not count it"});
}

void CountersOf::add_machine_checks(Findings& findings) const {
  const auto before = machine_checks(Sysfs{before_.value_or("")}),
             after = machine_checks(Sysfs{after_.value_or("")});
  if (before && after && *after >= *before)
    findings.measurements.push_back({"cpu.machine_checks", "", *after - *before, "errors"});
  else
    findings.unknown.push_back(
        {"machine checks", "/proc/interrupts", "this kernel does not count them"});
}

std::optional<double> CountersOf::oom_kills() const {
  const auto count = [](std::optional<std::string_view> text) -> std::optional<double> {
    const Sysfs sysfs{text.value_or("")};
    const auto line = sysfs.file("/proc/vmstat").value_or("");
    return line.starts_with("oom_kill ") ? count_of(line.substr(9)) : std::nullopt;
  };
  const auto before = count(before_), after = count(after_);
  if (!before || !after || *after < *before) return std::nullopt;
  return *after - *before;
}

}  // namespace cupel::burnin
