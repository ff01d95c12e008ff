#pragma once
// Which playbook on which nodes: what `plan`, `run` and `rehearse` take alike.
#include <memory>

#include "inventory/select.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/controller/planned_run.h"

namespace cupel::cli {

struct PlanOptions {
  std::string playbook{};
  std::string inventory = default_inventory();
  bool inventory_named = false;  // by --inventory
  std::string nodes = "all";
  std::vector<std::string> settings{};  // "soak=24h"
};

using controller::Planned;

/// `--set NAME=VALUE`, as often as needed.
OptionRow set_option(std::vector<std::string>& settings);

/// Errors: kInvalid for what is no NAME=VALUE, and for a name that is set twice.
Result<playbooks::Arguments> arguments_of(const std::vector<std::string>& settings);

std::vector<OptionRow> plan_options(PlanOptions& options);

/// Reads both files and joins them, or says every error in them. `digest`, where not empty, is what
/// the inventory must still have.
OrExit<std::unique_ptr<Planned>> planned_or_exit(const Context& context,
                                                 const PlanOptions& options);

/// The same for a run that exists: its own playbook's text, its own nodes.
OrExit<std::unique_ptr<Planned>> planned_again_or_exit(const Context& context,
                                                       const store::Run& run);

}  // namespace cupel::cli
