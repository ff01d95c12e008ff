#include "orchestrator/cli/run_events.h"

#include <boost/json.hpp>

namespace cupel::cli {

using engine::Event;
using engine::EventKind;

Event run_event(EventKind kind, boost::json::object data) {
  Event event;
  event.kind = kind;
  event.data = std::move(data);
  return event;
}

Event run_started(const Planned& planned) {
  boost::json::array racks;
  for (const auto& rack : planned.inventory.racks)
    racks.push_back({{"name", rack.name}, {"units", rack.units}});
  boost::json::array nodes;
  boost::json::array steps;
  for (const auto& each : planned.plan.nodes) {
    const auto& node = *each.node;
    nodes.push_back({{"name", node.name},
                     {"profile", node.profile},
                     {"rack", node.rack},
                     {"unit", node.unit},
                     {"height", planned.inventory.profile_of(node).units}});
  }
  for (const auto& step : planned.plan.step_names()) steps.emplace_back(step);
  return run_event(EventKind::run_started, {{"playbook", planned.playbook.name},
                                            {"site", planned.inventory.site},
                                            {"racks", racks},
                                            {"nodes", nodes},
                                            {"steps", steps}});
}

Event run_resumed() { return run_event(EventKind::run_resumed); }

}  // namespace cupel::cli
