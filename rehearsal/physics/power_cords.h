#pragma once
// Which outlet of which PDU each supply of a node hangs on, and which outlets are off. As the
// inventory names them, or otherwise where a fault has plugged them otherwise. Pure. Not what the
// breakers before them carry: power_feed.h.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "inventory/fwd.h"
#include "rehearsal/fault.h"
#include "rehearsal/physics/power_feed.h"

namespace cupel::rehearsal {

/// An outlet that the inventory names, or a group of them that is switched as one.
struct PowerOutlet {
  std::string name;  // "A1"
  std::string node;  // whose it is, as the inventory has it
  bool on = true;
};

class PowerCords {
 public:
  explicit PowerCords(const inventory::Inventory& site);

  /// Of a PDU ("a01/p1"), in the inventory's order.
  const std::vector<PowerOutlet>& outlets(const std::string& pdu) const;
  /// nullptr where that PDU has no such outlet.
  const PowerOutlet* outlet(const std::string& pdu, std::string_view name) const;
  /// False as above.
  bool set(const std::string& pdu, std::string_view name, bool on);

  /// What the supplies of a node hang on, one after the other; with fewer cords than supplies, they
  /// begin again at the first. The feeds take turns, and so do the outlets of each: of a feed with
  /// three outlets a third of the supplies is without input for each that is off.
  std::vector<Cord> of(const std::string& node, std::span<const Fault> faults) const;

 private:
  struct Feed {
    std::string breaker;
    std::string pdu{};
    std::vector<std::string> outlets{};
  };
  std::map<std::string, std::vector<PowerOutlet>> outlets_{};  // by PDU
  std::map<std::string, std::vector<Feed>> feeds_{};           // by node
};

/// How a Cord names the outlet: "a01/p1/A1".
std::string outlet_path(const std::string& pdu, std::string_view outlet);

}  // namespace cupel::rehearsal
