#pragma once
// Ports of Ethernet switches by the names that their operating systems give them. Pure.
#include <optional>
#include <string_view>

namespace cupel::inventory {

/// The port's number, from 1: "swp13" is 13, with two ports a cage "swp7s1" is 14; "Ethernet1/13"
/// (module and port) and "Ethernet13/1" (port and lane) are 13, "Eth1/7/2" is port 2 of cage 7.
/// Nothing for any other word. A name whose number counts lanes (SONiC's "Ethernet8") is taken by
/// that number.
std::optional<int> port_of_name(std::string_view name, int ports_per_cage);

}  // namespace cupel::inventory
