#pragma once
// A run in the forms of other tools: JUnit XML for CI servers, OpenMetrics for monitoring, OCP
// diagnostic output for whoever collects tests of hardware. Pure; nothing is judged here.
#include <string>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// A test suite for each node and a test case for each criterion; what is not met is a failure, a
/// step that could not find out an error. Source: the schema of Jenkins' xUnit plugin (junit-10).
std::string to_junit(const RunSummary& summary);

/// Gauges with a line for each measurement, and the verdict of each node; "# EOF" at the end.
/// Source: OpenMetrics 1.0, "Text format".
std::string to_openmetrics(const RunSummary& summary);

/// JSON lines of one node: a test run with a step for each stage, each measurement with its
/// validators, a diagnosis for each cause. Errors: kNotFound: the run has no such node.
/// Source: opencomputeproject/ocp-diag-core, json_spec/output, version 2.0.
Result<std::string> to_ocp(const RunSummary& summary, const std::string& node);

}  // namespace cupel::report
