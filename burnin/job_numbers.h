#pragma once
// The numbers that a batch script of the site's prints as its last line: {"busbw": 391.5}. Pure.
#include <string_view>

#include "base/result.h"
#include "burnin/measurement.h"

namespace cupel::burnin {

/// Bytes of the output's end that are looked at.
inline constexpr std::size_t kJobOutputEnd = 64u << 10;

/// "job.busbw": "job." and the name of a number: 1 to 64 letters, digits, '_', '-' and '.'.
bool is_job_measure(std::string_view measure);

/// The last line of what it printed that is not blank, without blanks around it; empty: there is
/// none.
std::string_view last_line_of_job(std::string_view output);

/// Of that line: one JSON object of 1 to 256 numbers, each a measurement of
/// the node as a whole, without a unit. `output`: the end of what the job printed. Errors:
/// kNoMeasurement: it printed nothing; kMalformed: the line is no such object, naming the number.
Result<Findings> parse_job_numbers(std::string_view output);

}  // namespace cupel::burnin
