#pragma once
// A node's serial numbers, gathered from all that was read of it. Pure.
#include <boost/json/array.hpp>
#include <string>
#include <vector>

#include "orchestrator/record/serials.h"

namespace cupel::report {

using record::chassis_serial;
using record::parts_with_serial;

/// Every part that reported a serial number, once: kind, name, model, serial, firmware, slot.
boost::json::array serials_json(const record::NodeRecord& record);

/// A version of what has no serial number of its own: a driver, a BIOS, a BMC, a kernel.
struct Version {
  std::string name{};  // "driver", "bios", "bmc", "HGX_FW_CPLD_0"
  std::string version{};
  bool by_bmc = false, by_node = false;  // who reported it
  friend bool operator==(const Version&, const Version&) = default;
};

/// Each name and version once, sorted by name.
std::vector<Version> versions_of(const record::NodeRecord& record);

}  // namespace cupel::report
