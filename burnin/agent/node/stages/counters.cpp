#include "burnin/agent/node/stages/counters.h"

#include "burnin/agent/node/stages/file_lines.h"

namespace cupel::agent {
namespace {

/// Of /proc/interrupts: a line has 11 bytes of each CPU, some thousand lines on a large node, and
/// machine checks come last.
constexpr std::size_t kMostInterrupts = 128u << 20;

}  // namespace

void print_counters(Node& node, std::string_view when) {
  const std::string memory = "/sys/devices/system/edac/mc", cpus = "/sys/devices/system/cpu";
  FileLines files{node.tree};
  for (const auto& name : numbered(node.tree, memory, "mc")) {
    const auto controller = memory + "/" + name;
    for (const auto* count : {"/ue_count", "/ce_count"}) files.add(controller + count);
    for (const auto& dimm : numbered(node.tree, controller, "dimm"))
      for (const auto* file : {"/dimm_label", "/dimm_ue_count", "/dimm_ce_count"})
        files.add(controller + "/" + dimm + file);
  }
  for (const auto& cpu : numbered(node.tree, cpus, "cpu"))
    for (const auto* file :
         {"/topology/physical_package_id", "/thermal_throttle/package_throttle_count"})
      files.add(cpus + "/" + cpu + file);
  files.add_with("/proc/interrupts", {"MCE:"}, kMostInterrupts);
  files.add_with("/proc/vmstat", {"oom_kill "});
  files.print(node.lines, "counters", when);
}

}  // namespace cupel::agent
