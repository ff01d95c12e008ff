// The cable plan of the inventory: where each rail of a node is plugged in, and how switches hang
// together.
#include <boost/json.hpp>

#include "base/text.h"
#include "orchestrator/api/handlers.h"

namespace cupel::api {
namespace {

namespace json = boost::json;
using inventory::Cable;
using inventory::CableEnd;
using inventory::FabricMap;

constexpr std::size_t kUsualPage = 1000;

std::string label_of(const FabricMap& map, const CableEnd& end) {
  const auto* at = map.find_switch(end.device);
  return at != nullptr ? inventory::port_label(*at, end.port) : std::to_string(end.port);
}

json::object cable_row(const FabricMap& map, const Cable& cable) {
  json::object row;
  if (cable.is_access()) {
    const auto* node = map.find_node(cable.from.device);
    row = {{"node", cable.from.device}, {"hca", cable.from.hca}};
    if (node != nullptr && node->group >= 0) row["group"] = node->group + 1;
    if (const int rail = map.rail_of(cable.from.device, cable.from.hca); rail >= 0)
      row["rail"] = rail + 1;
  } else {
    row = {{"below", cable.from.device}, {"below_port", label_of(map, cable.from)}};
  }
  row["switch"] = cable.to.device;
  row["port"] = label_of(map, cable.to);
  return row;
}

/// Of a node: whether its rack is theirs. Between switches: who may see all racks.
bool may_see(const Call& call, const inventory::Inventory& inventory, const Cable& cable) {
  if (call.identity.sees_all_racks()) return true;
  const auto* node = cable.is_access() ? inventory.node(cable.from.device) : nullptr;
  return node != nullptr && call.identity.sees_rack(node->rack);
}

}  // namespace

Reply list_cables(RequestHandler& handler, const Call& call) {
  const auto inventory = handler.shared().inventory.get();
  if (!inventory) return not_found("this service has no inventory: cupel serve --inventory FILE");
  return handler.kept(call, inventory->digest, [&]() -> Reply {
    json::array items;
    if (!inventory->fabric) return list_answer(std::move(items), {});
    const auto& fabric = inventory->fabric->fabric;
    const FabricMap map{fabric};
    const auto most =
        static_cast<std::size_t>(call.integer("limit", static_cast<std::int64_t>(kUsualPage)));
    auto skip = number<std::size_t>(call.text("cursor")).value_or(0);
    const auto first = skip;
    for (const auto& cable : fabric.cables) {
      if (!may_see(call, *inventory, cable) || (skip > 0 && skip-- > 0)) continue;
      if (items.size() == most) return list_answer(std::move(items), std::to_string(first + most));
      items.push_back(cable_row(map, cable));
    }
    return list_answer(std::move(items), {});
  });
}

}  // namespace cupel::api
