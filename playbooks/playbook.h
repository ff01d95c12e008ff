#pragma once
// An ordered recipe as its author wrote it. Knows no inventory: plan.h joins the two.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "burnin/stage.h"
#include "inventory/problem.h"
#include "playbooks/step_kind.h"

namespace cupel::playbooks {

enum class OnFailure { stop, go_on };

/// Which nodes do a step together: each by itself; two and two (a node without a partner does not
/// do it); those of a rack; all of the run.
enum class Together { alone, pairs, rack, all };

/// What must be so for a step to be done on a node; else it is skipped, saying why.
struct Condition {
  enum class About { profile, rack, fact, measure } about{};
  /// Of a fact ("bmc.vendor") or a measurement ("gpu.count") of an earlier step of this node.
  std::string name{};
  enum class Test { is, is_not, at_least, at_most } test{};
  std::vector<std::string> values{};  // any of them
  double number = 0;                  // of at_least and at_most
  inventory::Place where{};
};

/// When a run stops beginning this step on further nodes, until a person has looked.
struct StopAfter {
  std::optional<int> failures{};
  std::optional<double> share{};  // of the nodes that ended it, once at least four have; 0 to 1
};

/// What a step needs so many of while it runs. How many there are is in Playbook::limits.
struct Claim {
  enum class Scope { node, rack, site };
  std::string resource;  // "firmware-push"
  Scope scope = Scope::site;
  int count = 1;
  friend bool operator==(const Claim&, const Claim&) = default;
};

/// One line of the recipe.
struct PlaybookStep {
  StepKind kind{};
  std::string name;  // "power-on"; of a stage its name, "gpu-facts"
  burnin::Parameters with{};
  std::optional<std::chrono::seconds> deadline{};
  std::optional<int> tries{};
  OnFailure on_failure = OnFailure::stop;
  std::vector<Condition> when{};
  Together together = Together::alone;
  StopAfter stop_after{};
  std::vector<Claim> claims{};
  inventory::Place where{};
};

struct Playbook {
  std::string name;
  std::string description{};
  int nodes_at_once = 64;
  int priority = 0;           // among the runs of one controller; higher first
  std::vector<int> canary{};  // so many nodes first, then so many, then the rest
  std::map<std::string, int, std::less<>> limits{};  // slots of what steps claim
  std::vector<PlaybookStep> steps{};
  std::string file{};
  std::string text{};  // as it was read: a run keeps it
};

/// Reads and checks a playbook. Every fault becomes a problem; the playbook is there only without
/// any.
std::optional<Playbook> parse_playbook(std::string_view text, const std::string& file,
                                       std::vector<inventory::Problem>& problems);

/// From a file, or a shipped one by its name ("new-rack" or "playbooks/new-rack.yaml").
std::optional<Playbook> load_playbook(const std::string& name,
                                      std::vector<inventory::Problem>& problems);

}  // namespace cupel::playbooks
