#pragma once
// By what serial numbers a node and its parts are known in a record. Pure.
#include <string>
#include <vector>

#include "orchestrator/record/node_record.h"

namespace cupel::record {

/// The machine's own, as its BMC reports it, or as the node does; empty where neither did.
std::string chassis_serial(const NodeRecord& record);

/// Parts of the kind that reported a serial number, each once: of the source that reported most of
/// them, since BMC and node may write one serial number in two ways.
std::vector<inventory::Part> parts_with_serial(const NodeRecord& record, inventory::PartKind kind);

/// Whether both records have a chassis serial number and they differ.
bool is_other_machine(const NodeRecord& before, const NodeRecord& now);

/// Names of the parts for which the two records have serial numbers and share none: another part
/// sits there now. What reports no serial number is not among them. Sorted.
std::vector<std::string> replaced_parts(const NodeRecord& before, const NodeRecord& now);

}  // namespace cupel::record
