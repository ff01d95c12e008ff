// The cables of a node's HCAs: their GUIDs, their neighbours by LLDP where they are Ethernet, and
// where the order says so the whole fabric as they see it by ibnetdiscover. Paths: Linux,
// Documentation/ABI/stable/sysfs-class-infiniband and testing/sysfs-class-net.
#include <algorithm>

#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {
namespace {

using std::chrono::seconds;

constexpr seconds kAskLldpd{20};
constexpr seconds kLook{120};  // 4,341 HCAs take 4 s
/// Of one look: what a job may spool is 16 MiB, quoted and with all else.
constexpr std::size_t kMostSeen = 10u << 20;
constexpr std::size_t kMostHcas = 64, kLongestName = 64;

/// HCAs that see the same switches: one that could look is enough.
using Island = std::vector<std::string>;

/// Nothing of what is no list of lists of names.
std::optional<std::vector<Island>> islands_in(const JsonValue* look) {
  std::vector<Island> islands;
  if (look == nullptr) return islands;
  if (look->array() == nullptr || look->array()->size() > kMostHcas) return std::nullopt;
  for (const auto& each : *look->array()) {
    if (each.array() == nullptr || each.array()->size() > kMostHcas) return std::nullopt;
    auto& island = islands.emplace_back();
    for (const auto& hca : *each.array()) {
      const auto* name = hca.text();
      const bool good = name != nullptr && !name->empty() && name->size() <= kLongestName &&
                        !name->starts_with('-');
      if (!good) return std::nullopt;
      island.push_back(*name);
    }
  }
  return islands;
}

/// Whether its port is Ethernet.
bool report_hca(const Node& node, const std::string& hca) {
  const auto folder = "/sys/class/infiniband/" + hca;
  if (const auto guid = node.tree.text(folder + "/node_guid"))
    node.lines.note("guid " + hca, *guid);
  if (node.tree.text(folder + "/ports/1/link_layer") != "Ethernet") return false;
  node.lines.note("ethernet " + hca, "");
  for (const auto& net : node.tree.names(folder + "/device/net"))
    if (const auto state = node.tree.text(folder + "/device/net/" + net + "/operstate"))
      node.lines.note("net " + hca + " " + net, *state);
  return true;
}

Work<bool> report_hcas(Node& node) {
  bool ethernet = false;
  for (const auto& hca : node.tree.names("/sys/class/infiniband"))
    if (report_hca(node, hca)) ethernet = true;
  if (!ethernet) co_return false;
  if (!node.programs.has("lldpctl")) {
    node.lines.note("cupel-no-lldp:", "lldpctl is not installed (lldpd)");
    co_return false;
  }
  const Command command{.argv = {"lldpctl", "-f", "json0"}, .limit = kAskLldpd};
  const auto ran = co_await node.programs.run(command);
  node.lines.evidence("lldpctl", "", command, ran);
  co_return true;
}

/// From the first of the HCAs that can.
Work<bool> look_from(Node& node, Island island) {
  for (const auto& hca : island) {
    const Command command{
        .argv = {"ibnetdiscover", "-C", hca, "-P", "1"}, .limit = kLook, .most = kMostSeen};
    const auto ran = co_await node.programs.run(command);
    node.lines.evidence("ibnetdiscover", hca, command, ran);
    if (ran.status == 0) co_return true;
  }
  co_return false;
}

}  // namespace

Work<GaveUp> run_fabric_cables(Node& node, const JsonValue& order) {
  const auto* report = order.find("report");
  const bool reports = report != nullptr && report->boolean() != nullptr && *report->boolean();
  const auto islands = islands_in(order.find("look"));
  if (!islands) co_return "the order's look is no list of lists of HCAs";
  if (reports) co_await report_hcas(node);
  if (islands->empty()) co_return {};
  if (!node.programs.has("ibnetdiscover")) {
    node.lines.note("cupel-missing:", "ibnetdiscover");
    co_return {};
  }
  for (const auto& island : *islands) co_await look_from(node, island);
  co_return {};
}

}  // namespace cupel::agent
