#include "orchestrator/report/drained.h"

#include <algorithm>

#include "inventory/node_range.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/engine/fold.h"

namespace cupel::report {

namespace {

/// "resumed" or "drained", as a hand-off to Slurm or to Kubernetes ended.
std::string handed(const engine::Event& end) {
  const auto slurm = text_in(end, "slurm");
  return slurm.empty() ? text_in(end, "kubernetes") : slurm;
}

/// Which of the two it is that the run's nodes were taken from.
std::string_view scheduler_of(std::span<const engine::Event> events) {
  const auto is_named = [&](std::string_view key, std::string_view name) {
    return std::ranges::any_of(events, [&](const engine::Event& event) {
      return event.data.contains(key) ||
             text_in(event, "scheduler").find(name) != std::string::npos;
    });
  };
  if (!is_named("kubernetes", "Kubernetes")) return "Slurm";
  return is_named("slurm", "Slurm") ? "Slurm and Kubernetes" : "Kubernetes";
}

}  // namespace

std::set<std::string> drained_by(std::span<const engine::Event> events) {
  std::set<std::string> drained;
  const auto run = engine::fold(events);
  for (const auto& [node, trace] : run.trace.nodes) {
    for (const auto* end : trace.ends) {
      if (text_in(*end, "outcome") != to_string(engine::Outcome::done)) continue;
      // A drain keeps the reason that the node had before; a hand-off says what is so now.
      const auto now = handed(*end);
      if (end->data.contains("reason_before") || now == "drained") drained.insert(node);
      if (now == "resumed") drained.erase(node);
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
  return "; " + inventory::fold(names) + (names.size() == 1 ? " stays" : " stay") + " drained in " +
         std::string{scheduler_of(events)};
}

}  // namespace cupel::report
