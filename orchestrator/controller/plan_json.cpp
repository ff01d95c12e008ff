#include "orchestrator/controller/plan_json.h"

#include <array>
#include <boost/json.hpp>

#include "inventory/node.h"
#include "playbooks/left_out.h"

namespace cupel::controller {
namespace {

using engine::Forecast;
using playbooks::PlannedStep;

boost::json::array names_json(const std::vector<std::string>& names) {
  boost::json::array all;
  for (const auto& name : names) all.emplace_back(name);
  return all;
}

boost::json::array steps_json(const std::vector<PlannedStep>& steps) {
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

boost::json::object level_json(const Forecast::Level& level) {
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

boost::json::object forecast_json(const Forecast& forecast) {
  boost::json::array steps, levels, bounds, never;
  for (const auto& step : forecast.steps)
    steps.push_back({{"step", step.name},
                     {"first_begin_s", step.first_begin.count()},
                     {"last_end_s", step.last_end.count()},
                     {"nodes", step.nodes},
                     {"without_partner", step.skipped},
                     {"most_at_once", step.most_at_once},
                     {"longest_wait_s", step.waited.count()}});
  for (const auto& level : forecast.levels) levels.push_back(level_json(level));
  for (const auto& bound : forecast.bounds)
    bounds.push_back({{"at_least_s", bound.at_least.count()}, {"because", bound.what}});
  for (const auto& each : forecast.never)
    never.push_back({{"step", each.step}, {"nodes", names_json(each.nodes)}, {"why", each.why}});
  return {{"end_s", forecast.end.count()},
          {"bounds", bounds},
          {"time_line", steps},
          {"power", levels},
          {"never", never}};
}

}  // namespace

std::chrono::seconds expected_of(const std::vector<PlannedStep>& steps) {
  std::chrono::seconds sum{0};
  for (const auto& step : steps) sum += step.expected;
  return sum;
}

std::vector<PlanGroup> plan_groups(const playbooks::Plan& plan) {
  std::vector<PlanGroup> found;
  for (const auto& node : plan.nodes) {
    const auto same = std::ranges::find(found, node.steps.get(), &PlanGroup::steps);
    if (same == found.end())
      found.push_back({{node.node->name}, node.steps.get()});
    else
      same->nodes.push_back(node.node->name);
  }
  return found;
}

boost::json::object plan_json(const playbooks::Plan& plan, const Forecast& forecast) {
  boost::json::array all;
  for (const auto& [names, steps] : plan_groups(plan))
    all.push_back({{"nodes", names_json(names)},
                   {"steps", steps_json(*steps)},
                   {"expected_s", expected_of(*steps).count()}});
  return {{"playbook", plan.playbook},
          {"steps", plan.step_count()},
          {"max_parallel", plan.nodes_at_once},
          {"groups", all},
          {"forecast", forecast_json(forecast)}};
}

}  // namespace cupel::controller
