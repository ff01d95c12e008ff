#include "orchestrator/steps/rack_inlets.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string_view>

#include "base/text.h"
#include "burnin/criteria/robust.h"
#include "inventory/model.h"
#include "inventory/node.h"

namespace cupel::steps {
namespace {

constexpr std::size_t kFewest = 2;  // inlets of a rack
/// ASHRAE TC 9.9 recommends air from 18 to 27 C for IT equipment: two racks that lie further apart
/// cannot both be within it.
constexpr double kMost = 9;  // K

using ByRack = std::map<std::string_view, std::vector<double>>;

ByRack inlets_of(const inventory::Inventory& inventory, const engine::RunState& run) {
  ByRack racks;
  for (const auto& node : inventory.nodes) {
    const auto state = run.nodes.find(node.name);
    if (node.rack.empty() || state == run.nodes.end()) continue;
    const auto reported = state->second.facts.find("thermal.inlet");
    const auto celsius =
        reported == state->second.facts.end() ? std::nullopt : number<double>(reported->second);
    if (celsius && std::isfinite(*celsius)) racks[node.rack].push_back(*celsius);
  }
  std::erase_if(racks, [](const auto& rack) { return rack.second.size() < kFewest; });
  return racks;
}

}  // namespace

std::vector<burnin::Cause> warm_rack(const inventory::Inventory& inventory,
                                     const inventory::Node& node, const engine::RunState& run) {
  const auto racks = inlets_of(inventory, run);
  const auto own = racks.find(node.rack);
  if (own == racks.end() || racks.size() < 2) return {};
  std::vector<double> others;
  for (const auto& [rack, inlets] : racks)
    if (rack != node.rack) others.push_back(burnin::median(inlets));
  const double here = burnin::median(own->second), usual = burnin::median(others);
  if (here <= usual + kMost) return {};
  burnin::Cause cause;
  cause.decision = burnin::Decision::inconclusive;
  cause.part = "inlet air";
  cause.criterion = "inlets of the rack";
  cause.measured = fmt::format("{:.1f} C, the median of {} nodes of rack {}", here,
                               own->second.size(), node.rack);
  cause.expected =
      fmt::format("at most {:.1f} C, {:.0f} K above the {:.1f} C of {} other rack{}", usual + kMost,
                  kMost, usual, others.size(), others.size() == 1 ? "" : "s");
  cause.remedy =
      "see why this rack gets warm air: its containment, floor tiles, doors and the cooling units "
      "that feed it; then run the stages under load again";
  cause.quantity = {.value = here, .at_most = usual + kMost, .unit = "C"};
  return {cause};
}

}  // namespace cupel::steps
