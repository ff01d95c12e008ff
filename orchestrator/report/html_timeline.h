#pragma once
// The time line of a run in the HTML report: a row for each node, a bar for each step.
#include <string>

#include "orchestrator/report/summary.h"

namespace cupel::report {

/// Empty where no step has a time.
std::string time_line_html(const RunSummary& summary);

/// "07:10", or "Nov 21 07:10" of another day than `day_of`: times of a drawing's axis, UTC.
std::string axis_time(engine::WallTime time, engine::WallTime day_of);

/// At most so many round times between two, for an axis.
std::vector<engine::WallTime> axis_times(engine::WallTime from, engine::WallTime to,
                                         std::size_t most);

}  // namespace cupel::report
