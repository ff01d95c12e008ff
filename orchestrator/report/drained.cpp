#include "orchestrator/report/drained.h"

#include "inventory/node_range.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/engine/fold.h"

namespace cupel::report {

std::set<std::string> drained_by(std::span<const engine::Event> events) {
  std::set<std::string> drained;
  const auto run = engine::fold(events);
  for (const auto& [node, trace] : run.trace.nodes) {
    for (const auto* end : trace.ends) {
      if (text_in(*end, "outcome") != to_string(engine::Outcome::done)) continue;
      // A drain keeps the reason that the node had before; a hand-off says what Slurm has now.
      const auto slurm = text_in(*end, "slurm");
      if (end->data.contains("reason_before") || slurm == "drained") drained.insert(node);
      if (slurm == "resumed") drained.erase(node);
    }
  }
  return drained;
}

std::string still_drained(const store::Store& store, engine::RunId run) {
  const auto events = store.events(run);
  return events ? still_drained(*events) : std::string{};
}

std::string still_drained(std::span<const engine::Event> events) {
  const auto drained = drained_by(events);
  if (drained.empty()) return {};
  const std::vector<std::string> names{drained.begin(), drained.end()};
  return "; " + inventory::fold(names) + (names.size() == 1 ? " stays" : " stay") +
         " drained in Slurm";
}

}  // namespace cupel::report
