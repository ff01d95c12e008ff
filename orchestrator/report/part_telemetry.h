#pragma once
// What was sampled of parts that failed while stages ran, beside the others of their kind: from the
// time series of the record.
#include <string>
#include <vector>

#include "orchestrator/record/series_codec.h"
#include "orchestrator/report/summary.h"

namespace cupel::report {

/// Of each cause about a part, of at most two stages: those that saw it, where they sampled the
/// part; at most kMostTelemetry in all. What cannot be read is left out: it is no truth of the run,
/// and is in the evidence.
void add_telemetry(const store::Store& store, RunSummary& summary);
inline constexpr std::size_t kMostTelemetry = 40;

/// Of one part in a stage. Without curves where nothing was sampled of it. Pure.
PartTelemetry telemetry_of(const record::KeptSeries& series, const std::string& part);

/// Empty where there is none.
std::string telemetry_html(const NodeSummary& node);

}  // namespace cupel::report
