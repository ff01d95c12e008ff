#include <fmt/format.h>

#include <array>
#include <boost/json.hpp>

#include "base/text.h"
#include "inventory/node_range.h"
#include "orchestrator/cli/plan_images.h"
#include "orchestrator/cli/plan_needs.h"
#include "orchestrator/cli/plan_options.h"
#include "orchestrator/cli/plan_text.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/report/summary.h"
#include "playbooks/left_out.h"

namespace cupel::cli {
namespace {

using engine::Forecast;
using playbooks::PlannedStep;

std::chrono::seconds expected(const std::vector<PlannedStep>& steps) {
  std::chrono::seconds sum{0};
  for (const auto& step : steps) sum += step.expected;
  return sum;
}

/// Nodes that do the same steps, in the order in which they come.
std::vector<std::pair<std::vector<std::string>, const std::vector<PlannedStep>*>> groups(
    const playbooks::Plan& plan) {
  std::vector<std::pair<std::vector<std::string>, const std::vector<PlannedStep>*>> found;
  for (const auto& node : plan.nodes) {
    const auto same =
        std::ranges::find(found, node.steps.get(), [](const auto& g) { return g.second; });
    if (same == found.end())
      found.push_back({{node.node->name}, node.steps.get()});
    else
      same->first.push_back(node.node->name);
  }
  return found;
}

boost::json::array to_json(const std::vector<std::string>& names) {
  boost::json::array all;
  for (const auto& name : names) all.emplace_back(name);
  return all;
}

boost::json::array to_json(const std::vector<PlannedStep>& steps) {
  boost::json::array rows;
  for (const auto& step : steps) {
    auto& row = rows.emplace_back(boost::json::object{{"step", step.name},
                                                      {"expected_s", step.expected.count()},
                                                      {"deadline_s", step.deadline.count()},
                                                      {"max_attempts", step.tries},
                                                      {"load", step.load}});
    if (const auto why = playbooks::left_out(step.when)) row.as_object()["left_out"] = *why;
  }
  return rows;
}

boost::json::object to_json(const Forecast::Level& level) {
  constexpr std::array<std::string_view, 4> kWords{"room", "rack", "pdu", "breaker"};
  boost::json::array watts;
  for (const auto each : level.watts) watts.emplace_back(each);
  boost::json::object object{{"level", kWords[static_cast<std::size_t>(level.kind)]},
                             {"name", level.name},
                             {"idle_watts", level.idle_watts},
                             {"peak_watts", level.peak_watts},
                             {"watts", watts}};
  if (level.limit_watts > 0) object["limit_watts"] = level.limit_watts;
  return object;
}

boost::json::object to_json(const Forecast& forecast) {
  boost::json::array steps, levels, bounds, never;
  for (const auto& step : forecast.steps)
    steps.push_back({{"step", step.name},
                     {"first_begin_s", step.first_begin.count()},
                     {"last_end_s", step.last_end.count()},
                     {"nodes", step.nodes},
                     {"without_partner", step.skipped},
                     {"most_at_once", step.most_at_once},
                     {"longest_wait_s", step.waited.count()}});
  for (const auto& level : forecast.levels) levels.push_back(to_json(level));
  for (const auto& bound : forecast.bounds)
    bounds.push_back({{"at_least_s", bound.at_least.count()}, {"because", bound.what}});
  for (const auto& each : forecast.never)
    never.push_back({{"step", each.step}, {"nodes", to_json(each.nodes)}, {"why", each.why}});
  return {{"end_s", forecast.end.count()},
          {"bounds", bounds},
          {"time_line", steps},
          {"power", levels},
          {"never", never}};
}

boost::json::object to_json(const playbooks::Plan& plan, const Forecast& forecast) {
  boost::json::array all;
  for (const auto& [names, steps] : groups(plan))
    all.push_back({{"nodes", to_json(names)},
                   {"steps", to_json(*steps)},
                   {"expected_s", expected(*steps).count()}});
  return {{"playbook", plan.playbook},
          {"steps", plan.step_count()},
          {"max_parallel", plan.nodes_at_once},
          {"groups", all},
          {"forecast", to_json(forecast)}};
}

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
  for (const auto& [names, steps] : groups(plan)) {
    say("\n{} ({} nodes), about {} each\n", inventory::fold(names), names.size(),
        report::span_text(expected(*steps)));
    std::vector<Row> rows{{"step", "expected", "at most", "load", "if it fails"}};
    for (const auto& step : *steps)
      rows.push_back({step.name, report::span_text(step.expected), report::span_text(step.deadline),
                      load_of(step), what_then(step)});
    say("{}\n", table(rows));
  }
  say("{}", needs_text(plan, shelf));
  say("\ntime line\n{}\n{}\n{}", time_line(forecast), power_plot(forecast), bottleneck(forecast));
}

Exit show_plan(const Context& context, const PlanOptions& options) {
  Exit exit = Exit::passed;
  const auto planned = planned_or_complain(context, options, exit);
  if (!planned) return exit;
  const auto forecast = engine::forecast(planned->plan, planned->inventory);
  const ssh::ProgramShelf shelf{ssh::program_folders(context.programs)};
  if (context.json) {
    auto object = to_json(planned->plan, forecast);
    object["needs"] = needs_json(planned->plan, shelf);
    object["images"] = images_json(planned->plan, planned->inventory, context.state);
    say("{}\n", boost::json::serialize(object));
  } else {
    print(planned->plan, forecast, shelf);
    say("{}", images_text(planned->plan, planned->inventory, context.state));
  }
  std::fflush(stdout);
  const auto missing = missing_programs(planned->plan, shelf);
  if (!missing.empty()) say(stderr, "cupel: `cupel run` will be refused: {}\n", missing);
  if (forecast.never.empty()) return exit;
  say(stderr, "cupel: this plan can never be done:\n{}", never_text(forecast));
  return Exit::invalid;
}

}  // namespace

void add_plan(CLI::App& app, Context& context, Exit& exit) {
  auto* command =
      app.add_subcommand("plan", "the steps of a run and their duration; touches nothing");
  command->footer("Example: cupel plan new-rack --nodes rack:a01");
  auto options = std::make_shared<PlanOptions>();
  add_plan_options(*command, *options);
  add_json_flag(*command, context);
  command->callback([&context, &exit, options] { exit = show_plan(context, *options); });
}

}  // namespace cupel::cli
