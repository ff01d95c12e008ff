#pragma once
// Names of what is passed by reference or pointer, for headers that look into none of it.

namespace cupel::playbooks {

struct NodePlan;
struct Plan;
struct PlannedStep;

}  // namespace cupel::playbooks
