#pragma once
// What loaded nodes draw, as their BMCs measure it, reported to the engine at a modest pace. A
// bystander: a BMC that is slow or has no such sensor costs nothing but better numbers.
#include <functional>
#include <memory>

#include "bmc/bmc.h"
#include "inventory/fwd.h"
#include "orchestrator/engine/run_state.h"
#include "playbooks/fwd.h"

namespace cupel::controller {

struct PowerWatch {
  engine::RunId run = 0;  // for the log
  /// Nodes of which a step with load runs now.
  std::function<std::vector<const inventory::Node*>()> loaded;
  std::function<std::unique_ptr<bmc::Bmc>(const inventory::Node&)> bmc;
  std::function<void(std::string_view node, double watts)> measured;
  /// All that was read. May be empty.
  std::function<void(std::string_view node, const bmc::Sensors& sensors)> sensed{};
  std::chrono::seconds pause{60};
};

/// Until it is cancelled. Logs once that a node's power cannot be read, and once that it can be
/// again. Some nodes at a time, each in a session of its own that ends with the
/// look: BMCs have few.
Task<Result<void>> watch_power(PowerWatch watch);

/// Those of the run whose running step draws more than an idle machine.
std::vector<const inventory::Node*> loaded_nodes(const playbooks::Plan& plan,
                                                 const engine::RunState& state);

}  // namespace cupel::controller
