#pragma once
// A plan with all that it points into, and how a run gets it: a new one, and one that exists. Reads
// files; touches no machine.
#include <expected>
#include <memory>
#include <variant>

#include "inventory/load.h"
#include "inventory/select.h"
#include "orchestrator/store/store.h"
#include "playbooks/plan.h"

namespace cupel::controller {

struct Planned {
  inventory::Inventory inventory;
  playbooks::Playbook playbook;
  playbooks::Plan plan;
};

/// Why there is no plan: what is wrong in the files, or that they no longer fit the run.
using NoPlan = std::variant<std::vector<inventory::Problem>, Error>;

/// Which playbook on which nodes.
struct PlanRequest {
  std::string playbook{};   // a file, or a shipped one by its name
  std::string inventory{};  // a file
  std::string nodes = "all";
  playbooks::Arguments arguments{};  // what its parameters are set to
  /// Nodes of other racks do not exist for who asks.
  inventory::RackScope visible = inventory::RackScope::all();
  inventory::NodesOfRun of_run{};  // for nodes as "failed:12"
};

/// Reads both files and joins them. An Error is kInvalid: the nodes that were named.
std::expected<std::unique_ptr<Planned>, NoPlan> plan_run(const PlanRequest& request);

/// The plan of a run that exists: its own playbook's text, its own nodes. An Error is kConflict:
/// the inventory has lost nodes of the run, or has changed since it began.
std::expected<std::unique_ptr<Planned>, NoPlan> plan_again(const store::Run& run);

/// The plan of a playbook that was read, on one node of the inventory.
std::expected<std::unique_ptr<Planned>, NoPlan> plan_on(playbooks::Playbook playbook,
                                                        inventory::Inventory inventory,
                                                        const std::string& node);

/// In one line: every problem, or the error's text.
std::string to_string(const NoPlan& failure);

}  // namespace cupel::controller
