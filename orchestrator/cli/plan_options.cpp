#include "orchestrator/cli/plan_options.h"

#include <fmt/format.h>

#include "base/text.h"

namespace cupel::cli {
namespace {

OrExit<std::unique_ptr<Planned>> plan_or_exit(
    const Context& context, std::expected<std::unique_ptr<Planned>, controller::NoPlan> planned) {
  if (planned) return *std::move(planned);
  const auto& failure = planned.error();
  if (const auto* error = std::get_if<Error>(&failure))
    return print_error(context, *error, Exit::invalid);
  return print_error(context, std::get<std::vector<inventory::Problem>>(failure));
}

}  // namespace

OptionRow set_option(std::vector<std::string>& settings) {
  return {"--set",
          &settings,
          "NAME=VALUE: a parameter of the playbook; repeatable",
          {.repeatable = true, .placeholder = "NAME=VALUE"}};
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

std::vector<OptionRow> plan_options(PlanOptions& options) {
  return {{"PLAYBOOK", &options.playbook, "a file, or a shipped one by its name", kRequired},
          {"-i,--inventory",
           &options.inventory,
           "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]",
           {.given = &options.inventory_named}},
          {"-n,--nodes", &options.nodes,
           "all, rack:a01, profile:dgx-h100, @GROUP, failed:RUN, a01-n[01-04], !a01-n03, parted by "
           "commas"},
          set_option(options.settings)};
}

OrExit<std::unique_ptr<Planned>> planned_or_exit(const Context& context,
                                                 const PlanOptions& options) {
  auto arguments = arguments_of(options.settings);
  if (!arguments) return print_error(context, arguments.error(), Exit::invalid);
  const controller::PlanRequest request{.playbook = options.playbook,
                                        .inventory = options.inventory,
                                        .nodes = options.nodes,
                                        .arguments = *std::move(arguments),
                                        .of_run = nodes_of_run(context)};
  return plan_or_exit(context, controller::plan_run(request));
}

OrExit<std::unique_ptr<Planned>> planned_again_or_exit(const Context& context,
                                                       const store::Run& run) {
  return plan_or_exit(context, controller::plan_again(run));
}

}  // namespace cupel::cli
