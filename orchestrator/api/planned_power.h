#pragma once
// What a run draws through each level of the power tree, as it was planned.
#include <string>
#include <vector>

#include "orchestrator/api/live_run.h"
#include "orchestrator/controller/planned_run.h"

namespace cupel::api {

struct PowerLevel {
  std::string name{};
  std::string_view kind{};  // "room", "rack", "pdu", "breaker"
  std::string parent{};     // empty: the top
  double limit_watts = 0;
  double planned_watts = 0;
};

/// In the inventory's order, without levels through which no node of the run is fed. Of each node
/// counts what its step draws, else what it draws when idle.
std::vector<PowerLevel> power_levels(const controller::Planned& planned, const LiveRun& live);

}  // namespace cupel::api
