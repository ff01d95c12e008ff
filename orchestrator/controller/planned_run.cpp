#include "orchestrator/controller/planned_run.h"

#include <fmt/format.h>

#include "base/text.h"
#include "inventory/node_range.h"
#include "inventory/select.h"

namespace cupel::controller {
namespace {

constexpr std::size_t kMostText = 2000;  // bytes; all of it says `cupel resume`

/// Nodes of the run that the inventory does not know any more, as a range; empty if there are none.
std::string lost_nodes(const inventory::Inventory& inventory, const store::Run& run) {
  std::vector<std::string> lost;
  for (const auto& name : run.nodes)
    if (inventory.node(name) == nullptr) lost.push_back(name);
  return lost.empty() ? std::string{} : inventory::fold(lost);
}

/// Errors: kConflict.
Result<void> check_unchanged(const inventory::Inventory& inventory, const store::Run& run) {
  // Said first: it is why the file is another one, and its digest tells nobody what to put back.
  if (const auto lost = lost_nodes(inventory, run); !lost.empty())
    return Error{
        Code::kConflict,
        fmt::format("{} no longer has {}, which run {} works on. Put it back as it was, or "
                    "`cupel cancel {}` and begin anew",
                    run.inventory_file, lost, run.id, run.id)};
  if (inventory.digest != run.inventory_digest)
    return Error{Code::kConflict,
                 fmt::format("{} (or a profile that it uses) has changed since run {} began: "
                             "what was found would be judged by other numbers. Restore it, "
                             "or `cupel cancel {}` and begin anew",
                             run.inventory_file, run.id, run.id)};
  return ok();
}

/// The plan of `planned`'s playbook on these nodes of its inventory.
std::expected<std::unique_ptr<Planned>, NoPlan> joined(
    std::unique_ptr<Planned> planned, const std::vector<const inventory::Node*>& nodes) {
  std::vector<inventory::Problem> problems;
  auto plan = playbooks::make_plan(planned->playbook, planned->inventory, nodes, problems);
  if (!plan) return std::unexpected{NoPlan{std::move(problems)}};
  planned->plan = std::move(*plan);
  return planned;
}

}  // namespace

std::expected<std::unique_ptr<Planned>, NoPlan> plan_run(const PlanRequest& request) {
  std::vector<inventory::Problem> problems;
  auto playbook = playbooks::load_playbook(request.playbook, problems, request.arguments);
  auto loaded = inventory::load_inventory(request.inventory);
  for (auto& problem : loaded.problems) problems.push_back(std::move(problem));
  if (!problems.empty()) return std::unexpected{NoPlan{std::move(problems)}};
  auto planned =
      std::make_unique<Planned>(Planned{std::move(*loaded.inventory), std::move(*playbook), {}});
  auto nodes =
      inventory::select(planned->inventory, request.nodes, request.visible, request.of_run);
  if (!nodes) return std::unexpected{NoPlan{std::move(nodes).error()}};
  return joined(std::move(planned), *nodes);
}

std::expected<std::unique_ptr<Planned>, NoPlan> plan_again(const store::Run& run) {
  std::vector<inventory::Problem> problems;
  auto playbook = playbooks::parse_playbook(run.playbook_text, run.playbook_file, problems);
  auto loaded = inventory::load_inventory(run.inventory_file);
  for (auto& problem : loaded.problems) problems.push_back(std::move(problem));
  if (!problems.empty()) return std::unexpected{NoPlan{std::move(problems)}};
  auto unchanged = check_unchanged(*loaded.inventory, run);
  if (!unchanged) return std::unexpected{NoPlan{std::move(unchanged).error()}};
  auto planned =
      std::make_unique<Planned>(Planned{std::move(*loaded.inventory), std::move(*playbook), {}});
  std::vector<const inventory::Node*> nodes;
  for (const auto& name : run.nodes) nodes.push_back(planned->inventory.node(name));
  return joined(std::move(planned), nodes);
}

std::expected<std::unique_ptr<Planned>, NoPlan> plan_on(playbooks::Playbook playbook,
                                                        inventory::Inventory inventory,
                                                        const std::string& node) {
  auto planned = std::make_unique<Planned>(Planned{std::move(inventory), std::move(playbook), {}});
  const auto* found = planned->inventory.node(node);
  if (found == nullptr)
    return std::unexpected{
        NoPlan{Error{Code::kInvalid, fmt::format("{} has no node '{}'", planned->inventory.file,
                                                 printable(node))}}};
  return joined(std::move(planned), {found});
}

std::string to_string(const NoPlan& failure) {
  if (const auto* error = std::get_if<Error>(&failure)) return error->what;
  const auto& problems = std::get<std::vector<inventory::Problem>>(failure);
  std::string text;
  for (const auto& problem : problems)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", inventory::to_string(problem.where),
                        problem.what);
  return shortened(text, kMostText);
}

}  // namespace cupel::controller
