// What takes longer than a moment: plans and their forecasts, power, reports, operator actions.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "orchestrator/api/handlers.h"
#include "orchestrator/api/planned_power.h"
#include "orchestrator/api/run_request.h"
#include "orchestrator/console/bounded_log.h"
#include "orchestrator/controller/plan_json.h"
#include "orchestrator/controller/run_actions.h"
#include "orchestrator/controller/run_view.h"
#include "orchestrator/record/link_record.h"
#include "orchestrator/report/document.h"
#include "orchestrator/report/html.h"
#include "orchestrator/report/html_links.h"
#include "orchestrator/report/markdown.h"
#include "orchestrator/report/part_telemetry.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/store/damaged_run.h"

namespace cupel::api {
namespace {

namespace json = boost::json;

constexpr std::chrono::seconds kFilesLast{10};

Reply actions_of(RequestHandler& handler, const Call& call, engine::RunId named) {
  const auto runs = controller::run_actions(handler.store(), named, false);
  if (!runs) return problem_of(runs.error());
  auto all = controller::walking_list(*runs);
  std::erase_if(all, [&](const report::OperatorAction& each) {
    return !each.node.empty() ? !handler.sees(call, each.run, each.node)
                              : !call.identity.sees_rack(each.rack);
  });
  return json_answer(json::object{{"actions", report::to_json(all)}});
}

/// Reports and plans name all nodes: they are for who may see all of them. Errors: kNotFound.
Result<std::shared_ptr<const store::Run>> whole_run_for(RequestHandler& handler, const Call& call) {
  TRY(auto run, handler.run_for(call));
  if (handler.sees_all(call, *run)) return run;
  return Error{Code::kRefused,
               "this shows all nodes of the run, and you may see some of its racks"};
}

Problem problem_of_run(const Error& error) {
  if (error.code == Code::kRefused) return {403, "forbidden", error.what};
  return problem_of(error);
}

Result<report::RunSummary> summary_for(RequestHandler& handler, const store::Run& run) {
  TRY(auto summary, report::summarize(handler.store(), run.id));
  for (auto& node : summary.nodes)
    for (const auto& file : console::log_files(
             console::console_folder(handler.shared().state, run.id), node.record.node))
      node.console.push_back({file.file.string(), file.bytes});
  TRY(const auto links, record::recorded_links(handler.shared().state));
  report::add_links(summary, links);
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

Reply read_plan(RequestHandler& handler, const Call& call) {
  const auto found = whole_run_for(handler, call);
  if (!found) return problem_of_run(found.error());
  const auto& run = **found;
  return handler.kept(call, run.inventory_digest, [&]() -> Reply {
    const auto planned = handler.plan_of(run);
    if (!planned) return problem_of(planned.error());
    const auto forecast = engine::forecast((*planned)->plan, (*planned)->inventory);
    return json_answer(controller::plan_json((*planned)->plan, forecast));
  });
}

Reply make_plan(RequestHandler& handler, const Call& call) {
  const auto planned = plan_of_request(handler, call);
  if (const auto* problem = std::get_if<Problem>(&planned)) return *problem;
  const auto& plan = *std::get<std::unique_ptr<controller::Planned>>(planned);
  const auto forecast = engine::forecast(plan.plan, plan.inventory);
  return json_answer(controller::plan_json(plan.plan, forecast));
}

Reply plan_requalify(RequestHandler& handler, const Call& call) {
  const auto found = requalification_of_request(handler, call);
  if (const auto* problem = std::get_if<Problem>(&found)) return *problem;
  const auto& [asked, known, selection, planned] = std::get<Requalification>(found);
  if (known.is_new_machine)
    return json_answer(json::object{{"node", asked.node},
                                    {"of_run", known.base.run.id},
                                    {"new_machine", true},
                                    {"text", requalify::new_machine_text(asked, known)}});
  auto plan = requalify::plan_json(asked, known, selection);
  plan["text"] = requalify::plan_text(asked, known, selection);
  return json_answer(plan);
}

Reply read_power(RequestHandler& handler, const Call& call) {
  const auto found = whole_run_for(handler, call);
  if (!found) return problem_of_run(found.error());
  const auto& run = **found;
  const auto live = handler.runs().of(run.id, handler.journal());
  if (!live) return problem_of(live.error());
  return handler.kept(call, (*live)->tip(), [&]() -> Reply {
    const auto planned = handler.plan_of(run);
    if (!planned) return problem_of(planned.error());
    json::array levels;
    for (const auto& level : power_levels(**planned, **live)) {
      json::object each{{"name", level.name},
                        {"kind", level.kind},
                        {"limit_watts", level.limit_watts},
                        {"planned_watts", level.planned_watts}};
      if (!level.parent.empty()) each["parent"] = level.parent;
      levels.push_back(std::move(each));
    }
    return json_answer(json::object{{"levels", std::move(levels)}});
  });
}

Reply read_report(RequestHandler& handler, const Call& call) {
  const auto found = whole_run_for(handler, call);
  if (!found) return problem_of_run(found.error());
  const auto& run = **found;
  const auto broken = handler.store().broken_at(run.id);
  if (!broken) return problem_of(broken.error());
  if (*broken)
    return Problem{409, "damaged",
                   fmt::format("the journal of run {} was changed at event {}: no report is made "
                               "of it; see cupel store verify",
                               run.id, **broken)};
  auto summary = summary_for(handler, run);
  if (!summary) return problem_of(summary.error());
  const auto format = call.text("format");
  if (format == "html") report::add_telemetry(handler.store(), *summary);
  return report_as(format.empty() ? "json" : format, *summary);
}

Reply read_run_status(RequestHandler& handler, const Call& call) {
  const auto moment = handler.moment();
  if (!moment) return problem_of(moment.error());
  const auto run = whole_run_for(handler, call);
  if (!run) return problem_of_run(run.error());
  return handler.kept(call, *moment, [&]() -> Reply {
    const auto known = controller::read_status(handler.shared().state);
    const auto make =
        call.text("steps") == "false" ? &controller::run_view : &controller::run_view_with_steps;
    const auto view = make(handler.store(), **run, known, handler.shared().version);
    if (view) return json_answer(*view);
    const auto words = store::words_of_damage(handler.store(), (*run)->id, view.error());
    return problem_of(Error{view.error().code, words});
  });
}

Reply list_actions(RequestHandler& handler, const Call& call) {
  const auto named = call.integer("run", 0);
  if (named != 0)
    if (const auto run = handler.run_for(call); !run) return problem_of(run.error());
  const auto version = handler.journal().version();
  if (!version) return problem_of(version.error());
  // Of runs that work, their files are read too: those may change without a write to the store.
  const auto age = report::wall_now().time_since_epoch() / kFilesLast;
  return handler.kept(call, fmt::format("{} {}", *version, age),
                      [&] { return actions_of(handler, call, named); });
}

}  // namespace cupel::api
