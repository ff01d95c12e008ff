#pragma once
// What `cupel rack show` tells of a rack that is one machine: what was read, what contradicts, and
// both as a page for people and as an object for programs. Asks nothing.
#include <boost/json/object.hpp>

#include "bmc/rack/reading.h"
#include "inventory/rack_audit.h"

namespace cupel::cli {

/// A device, and what it answered; an error where it did not.
template <class Reading>
struct DeviceReading {
  std::string name{};
  std::optional<int> slot{};  // expected
  std::string node{};
  Result<Reading> reading = Error{Code::kCancelled, "not asked"};
};

struct RackPage {
  const inventory::NvlRack* rack = nullptr;
  std::vector<DeviceReading<bmc::rack::BmcReading>> compute{};
  std::vector<DeviceReading<bmc::rack::BmcReading>> switch_bmcs{};
  std::vector<DeviceReading<bmc::rack::SwitchReading>> switches{};
  std::vector<DeviceReading<bmc::rack::BmcReading>> shelves{};
  std::vector<DeviceReading<bmc::rack::BmcReading>> cdu{};  // one or none
};

/// The trays as rack_audit.h compares them. Of a switch, its operating system says where it is.
std::vector<inventory::SeenTray> seen_trays(const RackPage& page);

/// One thing that is wrong: a contradiction of places, a leak, a domain without one controller, a
/// supply that does not deliver, a switch that is not well.
struct RackFault {
  std::string kind{};  // "swapped", "leak", "controller"
  std::vector<std::string> devices{};
  std::string what{};
};
std::vector<RackFault> faults_of(const RackPage& page);

/// "compute a01/compute3: 10.0.1.3 timed out"; what was not read is not known to be well.
std::vector<std::string> not_read(const RackPage& page);

std::string text_of(const RackPage& page);
boost::json::object object_of(const RackPage& page);

}  // namespace cupel::cli
