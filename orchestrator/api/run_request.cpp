#include "orchestrator/api/run_request.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "inventory/select.h"
#include "orchestrator/api/site_playbooks.h"

namespace cupel::api {
namespace {

constexpr std::size_t kMostFaults = 100;

Problem problem_of_plan(const controller::NoPlan& failure) {
  if (const auto* error = std::get_if<Error>(&failure)) {
    auto problem = problem_of(*error);
    problem.faults = {{"body.nodes", error->what}};
    return problem;
  }
  std::vector<Fault> faults;
  for (const auto& each : std::get<std::vector<inventory::Problem>>(failure)) {
    if (faults.size() == kMostFaults) break;
    faults.push_back({inventory::to_string(each.where), each.what});
  }
  return invalid("there is no such plan: see errors", std::move(faults));
}

}  // namespace

std::variant<std::unique_ptr<controller::Planned>, Problem> plan_of_request(Desk& desk,
                                                                            const Call& call) {
  const auto inventory = desk.shared().inventory.get();
  const auto site = desk.shared().site.get();
  if (!inventory) return not_found("this service has no inventory: cupel serve --inventory FILE");
  const auto name = call.body_text("playbook");
  const auto playbook = playbook_of(site->settings, name);
  if (!playbook)
    return invalid(
        fmt::format("there is no playbook '{}': see GET /api/v1/playbooks", printable(name)),
        {{"body.playbook", "is none of this service"}});
  controller::PlanRequest request{.playbook = *playbook, .inventory = site->settings.inventory};
  request.nodes = call.body_text("nodes");
  if (const auto* settings = call.body.if_contains("set"))
    for (const auto& [key, value] : settings->get_object())
      request.arguments.emplace(std::string{key}, std::string{value.get_string()});
  auto planning = controller::plan_run(request);
  if (!planning.planned) return problem_of_plan(planning.planned.error());
  for (const auto& each : (*planning.planned)->plan.nodes)
    if (!call.identity.sees_rack(each.node->rack))
      return invalid(fmt::format("no node matches '{}' among your racks", request.nodes),
                     {{"body.nodes", "names nodes outside of your racks"}});
  return *std::move(planning.planned);
}

}  // namespace cupel::api
