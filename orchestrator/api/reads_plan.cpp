// What takes longer than a moment: plans and their forecasts, power, reports, operator actions.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "orchestrator/api/handlers.h"
#include "orchestrator/api/run_request.h"
#include "orchestrator/console/bounded_log.h"
#include "orchestrator/controller/plan_json.h"
#include "orchestrator/controller/run_actions.h"
#include "orchestrator/engine/power_tree.h"
#include "orchestrator/report/document.h"
#include "orchestrator/report/html.h"
#include "orchestrator/report/markdown.h"
#include "orchestrator/report/part_telemetry.h"

namespace cupel::api {
namespace {

namespace json = boost::json;

/// The plan of the call's run. Errors: kNotFound; kStorage; kConflict: its files have changed.
Result<std::unique_ptr<controller::Planned>> plan_for(const store::Run& run) {
  auto planned = controller::plan_again(run);
  if (!planned) return Error{Code::kConflict, controller::to_string(planned.error())};
  return *std::move(planned);
}

/// Reports and plans name all nodes: they are for who may see all of them. Errors: kNotFound.
Result<store::Run> whole_run_for(Desk& desk, const Call& call) {
  TRY(auto run, desk.run_for(call));
  if (desk.sees_all(call, run)) return run;
  return Error{Code::kRefused,
               "this shows all nodes of the run, and you may see some of its racks"};
}

Problem problem_of_run(const Error& error) {
  if (error.code == Code::kRefused) return {403, "forbidden", error.what};
  return problem_of(error);
}

constexpr std::string_view kPowerLevels[] = {"room", "rack", "pdu", "breaker"};

/// What is drawn through each level as planned: of each node what its step draws, else what it
/// draws when idle.
std::map<std::string, double, std::less<>> planned_watts(const controller::Planned& planned,
                                                         const LiveRun& live) {
  std::map<std::string, double, std::less<>> watts;
  std::map<std::string, std::string, std::less<>> parents;
  for (const auto& level : planned.inventory.power) parents[level.name] = level.parent;
  for (const auto& each : planned.plan.nodes) {
    const auto standing = live.standing(each.node->name);
    double load = 0;
    if (standing.state == "running")
      for (const auto& step : *each.steps)
        if (step.name == standing.step->name) load = step.load;
    const auto& draw = planned.inventory.profile_of(*each.node).draw;
    const double drawn = draw.idle_watts + load * (draw.loaded_watts - draw.idle_watts);
    // Each feed must be able to carry all of the node; what is above them carries it once.
    std::set<std::string> levels;
    for (const auto& feed : each.node->feeds)
      for (auto level = feed; !level.empty() && levels.insert(level).second;)
        level = parents.contains(level) ? parents.find(level)->second : std::string{};
    for (const auto& level : levels) watts[level] += drawn;
  }
  return watts;
}

Result<report::RunSummary> summary_for(Desk& desk, const store::Run& run) {
  TRY(auto summary, report::summarize(desk.store(), run.id));
  for (auto& node : summary.nodes)
    for (const auto& file :
         console::log_files(console::console_folder(desk.shared().state, run.id), node.record.node))
      node.console.push_back({file.file.string(), file.bytes});
  return summary;
}

Answer text_answer(std::string type, std::string text) {
  Answer answer;
  answer.type = std::move(type);
  answer.body = shared_text(std::move(text));
  return answer;
}

Answer report_as(const std::string& format, const report::RunSummary& summary) {
  if (format == "csv") return text_answer("text/csv; charset=utf-8", report::to_csv(summary));
  if (format == "text")
    return text_answer("text/plain; charset=utf-8", report::to_text(summary, true));
  if (format == "markdown")
    return text_answer("text/markdown; charset=utf-8", report::to_markdown(summary));
  if (format == "html") {
    auto answer = text_answer("text/html; charset=utf-8", report::to_html(summary));
    // The file has its own styles in it, and no script of ours.
    answer.fields.emplace_back("Content-Security-Policy",
                               "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
                               "script-src 'unsafe-inline'; sandbox allow-scripts");
    answer.fields.emplace_back("Content-Disposition",
                               fmt::format("attachment; filename=\"run-{}.html\"", summary.run.id));
    return answer;
  }
  return json_answer(report::to_document(summary));
}

}  // namespace

Reply read_plan(Desk& desk, const Call& call) {
  const auto run = whole_run_for(desk, call);
  if (!run) return problem_of_run(run.error());
  return desk.kept(call, run->inventory_digest, [&]() -> Reply {
    const auto planned = plan_for(*run);
    if (!planned) return problem_of(planned.error());
    const auto forecast = engine::forecast((*planned)->plan, (*planned)->inventory);
    return json_answer(controller::plan_json((*planned)->plan, forecast));
  });
}

Reply make_plan(Desk& desk, const Call& call) {
  const auto planned = plan_of_request(desk, call);
  if (const auto* problem = std::get_if<Problem>(&planned)) return *problem;
  const auto& plan = *std::get<std::unique_ptr<controller::Planned>>(planned);
  const auto forecast = engine::forecast(plan.plan, plan.inventory);
  return json_answer(controller::plan_json(plan.plan, forecast));
}

Reply read_power(Desk& desk, const Call& call) {
  const auto run = whole_run_for(desk, call);
  if (!run) return problem_of_run(run.error());
  const auto live = desk.runs().of(run->id, desk.journal());
  if (!live) return problem_of(live.error());
  return desk.kept(call, (*live)->tip(), [&]() -> Reply {
    const auto planned = plan_for(*run);
    if (!planned) return problem_of(planned.error());
    const auto watts = planned_watts(**planned, **live);
    json::array levels;
    for (const auto& level : (*planned)->inventory.power) {
      const auto drawn = watts.find(level.name);
      if (drawn == watts.end()) continue;
      json::object each{{"name", level.name},
                        {"kind", kPowerLevels[static_cast<std::size_t>(level.kind)]},
                        {"limit_watts", level.watts},
                        {"planned_watts", drawn->second}};
      if (!level.parent.empty()) each["parent"] = level.parent;
      levels.push_back(std::move(each));
    }
    return json_answer(json::object{{"levels", std::move(levels)}});
  });
}

Reply read_report(Desk& desk, const Call& call) {
  const auto run = whole_run_for(desk, call);
  if (!run) return problem_of_run(run.error());
  const auto broken = desk.store().broken_at(run->id);
  if (!broken) return problem_of(broken.error());
  if (*broken)
    return Problem{409, "damaged",
                   fmt::format("the journal of run {} was changed at event {}: no report is made "
                               "of it; see cupel store verify",
                               run->id, **broken)};
  auto summary = summary_for(desk, *run);
  if (!summary) return problem_of(summary.error());
  const auto format = call.text("format");
  if (format == "html") report::add_telemetry(desk.store(), *summary);
  return report_as(format.empty() ? "json" : format, *summary);
}

Reply list_actions(Desk& desk, const Call& call) {
  const auto named = call.integer("run", 0);
  if (named != 0)
    if (const auto run = desk.run_for(call); !run) return problem_of(run.error());
  const auto runs = controller::run_actions(desk.store(), named, false);
  if (!runs) return problem_of(runs.error());
  auto all = controller::walking_list(*runs);
  std::erase_if(all, [&](const report::OperatorAction& each) {
    return !each.node.empty() ? !desk.sees(call, each.run, each.node)
                              : !call.identity.sees_rack(each.rack);
  });
  return json_answer(json::object{{"actions", report::to_json(all)}});
}

}  // namespace cupel::api
