#pragma once
// A node's serial numbers, gathered from all that was read of it. Pure.
#include <boost/json/array.hpp>
#include <string>
#include <vector>

#include "orchestrator/record/node_record.h"

namespace cupel::report {

/// The machine's own, as its BMC tells it, or as the node does; empty where neither did.
std::string chassis_serial(const record::NodeRecord& record);

/// Parts of the kind that told a serial number, each once: of the source that told most of them,
/// since BMC and node may write one serial number in two ways.
std::vector<inventory::Part> parts_with_serial(const record::NodeRecord& record,
                                               inventory::PartKind kind);

/// Every part that told a serial number, once: kind, name, model, serial, firmware, slot.
boost::json::array serials_json(const record::NodeRecord& record);

}  // namespace cupel::report
