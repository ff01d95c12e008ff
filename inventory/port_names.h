#pragma once
// Ports of Ethernet switches by the names that their operating systems give them. Pure.
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::inventory {

/// How a switch counts ports in their names.
struct PortNaming {
  int lanes = 0;      // "Ethernet8" counts so many lanes a port, from 0 (SONiC); 0: it is port 8
  int lane_step = 1;  // "Ethernet3/5" is port 2 of cage 3 where ports begin at lanes 1 and 5
  bool from_zero = false;  // "et-0/0/0" is the first port (Junos)
  friend bool operator==(const PortNaming&, const PortNaming&) = default;
};

/// The port's number, from 1: "swp13" is 13, with two ports a cage "swp7s1", "sw7p2" and "Eth1/7/2"
/// are 14; "Ethernet1/13" (module and port), "Ethernet13/1" (port and lane) and "et-0/0/13" are 13.
/// Nothing for any other word.
std::optional<int> port_of_name(std::string_view name, int ports_per_cage,
                                const PortNaming& naming = {});

/// Whether the name has a number in any way of counting.
bool is_port_name(std::string_view name, int ports_per_cage);

/// The ways of counting in which each of these names has a number, without those that give the same
/// numbers as one before. The plain one is first, where it is one. A number counts lanes only where
/// 0 or nothing but multiples of 4 are there.
std::vector<PortNaming> namings_of(const std::set<std::string>& names, int ports_per_cage);

/// How a switch counts, by the names of its ports and by how many of them are then where the plan
/// has them: the one that is possible alone; else the one under which more ports than under any
/// other, and half of all, agree with the plan. Nothing where that does not decide.
std::optional<PortNaming> naming_of(const std::set<std::string>& names, int ports_per_cage,
                                    const std::function<bool(const std::string&, int)>& agrees);

}  // namespace cupel::inventory
