// What the host is made of, by the files of its kernel; and by tools what no file has: DIMMs where
// the firmware's table cannot be read, the health of NVMe drives, the pauses that a port received.
#include "base/text.h"
#include "burnin/agent/node/facts/host_parts.h"
#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {
namespace {

/// A tool that hangs is a finding: the job ends at its own limit.
constexpr std::chrono::hours kJobsLimit{24};
constexpr std::size_t kMostDrives = 256, kMostHcas = 128, kMostNets = 8;

Work<bool> ask_dimms(Node& node) {
  if (has_dimm_table(node.tree) || !node.programs.has("dmidecode")) co_return false;
  const Command command{.argv = {"dmidecode", "-t", "17"}, .limit = kJobsLimit};
  const auto ran = co_await node.programs.run(command);
  node.lines.evidence("dmidecode", "", command, ran);
  co_return true;
}

Work<bool> ask_drives(Node& node) {
  if (!node.programs.has("smartctl")) co_return false;
  std::size_t asked = 0;
  for (const auto& drive : node.tree.names("/sys/class/nvme")) {
    if (!drive.starts_with("nvme") || asked++ == kMostDrives) continue;
    const Command command{.argv = {"smartctl", "-j", "-A", "/dev/" + drive}, .limit = kJobsLimit};
    const auto ran = co_await node.programs.run(command);
    node.lines.evidence("smartctl", drive, command, ran);
  }
  co_return true;
}

/// A port counts a thousand things, of which these are some.
std::string pauses_in(std::string_view text) {
  std::string found;
  for (const auto line : lines(text))
    if (line.contains("_pause:")) found.append(line).append("\n");
  return found;
}

Work<bool> ask_pauses(Node& node, std::string hca) {
  const auto nets = node.tree.names("/sys/class/infiniband/" + hca + "/device/net");
  for (std::size_t i = 0; i < std::min(nets.size(), kMostNets); ++i) {
    const Command command{.argv = {"ethtool", "-S", nets[i]}, .limit = kJobsLimit};
    auto ran = co_await node.programs.run(command);
    ran.out = pauses_in(ran.out);
    node.lines.evidence("ethtool", hca, command, ran);
  }
  co_return true;
}

/// By the node's own clock, as it is compared with others'.
Work<bool> ask_clock(Node& node) {
  const Command command{.argv = {"date", "+%s"}, .limit = kJobsLimit};
  const auto ran = co_await node.programs.run(command);
  node.lines.evidence("date", "", command, ran);
  co_return true;
}

}  // namespace

Work<GaveUp> run_node_facts(Node& node, const JsonValue&) {
  node.lines.write(host_parts(node.tree));
  const auto hcas = node.programs.has("ethtool") ? node.tree.names("/sys/class/infiniband")
                                                 : std::vector<std::string>{};
  for (std::size_t i = 0; i < std::min(hcas.size(), kMostHcas); ++i)
    co_await ask_pauses(node, hcas[i]);
  co_await ask_drives(node);
  co_await ask_clock(node);
  co_await ask_dimms(node);
  co_return {};
}

}  // namespace cupel::agent
