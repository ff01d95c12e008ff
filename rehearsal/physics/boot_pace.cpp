#include "rehearsal/physics/boot_pace.h"

#include <algorithm>
#include <array>

namespace cupel::rehearsal {
namespace {

struct Pace {
  std::string_view vendor;
  double share;
};

/// By the first letters of rehearsal/bmc/vendor_behavior.h's rows.
constexpr std::array<Pace, 7> kPaces{{{"dgx", 1.0},
                                      {"dell", 1.2},
                                      {"hpe", 1.5},
                                      {"lenovo", 1.4},
                                      {"supermicro", 0.9},
                                      {"ami", 0.95},
                                      {"openbmc", 1.1}}};

}  // namespace

double post_share(std::string_view vendor, double memory_bytes, Draw of) {
  constexpr double kUsualMemory = 2199023255552.0;  // 2 TiB
  constexpr double kTraining = 0.4;                 // of the self-test, with so much memory
  constexpr double kMostMemory = 4, kSpread = 0.03;
  const auto pace = std::ranges::find_if(
      kPaces, [vendor](const Pace& each) { return vendor.starts_with(each.vendor); });
  const double firmware = pace == kPaces.end() ? 1 : pace->share;
  const double memory = std::clamp(memory_bytes / kUsualMemory, 0.0, kMostMemory);
  return firmware * (1 - kTraining + kTraining * memory) * of.spread(kSpread);
}

}  // namespace cupel::rehearsal
