#include "burnin/agent/burn/library_places.h"

#include <array>

namespace cupel::burn {

std::vector<std::string> library_places(std::span<const std::string_view> names,
                                        std::string_view folder) {
  const std::array<std::string, 4> folders{"", std::string{folder} + "/lib/",
                                           "/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"};
  std::vector<std::string> places;
  for (const auto& each : folders)
    for (const auto name : names) places.push_back(each + std::string{name});
  return places;
}

}  // namespace cupel::burn
