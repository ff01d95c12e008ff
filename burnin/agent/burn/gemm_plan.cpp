#include "burnin/agent/burn/gemm_plan.h"

#include <algorithm>
#include <cmath>

namespace cupel::burn {

std::vector<Type> types_for(std::span<const std::string> asked, bool is_default, int major,
                            int minor) {
  std::vector<Type> types;
  for (const auto& name : asked) {
    const auto type = type_of(name);
    if (!type || !runs_on(*type, major, minor)) continue;
    if (is_default && is_slow(*type, major, minor)) continue;
    types.push_back(*type);
  }
  return types;
}

std::chrono::duration<double> time_of_type(std::chrono::duration<double> of_run, std::size_t types,
                                           bool in_waves) {
  constexpr double kLeast = 0.1, kMost = 4, kMostInWaves = 30;
  const double share = of_run.count() / (3 * static_cast<double>(std::max<std::size_t>(types, 1)));
  return std::chrono::duration<double>{std::clamp(share, kLeast, in_waves ? kMostInWaves : kMost)};
}

std::size_t products_queued(double seconds_each) {
  constexpr double kEnough = 0.02;  // seconds
  if (seconds_each <= 0) return 2;
  const double count = std::ceil(kEnough / seconds_each) + 1;
  return static_cast<std::size_t>(std::clamp(count, 2.0, static_cast<double>(kMostQueued)));
}

}  // namespace cupel::burn
