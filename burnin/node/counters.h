#pragma once
// What a kernel counts by itself while a stage works: memory errors (EDAC), CPUs that slowed down
// for heat, machine checks, processes killed for memory. Read before and after: only what is new
// belongs to the stage.
#include <optional>
#include <string>
#include <string_view>

#include "burnin/measurement.h"

namespace cupel::burnin {

/// Lines of a script that tell the counters; `when` is "before" or "after". Starts nothing else.
std::string tell_counters(std::string_view when);

/// Counters of one stage's output. Pure.
class CountersOf {
 public:
  /// Finds the two sections of tell_counters().
  explicit CountersOf(std::string_view text);

  /// Both were told to their end.
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
