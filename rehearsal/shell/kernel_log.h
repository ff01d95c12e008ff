#pragma once
// What the kernel of one node has logged since it booted: a function of the machine, its faults and
// the time, so that nothing has to be written down while nobody reads. Worded as the kernel and the
// drivers word it. Not how dmesg prints it: that is tools/kernel_log_tools.cpp.
#include <cstdint>
#include <string>
#include <vector>

namespace cupel::rehearsal {

class Host;

struct KernelLine {
  double at = 0;     // seconds since the boot
  int priority = 6;  // of syslog(3): 3 error, 4 warning, 6 information
  std::string text{};
};

/// In the order of their times; bounded.
std::vector<KernelLine> kernel_lines(Host& host);

/// What EDAC has counted of one DIMM since the boot.
struct DimmErrors {
  std::uint64_t corrected = 0, uncorrected = 0;
};
DimmErrors dimm_errors(const Host& host, const std::string& dimm);

/// Throttle events of one CPU since the boot, as /sys/devices/system/cpu/*/thermal_throttle counts.
std::uint64_t throttle_events(const Host& host, const std::string& cpu);

}  // namespace cupel::rehearsal
