#pragma once
// How a rate depends on what was measured beside it: a robust linear regression on clock, power,
// temperature and inlet. Pure.
#include <span>
#include <vector>

#include "burnin/criteria/fleet_model.h"

namespace cupel::burnin {

/// Of those that nearly all members have, that vary, and without which the spread would be clearly
/// wider. Empty where there are too few members for it. `values`: what is to be explained, one for
/// each member.
std::vector<FleetModel::Condition> fit_conditions(std::span<const FleetMember* const> members,
                                                  const std::vector<double>& values);

/// What the conditions add for this member; one that was not measured adds nothing.
double effect_of(std::span<const FleetModel::Condition> conditions, const FleetMember& member);

}  // namespace cupel::burnin
