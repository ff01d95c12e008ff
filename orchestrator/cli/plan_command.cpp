#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/text.h"
#include "inventory/node_range.h"
#include "orchestrator/cli/plan_options.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/report/summary.h"

namespace cupel::cli {
namespace {

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

boost::json::object to_json(const playbooks::Plan& plan) {
  boost::json::array all;
  for (const auto& [names, steps] : groups(plan)) {
    boost::json::array rows;
    for (const auto& step : *steps)
      rows.push_back({{"step", step.name},
                      {"expected_s", step.expected.count()},
                      {"deadline_s", step.deadline.count()},
                      {"tries", step.tries}});
    boost::json::array nodes;
    for (const auto& name : names) nodes.emplace_back(name);
    all.push_back({{"nodes", nodes}, {"steps", rows}, {"expected_s", expected(*steps).count()}});
  }
  return {{"playbook", plan.playbook}, {"steps", plan.step_count()}, {"groups", all}};
}

void print(const Planned& planned) {
  const auto& plan = planned.plan;
  say("{}: {} steps on {} nodes, {} at once\n", plan.playbook, plan.step_count(), plan.nodes.size(),
      plan.nodes_at_once);
  double watts = 0;
  for (const auto& node : plan.nodes)
    watts += planned.inventory.profile_of(*node.node).draw.loaded_watts;
  for (const auto& [names, steps] : groups(plan)) {
    say("\n{} ({} nodes), about {} each\n", inventory::fold(names), names.size(),
        report::span_text(expected(*steps)));
    say("  {:<14} {:>12} {:>12}  {}\n", "step", "expected", "at most", "if it fails");
    for (const auto& step : *steps)
      say("  {:<14} {:>12} {:>12}  {}\n", step.name, report::span_text(step.expected),
          report::span_text(step.deadline),
          step.on_failure == playbooks::OnFailure::go_on ? "go on" : "to the verdict");
  }
  say("\npower with all of them loaded: {} kW\n", plain(watts / 1000, 1));
}

Exit show_plan(const Context& context, const PlanOptions& options) {
  Exit exit = Exit::passed;
  const auto planned = planned_or_complain(context, options, exit);
  if (!planned) return exit;
  if (context.json)
    std::printf("%s\n", boost::json::serialize(to_json(planned->plan)).c_str());
  else
    print(*planned);
  return exit;
}

}  // namespace

void add_plan(CLI::App& app, Context& context, Exit& exit) {
  auto* command =
      app.add_subcommand("plan", "what a run would do, and for how long; touches nothing");
  command->footer("Example: cupel plan new-rack --nodes rack:a01");
  auto options = std::make_shared<PlanOptions>();
  add_plan_options(*command, *options);
  add_json_flag(*command, context);
  command->callback([&context, &exit, options] { exit = show_plan(context, *options); });
}

}  // namespace cupel::cli
