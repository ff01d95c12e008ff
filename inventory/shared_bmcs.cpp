#include "inventory/shared_bmcs.h"

#include <fmt/format.h>

#include <unordered_map>

#include "inventory/access.h"
#include "inventory/identity.h"
#include "inventory/model.h"
#include "inventory/node.h"

namespace cupel::inventory {
namespace {

bool is_same_login(const BmcAccess& one, const BmcAccess& other) {
  return one.user == other.user && one.password == other.password && one.factory == other.factory &&
         one.trust.kind == other.trust.kind && one.trust.what == other.trust.what;
}

std::string fault_between(const Node& node, const Node& before, std::string_view at) {
  const auto place = fmt::format("'{}' ({})", before.name, to_string(before.where));
  if (node.bmc.system.empty() || before.bmc.system.empty())
    return fmt::format(
        "BMC address {} of node '{}' is already that of {}; if one BMC serves both, "
        "name the System of each: bmc: {{system: ...}}",
        at, node.name, place);
  if (node.bmc.system == before.bmc.system)
    return fmt::format("System {} of BMC {} of node '{}' is already that of {}", node.bmc.system,
                       at, node.name, place);
  if (!is_same_login(node.bmc, before.bmc))
    return fmt::format(
        "node '{}' has the same BMC as {}, with another user, password, factory "
        "login or tls: give it once, in defaults or the same for both",
        node.name, place);
  return {};
}

}  // namespace

void share_bmcs(Inventory& inventory, std::vector<Problem>& problems) {
  std::unordered_map<std::string, std::vector<Node*>> of_address;
  for (auto& node : inventory.nodes) {
    if (!node.bmc.system.empty() && node.bmc.ipmi)
      problems.push_back({node.where, fmt::format("node '{}' is a System of its BMC, which IPMI "
                                                  "cannot name: leave ipmi out, or say ipmi: false",
                                                  node.name)});
    if (node.bmc.endpoint.host.empty()) continue;
    const auto address = to_string(node.bmc.endpoint);
    auto& same = of_address[canonical(node.bmc.endpoint)];
    for (const auto* before : same) {
      const auto fault = fault_between(node, *before, address);
      if (fault.empty()) continue;
      problems.push_back({node.where, fault});
      break;
    }
    same.push_back(&node);
    if (same.size() > 1)
      for (auto* one : same) one->bmc.shared_as = same.front()->name;
  }
}

}  // namespace cupel::inventory
