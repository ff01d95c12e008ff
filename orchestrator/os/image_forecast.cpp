#include "orchestrator/os/image_forecast.h"

#include <algorithm>

namespace cupel::os {

void add_machine(ImageTraffic& traffic, const std::string& rack, std::uint64_t bytes,
                 bool mirrored) {
  auto& of_rack = traffic.bytes_of_rack[rack];
  of_rack = mirrored ? bytes : of_rack + bytes;
}

std::chrono::seconds least_time_of(const ImageTraffic& traffic) {
  double all = 0;
  double longest = 0;
  for (const auto& [rack, bytes] : traffic.bytes_of_rack) {
    all += static_cast<double>(bytes);
    if (traffic.rack_uplink > 0)
      longest = std::max(longest, static_cast<double>(bytes) / traffic.rack_uplink);
  }
  if (traffic.uplink > 0) longest = std::max(longest, all / traffic.uplink);
  return std::chrono::ceil<std::chrono::seconds>(std::chrono::duration<double>{longest});
}

}  // namespace cupel::os
