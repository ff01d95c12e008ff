// Any bytes as what cupel-node said, of both subcommands.
#include "burnin/node/watch_report.h"

#include <cmath>

#include "inventory/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  static const inventory::Profile profile;
  for (const auto& found : {burnin::read_facts(profile, text), burnin::read_watch(profile, text)}) {
    if (!found) continue;
    for (const auto& each : found->measurements)
      if (!std::isfinite(each.value)) __builtin_trap();
  }
  return 0;
}
