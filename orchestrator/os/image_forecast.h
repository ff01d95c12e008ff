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

/// One more machine of the rack that fetches so many bytes. A mirror fetches them once for all of
/// its rack.
void add_machine(ImageTraffic& traffic, const std::string& rack, std::uint64_t bytes,
                 bool mirrored);

/// 0: there is no limit.
std::chrono::seconds least_time_of(const ImageTraffic& traffic);

}  // namespace cupel::os
