#include "rehearsal/physics/forwarding_text.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "rehearsal/physics/cabling.h"

namespace cupel::rehearsal {
namespace {

struct Destination {
  std::string description;
  LeafPort at;
};

std::vector<Destination> destinations(const inventory::Fabric& planned, const Cabling& cabling) {
  std::vector<Destination> all;
  for (const auto& node : planned.nodes)
    for (const auto& hca : node.hcas)
      if (const auto at = cabling.port(node.name, hca))
        all.push_back({fmt::format("{} {}", node.host.empty() ? node.name : node.host, hca), *at});
  return all;
}

}  // namespace

std::string forwarding_text(const inventory::Fabric& planned) {
  constexpr std::size_t kMostEntries = 500'000, kFirstLid = 1000;
  FabricPlan plan;
  plan.planned = std::make_shared<const inventory::Fabric>(planned);
  const Cabling cabling{plan};
  const auto to = destinations(planned, cabling);
  const auto count = cabling.switches().size();
  if (count * to.size() > kMostEntries) return {};
  std::vector<std::map<std::size_t, int>> ports(count);  // of each switch, by destination
  for (std::size_t each = 0; each < to.size(); ++each) {
    const auto& at = to[each].at;
    ports[at.leaf][each] = at.port;
    for (std::size_t from = 0; from < count; ++from) {
      if (from == at.leaf || cabling.at(from).node_ports.empty()) continue;
      const auto route = cabling.route(from, at);
      if (!route) continue;
      ports[from][each] = cabling.at(from).uplinks[route->up].port;
      ports[route->spine][each] = cabling.at(at.leaf).uplinks[route->down].spine_port;
    }
  }
  std::string text;
  for (std::size_t each = 0; each < count; ++each) {
    text += fmt::format(
        "Unicast lids [0x0-0x{:x}] of switch DR path slid 0; dlid 0; 0 guid 0x{:016x} "
        "(MF0;{}:MQM9700/U1):\n  Lid  Out   Destination\n       Port     Info \n",
        kFirstLid + to.size(), each + 1, cabling.at(each).name);
    for (const auto& [destination, port] : ports[each])
      text += fmt::format("0x{:04x} {:03} : (Channel Adapter portguid 0x{:016x}: '{}')\n",
                          kFirstLid + destination, port, kFirstLid + destination,
                          to[destination].description);
    text += fmt::format("{} valid lids dumped \n", ports[each].size());
  }
  return text;
}

}  // namespace cupel::rehearsal
