#include "orchestrator/cli/plan_options.h"

#include <fmt/format.h>

#include "base/text.h"

namespace cupel::cli {
namespace {

std::unique_ptr<Planned> plan_or_complain(
    const Context& context, std::expected<std::unique_ptr<Planned>, controller::NoPlan> planned,
    Exit& exit) {
  if (planned) return *std::move(planned);
  const auto& failure = planned.error();
  if (const auto* error = std::get_if<Error>(&failure))
    exit = complain(context, *error, Exit::invalid);
  else
    exit = complain(context, std::get<std::vector<inventory::Problem>>(failure));
  return nullptr;
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
  auto arguments = arguments_of(options.settings);
  if (!arguments) {
    exit = complain(context, arguments.error(), Exit::invalid);
    return nullptr;
  }
  const controller::PlanRequest request{options.playbook, options.inventory, options.nodes,
                                        *std::move(arguments)};
  return plan_or_complain(context, controller::plan_run(request), exit);
}

std::unique_ptr<Planned> planned_again_or_complain(const Context& context, const store::Run& run,
                                                   Exit& exit) {
  return plan_or_complain(context, controller::plan_again(run), exit);
}

}  // namespace cupel::cli
