#pragma once
// Nodes that wait for a person's hands, looked at again now and then: where the world shows that it
// was done, the node's failed step is asked for again, in the run's own journal and by the name
// "cupel". A look touches nothing: does the BMC answer, does the machine answer, does the BMC show
// the part.
#include <functional>
#include <memory>

#include "bmc/bmc.h"
#include "inventory/fwd.h"
#include "orchestrator/engine/run_state.h"
#include "orchestrator/ssh/ssh.h"
#include "orchestrator/store/store.h"
#include "playbooks/fwd.h"

namespace cupel::controller {

struct RepairWatch {
  engine::RunId run = 0;
  const playbooks::Plan* plan = nullptr;
  const inventory::Inventory* inventory = nullptr;
  std::function<const engine::RunState&()> state;
  std::function<std::unique_ptr<bmc::Bmc>(const inventory::Node&)> bmc;
  std::function<Task<Result<std::unique_ptr<ssh::Session>>>(const inventory::Node&, Deadline)> ssh;
  store::Store* store = nullptr;
  std::chrono::seconds pause{60};
};

/// Until it is cancelled, at most kMostRetries times for each step of a node, by the journal's
/// count: then a person has to say `cupel retry`.
Task<Result<void>> watch_repairs(RepairWatch watch);

inline constexpr int kMostRetries = 3;

}  // namespace cupel::controller
