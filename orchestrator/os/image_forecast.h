#pragma once
// How long it takes until the last of many machines has fetched its image: a lower bound, by what
// may be sent. Pure.
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace cupel::os {

struct ImageTraffic {
  std::map<std::string, std::uint64_t> bytes_of_rack{};  // that all its machines fetch
  double uplink = 0, rack_uplink = 0;                    // bytes per second; 0: no limit
};

/// 0: there is no limit.
std::chrono::seconds least_time_of(const ImageTraffic& traffic);

}  // namespace cupel::os
