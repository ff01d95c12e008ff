#pragma once
// How long it takes until many nodes have fetched the same bytes through an uplink and their
// racks': what the boot server's shares come to. Pure.
#include <chrono>
#include <cstdint>
#include <span>

namespace cupel::netboot {

struct FetchForecast {
  std::chrono::duration<double> first_rack{}, last_node{};
};

/// `nodes_of_racks` fetch `bytes` each, all at once. Bytes per second: of the uplink, of one rack,
/// of one node; 0: no limit. Shared fairly: whoever has a slower part leaves its share to others.
FetchForecast forecast_fetch(std::span<const int> nodes_of_racks, std::uint64_t bytes,
                             double uplink, double per_rack, double per_node);

}  // namespace cupel::netboot
