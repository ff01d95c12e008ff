#include "orchestrator/api/run_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>
#include <chrono>
#include <span>

#include "base/text.h"
#include "inventory/select.h"
#include "inventory/yaml.h"
#include "orchestrator/api/site_playbooks.h"
#include "orchestrator/report/nodes_by_verdict.h"
#include "orchestrator/report/run_progress.h"
#include "playbooks/site_values.h"

namespace cupel::api {
namespace {

constexpr std::size_t kMostFaults = 100;
constexpr std::chrono::hours kLookCounts{24};

Problem problem_of_files(const std::vector<inventory::Problem>& problems) {
  std::vector<Fault> faults;
  for (const auto& each : problems) {
    if (faults.size() == kMostFaults) break;
    faults.push_back({inventory::to_string(each.where), each.what});
  }
  return invalid("there is no such plan", std::move(faults));
}

Problem problem_of_plan(const controller::NoPlan& failure) {
  if (const auto* problems = std::get_if<std::vector<inventory::Problem>>(&failure))
    return problem_of_files(*problems);
  const auto& error = std::get<Error>(failure);
  auto problem = problem_of(error);
  problem.faults = {{"body.nodes", error.what}};
  return problem;
}

/// Which programs run as root on nodes, from which folders, in which environment, is not for who
/// may only start runs.
std::optional<Problem> sets_what_runs(const std::string& playbook,
                                      const playbooks::Arguments& arguments) {
  const auto names = playbooks::set_by_the_site(playbook, arguments);
  if (names.empty()) return std::nullopt;
  std::vector<Fault> faults;
  for (const auto& name : names)
    faults.push_back(
        {"body.set." + name, "decides what runs on the nodes: it is the site's alone"});
  return invalid(
      fmt::format("'{}' decides which program, folder or environment is used on the nodes, and no "
                  "request sets that: put it into a playbook of the service's folder, or start the "
                  "run on the machine itself (cupel run)",
                  printable(names.front())),
      std::move(faults));
}

/// What the site's own list in service.yaml leaves out.
std::optional<Problem> sets_what_is_not_listed(const SiteSettings& settings,
                                               const playbooks::Arguments& arguments) {
  if (!settings.parameters) return std::nullopt;
  std::vector<Fault> faults;
  for (const auto& [name, value] : arguments)
    if (!settings.parameters->contains(name) && faults.size() < kMostFaults)
      faults.push_back({"body.set." + name, "is not in parameters: of service.yaml"});
  if (faults.empty()) return std::nullopt;
  const auto listed = fmt::to_string(fmt::join(*settings.parameters, ", "));
  return invalid(fmt::format("requests may set {} here: add a parameter to parameters: of "
                             "service.yaml, put it into a playbook of the service's folder, or "
                             "start the run on the machine itself (cupel run)",
                             listed.empty() ? "no parameter" : "only " + printable(listed)),
                 std::move(faults));
}

/// The inventory as its file has it now, with the node of the call: what is run is planned anew of
/// the same file.
std::variant<inventory::Inventory, Problem> inventory_for(RequestHandler& handler,
                                                          const Call& call) {
  const auto known = handler.shared().inventory.get();
  const auto name = call.text("node");
  const auto* node = known ? known->node(name) : nullptr;
  const auto none = not_found(fmt::format("the inventory has no node '{}'", name));
  if (node == nullptr || !call.identity.sees_rack(node->rack)) return none;
  auto loaded = inventory::load_inventory(handler.shared().site.get()->settings.inventory);
  if (!loaded.problems.empty()) return problem_of_files(loaded.problems);
  const auto* found = loaded.inventory->node(name);
  if (found == nullptr || !call.identity.sees_rack(found->rack)) return none;
  return *std::move(loaded.inventory);
}

bool flag_of(const Call& call, std::string_view name) {
  const auto* value = call.body.if_contains(name);
  return value != nullptr && value->get_bool();
}

engine::RunId run_of(const Call& call, std::string_view name) {
  const auto* value = call.body.if_contains(name);
  return value == nullptr ? 0 : value->to_number<engine::RunId>();
}

requalify::Asked asked_of(const Call& call) {
  requalify::Asked asked{.node = call.text("node"),
                         .since = run_of(call, "since"),
                         .looked = run_of(call, "looked"),
                         .after_swap = flag_of(call, "after_swap"),
                         .new_machine = flag_of(call, "new_machine")};
  if (const auto* parts = call.body.if_contains("replaced"))
    for (const auto& part : parts->get_array()) asked.replaced.emplace_back(part.get_string());
  return asked;
}

/// A look stands for what is in the node until another run has worked on it, and for a day: what
/// was not seen is never called unchanged.
std::optional<Problem> wrong_look(RequestHandler& handler, const requalify::Asked& asked) {
  const auto run = handler.store().run(asked.looked);
  const bool is_look = run && run->playbook_text == requalify::look_playbook() &&
                       run->nodes == std::vector{asked.node};
  const auto again = fmt::format("POST /api/v1/nodes/{}/look makes one", asked.node);
  if (!is_look)
    return invalid(fmt::format("run {} is no look at {}: {}", asked.looked, asked.node, again),
                   {{"body.looked", "is no look at the node"}});
  if (run->phase != engine::RunPhase::ended)
    return Problem{409, "conflict",
                   fmt::format("run {}, which reads what is in {}, is {}", asked.looked, asked.node,
                               to_string(run->phase))};
  const auto newest = handler.store().runs_of(asked.node, 1);
  if (!newest) return problem_of(newest.error());
  if (newest->empty() || newest->front() != asked.looked)
    return Problem{409, "conflict",
                   fmt::format("another run has worked on {} since run {} looked at it: {}",
                               asked.node, asked.looked, again)};
  if (report::wall_now() - run->ended > kLookCounts)
    return Problem{409, "conflict",
                   fmt::format("run {} looked at {} more than a day ago: {}", asked.looked,
                               asked.node, again)};
  return std::nullopt;
}

/// What is to be run, and its plan. Errors: as select_for() and plan_on().
std::optional<Problem> plan_it(const inventory::Inventory& inventory, Requalification& all) {
  const auto& node = *inventory.node(all.asked.node);
  auto playbook = requalify::passed_playbook(all.known);
  if (!all.known.is_new_machine) {
    auto selection = requalify::select_for(all.known, all.asked, inventory, node);
    if (!selection) return problem_of(selection.error());
    all.selection = *std::move(selection);
    if (all.selection.is_empty()) return std::nullopt;
    playbook = all.selection.playbook;
  }
  if (!playbook) return problem_of(playbook.error());
  auto planned = controller::plan_on(*std::move(playbook), inventory, all.asked.node);
  if (!planned) return problem_of_plan(planned.error());
  all.planned = *std::move(planned);
  return std::nullopt;
}

}  // namespace

std::variant<std::unique_ptr<controller::Planned>, Problem> look_of_request(RequestHandler& handler,
                                                                            const Call& call) {
  auto inventory = inventory_for(handler, call);
  if (const auto* problem = std::get_if<Problem>(&inventory)) return *problem;
  // Before the machine is asked anything: whether there is a run that the look is compared with.
  const auto base = requalify::base_of(handler.store(), asked_of(call));
  if (!base) return problem_of(base.error());
  std::vector<inventory::Problem> problems;
  auto playbook = playbooks::parse_playbook(requalify::look_playbook(), "look", problems);
  if (!playbook) return problem_of_files(problems);
  auto planned =
      controller::plan_on(*std::move(playbook),
                          std::get<inventory::Inventory>(std::move(inventory)), call.text("node"));
  if (!planned) return problem_of_plan(planned.error());
  return *std::move(planned);
}

std::variant<Requalification, Problem> requalification_of_request(RequestHandler& handler,
                                                                  const Call& call) {
  const auto inventory = inventory_for(handler, call);
  if (const auto* problem = std::get_if<Problem>(&inventory)) return *problem;
  Requalification all{.asked = asked_of(call)};
  if (all.asked.after_swap && all.asked.new_machine)
    return invalid("body.new_machine excludes body.after_swap",
                   {{"body.new_machine", "excludes body.after_swap"}});
  if (all.asked.looked != 0)
    if (auto problem = wrong_look(handler, all.asked)) return *std::move(problem);
  auto known = requalify::look_back(handler.store(), all.asked);
  if (!known) return problem_of(known.error());
  all.known = *std::move(known);
  if (auto problem = plan_it(std::get<inventory::Inventory>(inventory), all))
    return *std::move(problem);
  return all;
}

std::variant<std::unique_ptr<controller::Planned>, Problem> plan_of_request(RequestHandler& handler,
                                                                            const Call& call) {
  const auto inventory = handler.shared().inventory.get();
  const auto site = handler.shared().site.get();
  if (!inventory) return not_found("this service has no inventory: cupel serve --inventory FILE");
  const auto name = call.body_text("playbook");
  const auto playbook = playbook_of(site->settings, name);
  if (!playbook) {
    std::vector<std::string> known;
    for (auto& each : site_playbooks(site->settings)) known.push_back(std::move(each.name));
    return invalid(fmt::format("there is no playbook '{}'{}: see GET /api/v1/playbooks",
                               printable(name), inventory::did_you_mean(name, std::span{known})),
                   {{"body.playbook", "is none of this service"}});
  }
  controller::PlanRequest request{
      .playbook = *playbook, .inventory = site->settings.inventory, .visible = call.identity.racks};
  request.nodes = call.body_text("nodes");
  request.of_run = report::nodes_of_run(handler.store());
  if (const auto* settings = call.body.if_contains("set"))
    for (const auto& [key, value] : settings->get_object())
      request.arguments.emplace(std::string{key}, std::string{value.get_string()});
  // A schedule is the site's own.
  if (call.identity.kind != Identity::Kind::schedule) {
    if (auto problem = sets_what_is_not_listed(site->settings, request.arguments))
      return *std::move(problem);
    if (auto problem = sets_what_runs(*playbook, request.arguments)) return *std::move(problem);
  }
  auto planned = controller::plan_run(request);
  if (!planned) return problem_of_plan(planned.error());
  return *std::move(planned);
}

}  // namespace cupel::api
