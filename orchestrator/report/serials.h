#pragma once
// A node's serial numbers, gathered from all that was read of it. Pure.
#include <boost/json/array.hpp>

#include "orchestrator/record/serials.h"

namespace cupel::report {

using record::chassis_serial;
using record::parts_with_serial;

/// Every part that told a serial number, once: kind, name, model, serial, firmware, slot.
boost::json::array serials_json(const record::NodeRecord& record);

}  // namespace cupel::report
