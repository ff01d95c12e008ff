#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>

#include "base/text.h"
#include "inventory/node_range.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/plan_images.h"
#include "orchestrator/cli/plan_needs.h"
#include "orchestrator/cli/plan_options.h"
#include "orchestrator/cli/plan_prefer.h"
#include "orchestrator/cli/plan_text.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/controller/plan_json.h"
#include "orchestrator/report/summary.h"
#include "playbooks/left_out.h"
#include "playbooks/write_playbook.h"

namespace cupel::cli {
namespace {

using engine::Forecast;
using playbooks::PlannedStep;

std::string load_of(const PlannedStep& step) {
  return step.load > 0 ? fmt::format("{} %", plain(100 * step.load, 0)) : "-";
}

std::string what_then(const PlannedStep& step) {
  if (const auto why = playbooks::left_out(step.when)) return "left out: " + *why;
  return step.on_failure == playbooks::OnFailure::go_on ? "go on" : "to the verdict";
}

void print(const playbooks::Plan& plan, const Forecast& forecast, const ssh::ProgramShelf& shelf) {
  say("{}: {} steps on {} nodes, {} at once\n", plan.playbook, plan.step_count(), plan.nodes.size(),
      plan.nodes_at_once);
  for (const auto& [names, steps] : controller::plan_groups(plan)) {
    say("\n{} ({} nodes), about {} each\n", inventory::fold(names), names.size(),
        report::span_text(controller::expected_of(*steps)));
    std::vector<Row> rows{{"step", "expected", "at most", "load", "if it fails"}};
    for (const auto& step : *steps)
      rows.push_back({step.name, report::span_text(step.expected), report::span_text(step.deadline),
                      load_of(step), what_then(step)});
    say("{}\n", table(rows));
  }
  say("{}", needs_text(plan, shelf));
  say("\ntime line\n{}\n{}\n{}", time_line(forecast), power_plot(forecast), bottleneck(forecast));
}

struct PlanRequest {
  PlanOptions plan{};
  std::string preference{};  // empty: the playbook as it is
  bool as_playbook = false;
};

Exit show_plan(const Context& context, const PlanRequest& request) {
  TRY(const auto planned, planned_or_exit(context, request.plan));
  std::optional<report::Ranking> ranking;
  if (!request.preference.empty()) {
    auto ranked = prefer(*planned, preference_of(request.preference));
    if (!ranked) return print_error(context, ranked.error(), Exit::invalid);
    ranking = *std::move(ranked);
  }
  if (request.as_playbook) {
    say("{}", playbooks::write_playbook(planned->playbook));
    return Exit::passed;
  }
  const auto forecast = engine::forecast(planned->plan, planned->inventory);
  const ssh::ProgramShelf shelf{ssh::program_folders(context.programs)};
  if (context.json) {
    auto object = controller::plan_json(planned->plan, forecast);
    object["needs"] = needs_json(planned->plan, shelf);
    object["images"] = images_json(planned->plan, planned->inventory, context.state);
    if (ranking) object["preference"] = preference_json(*ranking);
    say("{}\n", boost::json::serialize(object));
  } else {
    print(planned->plan, forecast, shelf);
    if (ranking) say("\n{}", preference_text(*ranking));
    say("{}", images_text(planned->plan, planned->inventory, context.state));
  }
  std::fflush(stdout);
  const auto missing = controller::missing_programs(planned->plan, shelf);
  if (!missing.empty()) say(stderr, "cupel: `cupel run` will be refused: {}\n", missing);
  const auto rejected = rejected_images(planned->plan, planned->inventory, context.state);
  for (const auto& why : rejected) say(stderr, "cupel: {}\n", why);
  if (forecast.never.empty()) return rejected.empty() ? Exit::passed : Exit::invalid;
  say(stderr, "cupel: this plan can never be done:\n{}", never_text(forecast));
  return Exit::invalid;
}

}  // namespace

CommandRow plan_command(Context& context) {
  auto request = std::make_shared<PlanRequest>();
  CommandRow row{"plan", "the steps of a run and their duration; touches nothing"};
  row.footer = "Example: cupel plan new-rack --nodes rack:a01";
  row.options = joined<OptionRow>(
      {plan_options(request->plan),
       {{"--prefer",
         &request->preference,
         "order and trim loads by how much of what fails in fleets they show for their time: time "
         "keeps the fewest minutes that show nine tenths of it, coverage all that show anything",
         {.among = {"time", "coverage"}}},
        {"--as-playbook",
         &request->as_playbook,
         "print the ordered and trimmed playbook, for cupel run, and no plan",
         {.excludes = {"--json"}, .needs = {"--prefer"}}},
        json_flag(context)}});
  row.run = [&context, request] { return show_plan(context, *request); };
  return row;
}

}  // namespace cupel::cli
