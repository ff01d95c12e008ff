#include "orchestrator/api/planned_power.h"

#include <set>

namespace cupel::api {
namespace {

constexpr std::string_view kKinds[] = {"room", "rack", "pdu", "breaker"};

using Watts = std::map<std::string, double, std::less<>>;

Watts planned_watts(const controller::Planned& planned, const LiveRun& live) {
  Watts watts;
  std::map<std::string, std::string, std::less<>> parents;
  for (const auto& level : planned.inventory.power) parents[level.name] = level.parent;
  for (const auto& each : planned.plan.nodes) {
    const auto standing = live.standing(each.node->name);
    double load = 0;
    if (standing.state == "running")
      for (const auto& step : *each.steps)
        if (step.name == standing.step->name) load = step.load;
    const auto& draw = planned.inventory.profile_of(*each.node).draw;
    const double drawn = draw.idle_watts + load * (draw.loaded_watts - draw.idle_watts);
    // Each feed must be able to carry all of the node; what is above them carries it once.
    std::set<std::string> levels;
    for (const auto& feed : each.node->feeds)
      for (auto level = feed; !level.empty() && levels.insert(level).second;)
        level = parents.contains(level) ? parents.find(level)->second : std::string{};
    for (const auto& level : levels) watts[level] += drawn;
  }
  return watts;
}

}  // namespace

std::vector<PowerLevel> power_levels(const controller::Planned& planned, const LiveRun& live) {
  const auto watts = planned_watts(planned, live);
  std::vector<PowerLevel> levels;
  for (const auto& level : planned.inventory.power)
    if (const auto drawn = watts.find(level.name); drawn != watts.end())
      levels.push_back({.name = level.name,
                        .kind = kKinds[static_cast<std::size_t>(level.kind)],
                        .parent = level.parent,
                        .limit_watts = level.watts,
                        .planned_watts = drawn->second});
  return levels;
}

}  // namespace cupel::api
