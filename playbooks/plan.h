#pragma once
// Playbook x inventory: what a run will do, decided before anything is touched. Data; the engine
// executes it, `cupel plan` prints it.
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inventory/fwd.h"
#include "inventory/problem.h"
#include "playbooks/playbook.h"

namespace cupel::playbooks {

/// One step as it will be done on the nodes of one profile.
struct PlannedStep {
  StepKind kind{};
  std::string name;  // "power-on", "gpu-facts": unique within a plan
  burnin::Parameters with{};
  std::chrono::seconds deadline{};  // for all tries together
  std::chrono::seconds expected{};  // for the ETA
  int tries = 1;                    // for transient failures only
  OnFailure on_failure = OnFailure::stop;
  bool always = false;
  bool before_canary = false;
  std::optional<burnin::Job> job{};  // of a stage
  /// What its node draws meanwhile: 0 as when idle, 1 fully loaded (Profile::draw).
  double load = 0;
  /// Done once and never again: what it starts has a handle, and is found again by it.
  bool once = false;
  std::vector<Condition> when{};  // those that can only be decided when the step is due
  Together together = Together::alone;
  StopAfter stop_after{};
  std::vector<Claim> claims{};
};

struct NodePlan {
  const inventory::Node* node = nullptr;
  std::shared_ptr<const std::vector<PlannedStep>> steps{};  // shared by the nodes of a profile
};

/// Nodes that do one step together. Every node is in at most one group of a step; one that is in
/// none, though the step is done together, has no partner and does not do it.
struct Group {
  std::string step;                    // PlannedStep::name
  std::vector<std::size_t> members{};  // indices into Plan::nodes; at least two
};

struct Plan {
  std::string playbook;
  int nodes_at_once = 64;
  int priority = 0;
  std::vector<int> canary{};
  std::map<std::string, int, std::less<>> limits{};
  std::vector<NodePlan> nodes{};
  std::vector<Group> groups{};

  std::size_t step_count() const;
  /// Each name once, in the playbook's order: nodes of other profiles may do other steps.
  std::vector<std::string> step_names() const;
};

/// Joins the two. The nodes must outlive the plan. Errors are problems: a stage that refuses its
/// parameters, a stage for which the profile has no criteria, a criterion for a measurement that no
/// stage gives.
std::optional<Plan> make_plan(const Playbook& playbook, const inventory::Inventory& inventory,
                              const std::vector<const inventory::Node*>& nodes,
                              std::vector<inventory::Problem>& problems);

}  // namespace cupel::playbooks
