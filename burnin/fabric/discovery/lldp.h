#pragma once
// Neighbours as `lldpctl -f json0` (or -f json) prints them. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::burnin {

/// What is at the other end of a port of the host or switch where lldpctl ran.
struct LldpNeighbour {
  std::string port{};     // "swp1", "eth0"
  std::string device{};   // its system name; empty where it gives none
  std::string chassis{};  // its id: mostly a MAC address
  /// Its interface: the port's id where that is a name, else the description, which is the name on
  /// Linux (the id is then its MAC address).
  std::string remote{};
  friend bool operator==(const LldpNeighbour&, const LldpNeighbour&) = default;
};

/// In the order of the report; a port with several neighbours has several rows. Errors:
/// kNoMeasurement without a neighbour: lldpd has heard of none, or does not run; kMalformed for
/// JSON that is none or another tool's, above 64 MiB, and for more than 100,000 neighbours.
/// Source: lldpd 1.0.16, lldpcli(8), "-f": json writes an object for one neighbour and an array for
/// several, json0 always arrays.
Result<std::vector<LldpNeighbour>> parse_lldpctl(std::string_view text);

}  // namespace cupel::burnin
