#pragma once
// An ordered recipe as its author wrote it. Knows no inventory: plan.h joins the two.
#include <optional>
#include <string>
#include <vector>

#include "burnin/stage.h"
#include "inventory/problem.h"
#include "playbooks/step_kind.h"

namespace cupel::playbooks {

enum class OnFailure { stop, go_on };

/// One line of the recipe.
struct PlaybookStep {
  StepKind kind{};
  std::string name;  // "power-on"; of a stage its name, "gpu-facts"
  burnin::Parameters with{};
  std::optional<std::chrono::seconds> deadline{};
  std::optional<int> tries{};
  OnFailure on_failure = OnFailure::stop;
  inventory::Place where{};
};

struct Playbook {
  std::string name;
  std::string description{};
  int nodes_at_once = 64;
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
