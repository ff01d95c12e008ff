#pragma once
// What sits in a rack's slots, as its parts say, held against the inventory and against each other.
// Pure. A part that says nothing contradicts nobody.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/rack.h"
#include "inventory/rack_place.h"

namespace cupel::inventory {

/// What one tray says of itself; nothing of it where it did not answer.
struct SeenTray {
  std::string name{};  // "a01/compute3", "a01/switch1"
  bool is_switch = false;
  std::optional<int> expected_slot{};
  std::string expected_mac{};  // of its BMC; empty: not given
  std::string serial{};
  std::vector<std::string> macs{};  // of its BMC
  std::vector<RackPlace> places{};  // of each GPU, or of the switch

  /// What all of its places say; nothing where they say nothing, or two things.
  std::optional<int> slot() const;
  std::string chassis_serial() const;
  std::string topology() const;
};

struct RackFinding {
  enum class Kind {
    two_answers,      // the parts of one tray say two things
    another_bmc,      // another machine answers at the address
    one_machine,      // one machine answers for two trays
    another_rack,     // a tray of another rack
    several_racks,    // no rack has most of the trays: nobody is called foreign
    one_slot,         // two trays in one slot
    swapped,          // two trays in each other's slots
    moved,            // a tray in another slot than expected
    another_topology  // parts that are set up for another kind of rack
  } kind{};
  std::vector<std::string> trays{};
  std::string what{};  // a sentence that names them
  friend bool operator==(const RackFinding&, const RackFinding&) = default;
};
std::string_view to_string(RackFinding::Kind kind);

/// What most of those trays that say anything say; empty where no value has more than half.
std::string chassis_of_most(std::span<const SeenTray> trays);
std::string topology_of_most(std::span<const SeenTray> trays);

/// In the order of the kinds above. Slots are compared among trays that do not say another rack's
/// chassis.
std::vector<RackFinding> audit_rack(std::span<const SeenTray> trays);

}  // namespace cupel::inventory
