#pragma once
// The site's power tree: room, rack, PDU, breaker. Read by inventory/read_power.h.
#include <string>

#include "inventory/problem.h"

namespace cupel::inventory {

/// One level of the power tree. `watts` is what may be drawn through it.
struct PowerNode {
  enum class Kind { room, rack, pdu, breaker } kind{};
  std::string name;
  double watts = 0;
  std::string parent{};  // name of the level above; empty for a room
  Place where{};
};

}  // namespace cupel::inventory
