// `cupel status`: the newest runs, and how those that work stand: what runs, what waits and for
// what, what is late. Reads the journal and the controller's news; asks no BMC and nobody else.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "base/text.h"
#include "inventory/node_range.h"
#include "orchestrator/cli/controller.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/report/standing.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/store/run_lock.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kRunsShown = 20;
constexpr std::size_t kReasonsShown = 8;

std::string state_of(const Context& context, const store::Run& run) {
  if (run.phase != engine::RunPhase::running) return std::string{to_string(run.phase)};
  const auto holder = store::RunLock::holder(context.state, run.id);
  // Its controller died without a word: the journal says "running", the kernel says nobody does.
  return holder ? fmt::format("running (process {})", *holder) : "interrupted";
}

/// What the controller last told of this run; nullptr where it told nothing.
const boost::json::object* news_of(const std::optional<boost::json::object>& news,
                                   engine::RunId run) {
  const auto* runs = news ? news->if_contains("runs") : nullptr;
  if (runs == nullptr || !runs->is_array()) return nullptr;
  for (const auto& each : runs->get_array()) {
    const auto* object = each.if_object();
    const auto* id = object == nullptr ? nullptr : object->if_contains("run");
    if (id != nullptr && id->is_int64() && id->get_int64() == run) return object;
  }
  return nullptr;
}

std::int64_t number(const boost::json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

void say_held(const boost::json::object& news) {
  const auto* held = news.if_contains("held");
  if (held == nullptr || !held->is_array()) return;
  std::size_t shown = 0;
  for (const auto& each : held->get_array()) {
    if (!each.is_object() || shown++ == kReasonsShown) continue;
    const auto* why = each.get_object().if_contains("why");
    const auto* first = each.get_object().if_contains("first");
    if (why == nullptr || !why->is_string() || first == nullptr || !first->is_string()) continue;
    say("         blocked: {} ({} nodes, {} first)\n", printable(std::string{why->get_string()}),
        number(each.get_object(), "nodes"), printable(std::string{first->get_string()}));
  }
}

/// What the playbook tells whoever approves the step; empty where it tells nothing.
std::string told_at(const store::Run& run, std::string_view step) {
  std::vector<inventory::Problem> ignored;
  const auto playbook = playbooks::parse_playbook(run.playbook_text, run.playbook_file, ignored);
  if (!playbook) return {};
  const auto at = std::ranges::find(playbook->steps, step, &playbooks::PlaybookStep::name);
  if (at == playbook->steps.end() || !at->with.contains("say")) return {};
  return at->with.at("say") + ": ";
}

void say_approvals(const boost::json::object& news, const store::Run& run) {
  const auto* approvals = news.if_contains("approvals");
  if (approvals == nullptr || !approvals->is_object()) return;
  for (const auto& [step, nodes] : approvals->get_object())
    say("         {} nodes wait for approval: {}cupel approve {} {}\n",
        nodes.is_int64() ? nodes.get_int64() : 0, printable(told_at(run, step)), run.id,
        printable(std::string{step}));
}

void say_standing(const store::Run& run, const report::Standing& standing,
                  const boost::json::object* news) {
  say("         {}\n", to_text(standing));
  if (standing.paused)
    say("         paused{}: cupel unpause {}\n", standing.paused_by, standing.run);
  for (const auto& [step, why] : standing.halts)
    say("         halted {}: {}; look, then: cupel release {}{}\n",
        step.empty() ? "behind the canary" : "at " + printable(step), printable(why), standing.run,
        step.empty() ? "" : " " + printable(step));
  if (news != nullptr) say_approvals(*news, run);
  for (const auto& each : standing.overdue)
    say("         overdue: {} {} since {}\n", printable(each.node), printable(each.step),
        report::span_text(each.running));
  if (news != nullptr) say_held(*news);
}

void say_failures(const std::vector<report::FailureGroup>& groups) {
  for (const auto& group : groups)
    for (const auto& cluster : group.clusters)
      say("         cluster: {}\n", printable(to_text(group, cluster)));
}

bool works(const store::Run& run) {
  return run.phase == engine::RunPhase::running || run.phase == engine::RunPhase::submitted;
}

boost::json::object told_of(const Context& context, const report::RunSummary& summary,
                            const std::optional<report::Standing>& standing,
                            const boost::json::object* news) {
  auto object = report::to_json(summary)["summary"].as_object();
  object["state"] = state_of(context, summary.run);
  if (standing) object["standing"] = to_json(*standing);
  if (news == nullptr) return object;
  for (const auto* key : {"eta_s", "held", "approvals"})
    if (const auto* value = news->if_contains(key)) object[key] = *value;
  return object;
}

void say_run(const Context& context, const report::RunSummary& summary,
             const std::optional<report::Standing>& standing, const boost::json::object* news) {
  const auto& run = summary.run;
  const auto left =
      news == nullptr ? std::chrono::seconds{0} : std::chrono::seconds{number(*news, "eta_s")};
  say("{:>5}  {:<20}  {:<22}  {:>5} {:>5} {:>7}  {} {}{}\n", run.id, report::utc(run.began),
      state_of(context, run), summary.count(burnin::Decision::pass),
      summary.count(burnin::Decision::fail), summary.count(burnin::Decision::inconclusive),
      run.playbook, shortened(inventory::fold(run.nodes), 60),
      left.count() == 0 ? "" : ", " + report::span_text(left) + " to go");
  if (!standing) return;
  say_standing(run, *standing, news);
  say_failures(report::failures_of(summary));
}

Exit status(const Context& context) {
  const auto opened = store::Store::open(context.state);
  if (!opened) return complain(context, opened.assume_error(), Exit::unfinished);
  const auto& store = *opened.assume_value();
  const auto runs = store.runs(kRunsShown);
  if (!runs) return complain(context, runs.assume_error(), Exit::unfinished);
  const auto news = controller_news(context.state);
  boost::json::array all;
  if (!context.json)
    say("{:>5}  {:<20}  {:<22}  {:>5} {:>5} {:>7}  {}\n", "run", "began", "state", "pass", "fail",
        "unclear", "playbook, nodes");
  for (const auto& run : runs.assume_value()) {
    const auto summary = report::summarize(store, run.id);
    if (!summary) return complain(context, summary.assume_error(), Exit::unfinished);
    std::optional<report::Standing> standing;
    if (works(run)) {
      const auto events = store.events(run.id);
      if (!events) return complain(context, events.assume_error(), Exit::unfinished);
      standing = report::standing_of(run.id, events.assume_value(), report::wall_now());
    }
    const auto* told = news_of(news, run.id);
    if (context.json)
      all.push_back(told_of(context, summary.assume_value(), standing, told));
    else
      say_run(context, summary.assume_value(), standing, told);
  }
  if (context.json) std::printf("%s\n", boost::json::serialize(all).c_str());
  return Exit::passed;
}

}  // namespace

void add_status(CLI::App& app, Context& context, Exit& exit) {
  auto* command = app.add_subcommand("status", "the newest runs and how they stand");
  command->footer("Example: cupel status");
  add_json_flag(*command, context);
  command->callback([&context, &exit] { exit = status(context); });
}

}  // namespace cupel::cli
