#include "orchestrator/controller/run_view.h"

#include <algorithm>
#include <boost/json.hpp>

#include "inventory/node_range.h"
#include "orchestrator/report/kept_summary.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/report/step_counts.h"
#include "playbooks/playbook.h"

namespace cupel::controller {
namespace {

namespace json = boost::json;

bool works(const store::Run& run) {
  return run.phase == engine::RunPhase::running || run.phase == engine::RunPhase::submitted;
}

/// Nodes that are not judged yet are no inconclusive ones.
void mark_in_work(json::object& object, const report::RunSummary& summary) {
  std::int64_t in_work = 0;
  auto& nodes = object.at("nodes").as_array();
  for (std::size_t i = 0; i < summary.nodes.size(); ++i) {
    if (!report::is_in_work(summary.run, summary.nodes[i])) continue;
    nodes[i].as_object()["verdict"] = "in work";
    ++in_work;
  }
  object["in_work"] = in_work;
  object[to_string(burnin::Decision::inconclusive)] =
      static_cast<std::int64_t>(summary.count(burnin::Decision::inconclusive)) - in_work;
}

/// Errors: kStorage.
Result<json::object> summary_of(const store::Store& store, const store::Run& run,
                                std::string_view made_by) {
  if (!works(run)) return report::kept_summary(store, run, made_by);
  TRY(const auto summary, report::summarize(store, run.id));
  TRY(const auto events, store.events(run.id));
  auto object = report::to_json(summary)["summary"].as_object();
  mark_in_work(object, summary);
  object["standing"] = to_json(report::progress_of(run.id, events, report::wall_now()));
  return object;
}

/// Of the steps that wait for approval.
json::object messages_of(const RunStatus& status, const store::Run& run) {
  json::object messages;
  std::vector<inventory::Problem> ignored;
  const auto playbook = playbooks::parse_playbook(run.playbook_text, run.playbook_file, ignored);
  if (!playbook) return messages;
  for (const auto& step : playbook->steps) {
    const auto message = step.with.find("message");
    if (status.approvals.contains(step.name) && message != step.with.end())
      messages[step.name] = message->second;
  }
  return messages;
}

void put_status(const ControllerStatus& known, const RunStatus& status, const store::Run& run,
                json::object& object) {
  const auto left = std::chrono::ceil<std::chrono::seconds>(status.ends - report::wall_now());
  object["driven_by"] = known.pid;
  object["eta_s"] = std::max(left, std::chrono::seconds{0}).count();
  auto says = to_json(status);
  for (const auto* key : {"ends", "held", "approvals", "hands_until"})
    if (auto* value = says.if_contains(key)) object[key] = std::move(*value);
  if (auto messages = messages_of(status, run); !messages.empty())
    object["messages"] = std::move(messages);
}

}  // namespace

Result<json::object> run_view(const store::Store& store, const store::Run& run,
                              const std::optional<ControllerStatus>& known,
                              std::string_view made_by) {
  TRY(auto object, summary_of(store, run, made_by));
  const auto* status = find(known, run.id);
  // Its controller died without a word: the journal has "running", and no controller drives it.
  const bool interrupted = run.phase == engine::RunPhase::running && status == nullptr;
  object["state"] = interrupted ? std::string_view{"interrupted"} : to_string(run.phase);
  object["range"] = inventory::fold(run.nodes);
  if (status != nullptr) put_status(*known, *status, run, object);
  return object;
}

Result<json::object> run_view_with_steps(const store::Store& store, const store::Run& run,
                                         const std::optional<ControllerStatus>& known,
                                         std::string_view made_by) {
  TRY(auto object, run_view(store, run, known, made_by));
  TRY(const auto events, store.events(run.id));
  object["steps"] = report::to_json(report::step_counts(events));
  return object;
}

json::object damaged_run_view(const store::Run& run, const std::vector<std::string>& nodes,
                              std::string_view error) {
  return {{"run", run.id},
          {"playbook", run.playbook},
          {"state", to_string(run.phase)},
          {"began", report::utc(run.began)},
          {"nodes", nodes.size()},
          {"range", inventory::fold(nodes)},
          {"error", error}};
}

}  // namespace cupel::controller
