#pragma once
// A run for programs: all that the HTML report shows, as one JSON document or as CSV. Numbers are
// numbers.
#include <boost/json/object.hpp>
#include <string>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// Of every JSON document of a run or of a node; a change that readers must know of adds one.
inline constexpr int kJsonSchema = 2;

/// What to_json() tells, with how the run was made, what was not tested, and each node's place,
/// serial numbers, measurements and criteria.
boost::json::object to_document(const RunSummary& summary);

/// RFC 4180, with a header: one line for each criterion of each node; a node without any has one
/// line.
std::string to_csv(const RunSummary& summary);

}  // namespace cupel::report
