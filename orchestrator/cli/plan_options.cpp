#include "orchestrator/cli/plan_options.h"

#include <fmt/format.h>

#include "base/text.h"

namespace cupel::cli {
namespace {

Exit join(const Context& context, Planned& planned,
          const std::vector<const inventory::Node*>& nodes) {
  std::vector<inventory::Problem> problems;
  auto plan = playbooks::make_plan(planned.playbook, planned.inventory, nodes, problems);
  if (!plan) return complain(context, problems);
  planned.plan = std::move(*plan);
  return Exit::passed;
}

}  // namespace

void add_set_option(CLI::App& command, std::vector<std::string>& settings) {
  command.add_option("--set", settings, "NAME=VALUE: a parameter of the playbook; repeatable")
      ->type_name("NAME=VALUE")
      ->take_all()
      ->allow_extra_args(false);
}

Result<playbooks::Arguments> arguments_of(const std::vector<std::string>& settings) {
  playbooks::Arguments arguments;
  for (const auto& each : settings) {
    const auto equals = each.find('=');
    if (equals == each.npos || equals == 0)
      return Error{Code::kInvalid,
                   fmt::format("--set takes NAME=VALUE, not '{}'", printable(each))};
    if (!arguments.emplace(each.substr(0, equals), each.substr(equals + 1)).second)
      return Error{Code::kInvalid,
                   fmt::format("--set {} twice", printable(each.substr(0, equals)))};
  }
  return arguments;
}

void add_plan_options(CLI::App& command, PlanOptions& options) {
  command.add_option("PLAYBOOK", options.playbook, "a file, or a shipped one by its name")
      ->required();
  command.add_option("-i,--inventory", options.inventory, "[$CUPEL_INVENTORY, ./inventory.yaml]");
  command.add_option("-n,--nodes", options.nodes,
                     "all, rack:a01, profile:dgx-h100, a01-n[01-04], !a01-n03, parted by commas");
  add_set_option(command, options.settings);
}

std::unique_ptr<Planned> planned_or_complain(const Context& context, const PlanOptions& options,
                                             Exit& exit) {
  const auto arguments = arguments_of(options.settings);
  if (!arguments) {
    exit = complain(context, arguments.error(), Exit::invalid);
    return nullptr;
  }
  std::vector<inventory::Problem> problems;
  auto playbook = playbooks::load_playbook(options.playbook, problems, *arguments);
  auto loaded = inventory::load_inventory(options.inventory);
  for (auto& problem : loaded.problems) problems.push_back(std::move(problem));
  warn(loaded.warnings);
  if (playbook) warn(playbook->warnings);
  if (!problems.empty()) {
    exit = complain(context, problems);
    return nullptr;
  }
  auto planned =
      std::make_unique<Planned>(Planned{std::move(*loaded.inventory), std::move(*playbook), {}});
  const auto nodes = inventory::select(planned->inventory, options.nodes);
  if (!nodes) {
    exit = complain(context, nodes.error(), Exit::invalid);
    return nullptr;
  }
  exit = join(context, *planned, *nodes);
  return exit == Exit::passed ? std::move(planned) : nullptr;
}

std::unique_ptr<Planned> planned_again_or_complain(const Context& context, const store::Run& run,
                                                   Exit& exit) {
  auto planned = controller::plan_again(run);
  if (planned) return *std::move(planned);
  const auto& failure = planned.error();
  if (const auto* error = std::get_if<Error>(&failure))
    exit = complain(context, *error, Exit::invalid);
  else
    exit = complain(context, std::get<std::vector<inventory::Problem>>(failure));
  return nullptr;
}

}  // namespace cupel::cli
