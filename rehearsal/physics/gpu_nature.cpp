#include "rehearsal/physics/gpu_nature.h"

#include <cmath>

namespace cupel::rehearsal {

GpuNature gpu_nature(const GpuKind& kind, Draw of, int index, int count) {
  // At its limit an H100 in good air is some 40 degrees above its inlet.
  constexpr double kRise = 40.6;
  // The rear row breathes what the front row has warmed.
  constexpr double kRear = 1.05;
  const auto mine = of.of("gpu").of(static_cast<std::uint64_t>(index));
  const double place = index * 2 >= count ? kRear : 1;
  return {
      .kind = &kind,
      .hunger = mine.of("silicon").spread(0.015),
      .idle_watts = kind.idle_watts * mine.of("idle").spread(0.02),
      .kelvin_per_watt = kRise / kind.limit_watts * place * mine.of("paste").spread(0.03),
      .hbm = mine.of("hbm").spread(0.004),
      .nvlink = mine.of("nvlink").spread(0.003),
      .pcie = mine.of("pcie").spread(0.003),
      .compute = mine.of("compute").spread(0.002),
      // Most see none in a month, a few see one a day: of a power of ten a long tail would be many.
      .corrected_an_hour =
          0.001 * std::pow(10.0, mine.of("corrected").shaped(SpreadShape::normal).spread(0.5) - 1),
  };
}

}  // namespace cupel::rehearsal
