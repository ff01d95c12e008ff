// What changes something: runs begin and go on, people ask things of them, lights turn on. Each is
// in the audit log before it is done.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <thread>

#include "base/text.h"
#include "orchestrator/api/handlers.h"
#include "orchestrator/api/run_request.h"
#include "orchestrator/controller/connections.h"
#include "orchestrator/controller/plan_needs.h"
#include "orchestrator/controller/submit.h"

namespace cupel::api {
namespace {

namespace json = boost::json;
using engine::RunPhase;

bool is_over(const store::Run& run) {
  return run.phase == RunPhase::ended || run.phase == RunPhase::cancelled;
}

Answer answer_with(unsigned status, json::object body, std::string location = {}) {
  auto answer = json_answer(body);
  answer.status = status;
  if (!location.empty()) answer.fields.emplace_back("Location", std::move(location));
  return answer;
}

controller::RunFlags flags_of(const Call& call) {
  controller::RunFlags flags;
  flags.repair_patience = controller::kUsualRepairPatience;
  if (const auto* consoles = call.body.if_contains("consoles"))
    flags.consoles = consoles->get_bool();
  if (const auto* patience = call.body.if_contains("wait_for_repair_s"))
    flags.repair_patience = std::chrono::seconds{patience->to_number<std::int64_t>()};
  return flags;
}

/// A run whose nodes the person may see all of. A change of it is about all of them.
std::variant<std::shared_ptr<const store::Run>, Problem> run_to_change(RequestHandler& handler,
                                                                       const Call& call) {
  auto run = handler.run_for(call);
  if (!run) return problem_of(run.error());
  return *std::move(run);
}

/// Behind an entry of the audit log that came to nothing.
Problem failed(RequestHandler& handler, const Call& call, std::string_view what,
               const Error& error) {
  [[maybe_unused]] const auto noted =
      handler.note(call.identity, fmt::format("{}-failed", what), {{"why", error.what}});
  return problem_of(error);
}

/// What its stages need on this machine. A look goes without: it says what it could not read.
std::optional<Problem> missing_here(RequestHandler& handler, const controller::Planned& planned) {
  const ssh::ProgramShelf shelf{ssh::program_folders(handler.shared().programs)};
  const auto missing = controller::missing_programs(planned.plan, shelf);
  if (missing.empty()) return std::nullopt;
  return Problem{409, "conflict", missing + "; nothing was touched"};
}

/// Begins it, with an entry of the audit log before and one with its number behind: the run's
/// journal has who began it, too.
Reply begin(RequestHandler& handler, const Call& call, const controller::Planned& planned,
            controller::RunFlags flags, std::string_view what, json::object data) {
  const auto noted = handler.note(call.identity, what, std::move(data));
  if (!noted) return problem_of(noted.error());
  const auto submitted = controller::submit(handler.store(), planned,
                                            {.flags = std::move(flags),
                                             .begun_by = call.identity.signature(),
                                             .where = controller::Where::background,
                                             .request = call.change});
  if (!submitted) return failed(handler, call, what, submitted.error());
  const auto run = submitted->run.id;
  [[maybe_unused]] const auto numbered =
      handler.note(call.identity, fmt::format("{}-done", what), {{"run", run}});
  return answer_with(201, {{"run", run}}, fmt::format("/api/v1/runs/{}", run));
}

/// One machine, of which a person waits for the result: it does not stay open for a repair.
controller::RunFlags flags_of_one_node(const Call& call) {
  auto flags = flags_of(call);
  flags.repair_patience = std::chrono::seconds{0};
  return flags;
}

/// Nothing is void. What failed since, and no stage measures, is reported.
Problem nothing_to_run(const Requalification& all) {
  return {409, "conflict", requalify::plan_text(all.asked, all.known, all.selection)};
}

constexpr std::chrono::seconds kLocatorPatience{30};

std::optional<engine::Command::Kind> kind_of(const std::string& word) {
  return engine::command_kind(word);
}

/// Node and step are ones of the run, and the person may see the node.
std::optional<Problem> wrong_target(RequestHandler& handler, const Call& call,
                                    const store::Run& run, const engine::Command& command) {
  using Kind = engine::Command::Kind;
  std::vector<Fault> faults;
  const bool of_node = command.kind == Kind::retry || command.kind == Kind::skip;
  const bool takes_node = of_node || command.kind == Kind::approve;
  const bool takes_step = takes_node || command.kind == Kind::release;
  if (of_node && command.node.empty()) faults.push_back({"body.node", "is missing"});
  if (!takes_node && !command.node.empty())
    faults.push_back({"body.node", "has no meaning for this command"});
  if (!takes_step && !command.step.empty())
    faults.push_back({"body.step", "has no meaning for this command"});
  if (command.kind == Kind::skip && command.step.empty())
    faults.push_back({"body.step", "is missing"});
  if (command.kind == Kind::skip && trimmed(command.text).empty())
    faults.push_back({"body.reason", "is missing"});
  const bool has_node =
      command.node.empty() || (std::ranges::find(run.nodes, command.node) != run.nodes.end() &&
                               handler.sees(call, run.id, command.node));
  if (!has_node) faults.push_back({"body.node", "is none of the run"});
  const auto head = handler.head_of(run.id);
  if (head && !command.step.empty()) {
    const auto* steps = (*head)->begin.if_contains("steps");
    const bool known = steps == nullptr || !steps->is_array() ||
                       std::ranges::any_of(steps->get_array(), [&](const json::value& each) {
                         return each.is_string() && each.get_string() == command.step;
                       });
    if (!known) faults.push_back({"body.step", "is none of the run"});
  }
  if (!faults.empty()) {
    const auto first = faults.front();
    return invalid(fmt::format("{} {}", first.where, first.what), std::move(faults));
  }
  if (command.node.empty() && !handler.sees_all(call, run))
    return Problem{403, "forbidden", "the run has nodes in racks that are not yours"};
  return std::nullopt;
}

}  // namespace

Reply start_run(RequestHandler& handler, const Call& call) {
  auto planned = plan_of_request(handler, call);
  if (const auto* problem = std::get_if<Problem>(&planned)) return *problem;
  const auto& plan = *std::get<std::unique_ptr<controller::Planned>>(planned);
  if (auto problem = missing_here(handler, plan)) return *std::move(problem);
  return begin(handler, call, plan, flags_of(call), "start-run",
               {{"playbook", call.body_text("playbook")},
                {"nodes", call.body_text("nodes")},
                {"reason", call.body_text("reason")}});
}

Reply start_look(RequestHandler& handler, const Call& call) {
  const auto planned = look_of_request(handler, call);
  if (const auto* problem = std::get_if<Problem>(&planned)) return *problem;
  return begin(handler, call, *std::get<std::unique_ptr<controller::Planned>>(planned),
               flags_of_one_node(call), "look",
               {{"node", call.text("node")}, {"reason", call.body_text("reason")}});
}

Reply requalify_node(RequestHandler& handler, const Call& call) {
  const auto found = requalification_of_request(handler, call);
  if (const auto* problem = std::get_if<Problem>(&found)) return *problem;
  const auto& all = std::get<Requalification>(found);
  if (!all.planned) return nothing_to_run(all);
  if (auto problem = missing_here(handler, *all.planned)) return *std::move(problem);
  auto flags = flags_of_one_node(call);
  // What was found by a machine that failed, or by another one, is kept of no run.
  if (!all.asked.after_swap && !all.known.is_new_machine)
    flags.requalifies = requalify::renewed_by(all.known, all.selection);
  const auto& parts = all.asked.replaced;
  return begin(handler, call, *all.planned, std::move(flags), "requalify",
               {{"node", all.asked.node},
                {"of_run", all.known.base.run.id},
                {"looked", all.asked.looked},
                {"replaced", json::array(parts.begin(), parts.end())},
                {"after_swap", all.asked.after_swap},
                {"new_machine", all.known.is_new_machine},
                {"reason", call.body_text("reason")}});
}

Reply resume_run(RequestHandler& handler, const Call& call) {
  const auto found = run_to_change(handler, call);
  if (const auto* problem = std::get_if<Problem>(&found)) return *problem;
  const auto& run = *std::get<std::shared_ptr<const store::Run>>(found);
  if (!handler.sees_all(call, run))
    return Problem{403, "forbidden", "the run has nodes in racks that are not yours"};
  if (is_over(run))
    return Problem{
        409, "conflict",
        fmt::format("run {} is {}: there is nothing to resume", run.id, to_string(run.phase))};
  auto planned = controller::plan_again(run);
  if (!planned) return Problem{409, "conflict", controller::to_string(planned.error())};
  const auto noted = handler.note(call.identity, "resume-run",
                                  {{"run", run.id}, {"reason", call.body_text("reason")}});
  if (!noted) return problem_of(noted.error());
  const auto submitted = controller::submit_again(handler.store(), **planned, run,
                                                  {.where = controller::Where::background});
  if (!submitted) return failed(handler, call, "resume-run", submitted.error());
  return answer_with(202, {{"run", run.id}});
}

Reply give_command(RequestHandler& handler, const Call& call) {
  const auto found = run_to_change(handler, call);
  if (const auto* problem = std::get_if<Problem>(&found)) return *problem;
  const auto& run = *std::get<std::shared_ptr<const store::Run>>(found);
  engine::Command command;
  command.run = run.id;
  command.kind = *kind_of(call.body_text("command"));
  command.node = call.body_text("node");
  command.step = call.body_text("step");
  command.text = call.body_text("reason");
  command.by = call.identity.signature();
  if (const auto problem = wrong_target(handler, call, run, command)) return *problem;
  if (is_over(run))
    return Problem{409, "conflict",
                   fmt::format("run {} is {} already", run.id, to_string(run.phase))};
  json::object data{{"run", run.id}, {"kind", to_string(command.kind)}};
  for (const auto& [key, text] :
       {std::pair{"node", command.node}, {"step", command.step}, {"reason", command.text}})
    if (!text.empty()) data[key] = text;
  const auto noted = handler.note(call.identity, "command", std::move(data));
  if (!noted) return problem_of(noted.error());
  const auto id = handler.store().ask(command);
  if (!id) return failed(handler, call, "command", id.error());
  return answer_with(202,
                     {{"command", *id},
                      {"kind", to_string(command.kind)},
                      {"by", command.by},
                      {"answer", "pending"}},
                     fmt::format("/api/v1/runs/{}/commands/{}", run.id, *id));
}

Reply set_locator(RequestHandler& handler, const Call& call) {
  const auto inventory = handler.shared().inventory.get();
  const auto* node = inventory ? inventory->node(call.text("node")) : nullptr;
  if (node == nullptr || !call.identity.sees_rack(node->rack))
    return not_found(fmt::format("the inventory has no node '{}'", call.text("node")));
  const bool on = call.body.at("on").get_bool();
  const auto noted = handler.note(call.identity, "locate", {{"node", node->name}, {"on", on}});
  if (!noted) return problem_of(noted.error());
  controller::Connections connections{*inventory, handler.store()};
  const auto bmc = connections.bmc(*node);
  auto work = [](bmc::Bmc& asked, bool requested) -> Task<Result<void>> {
    const auto done = co_await asked.locator.set(requested, Deadline::in(kLocatorPatience));
    co_await asked.log_out();
    if (!done) co_return done.error();
    co_return ok();
  }(*bmc, on);
  const auto done = run_to_end(connections.io(), std::move(work));
  if (!done) return failed(handler, call, "locate", done.error());
  return answer_with(200, {{"node", node->name}, {"on", on}});
}

}  // namespace cupel::api
