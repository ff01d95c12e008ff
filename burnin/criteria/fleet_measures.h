#pragma once
// Which measures are compared between machines, and which of them explain others. Pure.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/criteria/population.h"

namespace cupel::burnin {

/// A rate that was measured under load. Not: counts, what a link negotiated (equal or wrong), the
/// worst of many samples (its tail is long), what is shared with other machines.
bool is_fleet_measure(std::string_view measure);

/// The units of such measures.
std::vector<std::string> fleet_units();

/// What is less behind its like does not stand out: a share of the value. Of compute 0.08: power
/// management alone makes GPUs of one model differ by that much on average (Sinha et al., Not All
/// GPUs Are Created Equal, SC 2022). Of drives 0.1: SNIA's Performance Test Specification calls a
/// rate steady that moves within 10 % of its average to either side. Of others kLeastEffect.
double least_effect(std::string_view measure);

std::optional<Covariate> covariate_of(std::string_view measure);

/// "gpu" of "gpu3", "gpu-gpu" of "gpu0-gpu1", empty of a node as a whole: only like parts are
/// compared.
std::string kind_of_part(std::string_view part);

}  // namespace cupel::burnin
