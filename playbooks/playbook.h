#pragma once
// An ordered recipe as its author wrote it. Knows no inventory: plan.h joins the two.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "burnin/job.h"
#include "inventory/part_kind.h"
#include "inventory/problem.h"
#include "playbooks/condition.h"
#include "playbooks/parameter.h"
#include "playbooks/step_kind.h"

namespace cupel::playbooks {

enum class OnFailure { stop, go_on };

/// Which nodes do a step together, always those of one profile: each by itself; two and two of a
/// rack (a node without a partner does not do it); those of a rack; all of the run.
enum class Together { alone, pairs, rack, all };

/// When a run stops beginning this step on further nodes, until a person has looked.
struct StopAfter {
  std::optional<int> failures{};
  std::optional<double> share{};  // of the nodes that ended it, once at least four have; 0 to 1
  friend bool operator==(const StopAfter&, const StopAfter&) = default;
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
  std::string name;  // "power-on"; of a stage its name, "gpu-facts"; "disk@scratch" for `as:`
  burnin::Parameters with{};
  std::optional<std::chrono::seconds> deadline{};
  std::optional<int> tries{};  // `max_attempts`
  OnFailure on_failure = OnFailure::stop;
  std::vector<Condition> when{};
  Together together = Together::alone;  // `group_by`
  StopAfter stop_after{};
  std::vector<Claim> claims{};
  /// `foreach`: done once for each part of this kind that the node's profile has: "disk@nvme0",
  /// "disk@nvme1".
  /// `${each}` in `with` is the part's name.
  std::optional<inventory::PartKind> each{};
  inventory::Place where{};
};

struct Playbook {
  std::string name;
  std::string description{};
  std::vector<Parameter> parameters{};
  int nodes_at_once = 64;     // `max_parallel`
  int priority = 0;           // among the runs of one controller; higher first
  std::vector<int> canary{};  // so many nodes first, then so many, then the rest
  std::map<std::string, int, std::less<>> limits{};  // slots of what steps claim
  std::vector<PlaybookStep> steps{};
  std::string file{};
  /// All that is needed to read it again, wherever that is: as it was read, or, where it includes
  /// others or was given parameters, one text with all of them. A run keeps it.
  std::string text{};
};

/// Reads and checks a playbook, with these values for its parameters. What it includes must be
/// shipped, or be part of `text` (Playbook::text of one that was loaded): no file is touched. Every
/// fault becomes a problem; the playbook is there only without any.
std::optional<Playbook> parse_playbook(std::string_view text, const std::string& file,
                                       std::vector<inventory::Problem>& problems,
                                       const Arguments& arguments = {});

/// From a file, or a shipped one by its name ("new-rack" or "playbooks/new-rack.yaml"); what it
/// includes lies beside the including file, or is shipped.
std::optional<Playbook> load_playbook(const std::string& name,
                                      std::vector<inventory::Problem>& problems,
                                      const Arguments& arguments = {});

}  // namespace cupel::playbooks
