#include "rehearsal/physics/gpu_kind.h"

#include <algorithm>
#include <array>

#include "base/enum_words.h"

namespace cupel::rehearsal {
namespace {

// Limits and clocks: nvidia-smi -q of such GPUs; idle watts as they report them at 0 %. 85 degrees
// is where an H100 says "T.Limit 0": 59 C with 26 to go.
constexpr std::array<GpuKind, 11> kKinds{{
    {"GB300", 1400, 200, 190, 345, 2062, 3996, 88, 105, 18},
    {"GB200", 1200, 200, 170, 345, 2062, 3996, 88, 105, 18},
    {"B300", 1100, 200, 160, 345, 2032, 3996, 88, 105, 18},
    {"B200", 1000, 200, 140, 345, 1965, 3996, 88, 105, 18},
    {"H200", 700, 200, 76, 345, 1980, 3201, 87, 95, 18},
    {"H100", 700, 200, 70, 345, 1980, 2619, 85, 95, 18},
    {"A100", 400, 100, 60, 210, 1410, 1593, 85, 95, 12},
    {"MI300X", 750, 250, 140, 132, 2100, 1300, 95, 95, 7},
    {"L40S", 350, 100, 35, 210, 2520, 9001, 88, 95, 0},
    {"A40", 300, 100, 32, 210, 1740, 7251, 88, 95, 0},
    {"A10", 150, 100, 22, 210, 1695, 6251, 88, 95, 0},
}};
constexpr const GpuKind& kUsual = kKinds[5];

// A matrix product asks for more than the limit gives at the highest clock; the rest as DCGM's
// diagnostics and nvbandwidth show it on an H100, rounded.
constexpr std::array<WorkCost, 10> kCosts{{
    {0, 1, 0, 0, 0},           // idle
    {1.30, 0.90, 100, 45, 1},  // gemm
    {0.62, 1.35, 100, 92, 1},  // hbm
    {0.26, 1.05, 20, 8, 2},    // pcie
    {0.40, 1.10, 60, 25, 1},   // p2p
    {0.52, 1.10, 100, 35, 2},  // collective
    {1.12, 1.00, 99, 60, 6},   // train
    {0, 1, 0, 0, 0},           // cpu
    {0, 1, 0, 0, 0},           // disk
    {0, 1, 0, 0, 0},           // memory
}};

}  // namespace

const GpuKind& gpu_kind(std::string_view model) {
  const auto found = std::ranges::find_if(
      kKinds, [model](const GpuKind& kind) { return model.contains(kind.model); });
  return found == kKinds.end() ? kUsual : *found;
}

const WorkCost& cost_of(Work work) { return kCosts.at(static_cast<std::size_t>(work)); }

std::string_view to_string(Work work) { return enum_word<'-'>(work); }

std::optional<Work> work_named(std::string_view name) { return enum_of<Work, '-'>(name); }

}  // namespace cupel::rehearsal
