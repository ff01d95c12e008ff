#pragma once
// What each GPU of a node reaches of each other one, as a heat map in the HTML report.
#include <string>

#include "orchestrator/record/node_record.h"

namespace cupel::report {

/// A table for each measure of pairs of GPUs ("gpu0-gpu1") in bandwidth; empty where none was
/// measured. What is more than a tenth below the best is marked by a sign, too.
std::string pairs_html(const record::NodeRecord& record);

}  // namespace cupel::report
