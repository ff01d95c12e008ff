#pragma once
// The telemetry of parts that failed: what nvidia-smi sampled of a GPU while a stage loaded it,
// from the stage's raw output.
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// Of each cause about a GPU, of at most two stages that saw it; at most kMostTelemetry in all.
/// What cannot be read is left out: it is no truth of the run, and is in the evidence.
void add_telemetry(const store::Store& store, RunSummary& summary);
inline constexpr std::size_t kMostTelemetry = 40;

/// Of the GPU that is called `part`, by the addresses of the node's own GPUs. Empty where `output`
/// has no samples of it. Pure.
PartTelemetry telemetry_of(std::string_view output, const record::NodeRecord& record,
                           const std::string& part);

/// Empty where there is none.
std::string telemetry_html(const NodeSummary& node);

}  // namespace cupel::report
