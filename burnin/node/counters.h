#pragma once
// What a kernel counts by itself while a stage works: memory errors (EDAC), CPUs that slowed down
// for heat, machine checks, processes killed for memory. Read before and after: only what is new
// belongs to the stage.
#include <optional>
#include <string>
#include <string_view>

#include "burnin/measurement.h"

namespace cupel::burnin {

struct AgentOutput;  // burnin/agent_stage.h

/// Counters of one stage's output. Pure.
class CountersOf {
 public:
  /// cupel-node's evidence "counters" of part "before" and of part "after", into which this looks.
  explicit CountersOf(const AgentOutput& output);
  /// Sections "counters before" and "counters after", of the script of an earlier version.
  explicit CountersOf(std::string_view text);

  /// Both were reported to their end.
  bool whole() const { return before_.has_value() && after_.has_value(); }

  /// "memory.corrected" and "memory.uncorrected", of each DIMM and of the node: what is new. A node
  /// without an EDAC driver, or whose counts went backwards, gives an Unknown. Source:
  /// Documentation/ABI/testing/sysfs-devices-edac of Linux.
  void add_memory_errors(Findings& findings) const;

  /// "cpu.throttled" of each socket: how often it slowed down for heat meanwhile.
  void add_throttling(Findings& findings) const;

  /// "cpu.machine_checks" of the node: exceptions, all CPUs together. Source: /proc/interrupts,
  /// "MCE"; x86 only.
  void add_machine_checks(Findings& findings) const;

  /// How many processes the kernel killed for memory meanwhile; nothing where it does not tell.
  std::optional<double> oom_kills() const;

 private:
  std::optional<std::string_view> before_{}, after_{};
};

}  // namespace cupel::burnin
