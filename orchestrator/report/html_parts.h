#pragma once
// A node's parts in the HTML report: those that are alike in one row, each with its serial number.
#include <string>

#include "orchestrator/record/node_record.h"

namespace cupel::report {

/// Empty where no part was reported.
std::string parts_html(const record::NodeRecord& record);

}  // namespace cupel::report
