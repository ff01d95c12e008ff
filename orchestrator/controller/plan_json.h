#pragma once
// A plan with its forecast for programs: what `cupel plan --json` prints. Pure.
#include <boost/json/object.hpp>

#include "orchestrator/engine/forecast.h"
#include "playbooks/plan.h"

namespace cupel::controller {

/// Nodes that do the same steps.
struct PlanGroup {
  std::vector<std::string> nodes{};
  const std::vector<playbooks::PlannedStep>* steps = nullptr;
};

/// In the order in which they come.
std::vector<PlanGroup> plan_groups(const playbooks::Plan& plan);

/// One after the other.
std::chrono::seconds expected_of(const std::vector<playbooks::PlannedStep>& steps);

boost::json::object plan_json(const playbooks::Plan& plan, const engine::Forecast& forecast);

}  // namespace cupel::controller
