#include "orchestrator/report/drained.h"

#include "inventory/node_range.h"

namespace cupel::report {
namespace {

std::string word_of(const engine::Event& event, std::string_view key) {
  const auto* value = event.data.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

}  // namespace

std::set<std::string> drained_by(std::span<const engine::Event> events) {
  std::set<std::string> drained;
  for (const auto& event : events) {
    if (event.kind != engine::EventKind::step_ended || word_of(event, "outcome") != "done")
      continue;
    // A drain keeps the reason that the node had before; a hand-off says what Slurm has now.
    if (event.data.contains("reason_before") || word_of(event, "slurm") == "drained")
      drained.insert(event.node);
    if (word_of(event, "slurm") == "resumed") drained.erase(event.node);
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
