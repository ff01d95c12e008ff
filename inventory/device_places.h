#pragma once
// Devices that are in the place of another: names, or machines, are exchanged rather than all of
// their cables. Pure.
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/cable_moves.h"

namespace cupel::inventory {

/// Of each device that has the links of another one of the plan, port by port: that one. Three
/// quarters of its links decide, and no fewer than two of a node and three of a switch. Only links
/// whose other end has a planned cable count. Names view into `map` and `links`.
std::map<std::string_view, std::string_view> places_of(const FabricMap& map,
                                                       std::span<const EndPair> links);

/// Devices of which each one is in the place of the next, and the last one in the place of the
/// first, or of a device that is in no other's place; each device once, in the order of names.
struct Exchange {
  std::vector<std::string_view> devices{};
  bool closed = false;
};
std::vector<Exchange> exchanges_of(const std::map<std::string_view, std::string_view>& places);

}  // namespace cupel::inventory
