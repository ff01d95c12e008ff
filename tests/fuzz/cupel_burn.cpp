// Any bytes as the output of a stage that runs cupel-burn.
#include <algorithm>
#include <cmath>

#include "burnin/stage.h"
#include "inventory/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel;
  if (size == 0) return 0;
  static const auto profile = [] {
    inventory::Profile made;
    made.parts.push_back({.kind = inventory::PartKind::gpu, .count = 2});
    made.parts.back().pci = {"1b:00.0", "43:00.0"};
    return made;
  }();
  constexpr std::array<const char*, 6> kStages{"gemm", "hbm", "pcie", "p2p", "collective", "train"};
  const auto* stage = burnin::stage(kStages[data[0] % kStages.size()]);
  const std::string text{reinterpret_cast<const char*>(data) + 1, size - 1};
  const auto found = stage->parse(profile, {text, "", 0});
  if (!found) return 0;
  for (const auto& each : found->measurements) {
    const bool known = std::ranges::find(stage->measures, each.name) != stage->measures.end();
    if (!known || !std::isfinite(each.value)) __builtin_trap();
  }
  return 0;
}
