#pragma once
// A forecast as people read it on 80 columns: time line, power, what holds it up. Pure text.
#include <string>

#include "orchestrator/engine/forecast.h"

namespace cupel::cli {

/// One line a step: when it is done first and last, by how many nodes at most, and a bar.
std::string time_line(const engine::Forecast& forecast);

/// The power of the widest level that has a limit, drawn over time, and how near each kind of level
/// comes to what it may carry.
std::string power_plot(const engine::Forecast& forecast);

/// How long, what holds it up, and how much of it no order of the steps could save.
std::string bottleneck(const engine::Forecast& forecast);

/// What can never begin; empty if everything can.
std::string never_text(const engine::Forecast& forecast);

}  // namespace cupel::cli
