// Reading and comparing the report of a real fabric: fabric_bench IBNETDISCOVER_FILE. Prints the
// median of 21 times in milliseconds.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/file.h"
#include "burnin/fabric/discovery/ibnetdiscover.h"
#include "inventory/fabric_audit.h"

namespace {

using namespace cupel;
using Clock = std::chrono::steady_clock;

/// Every link that the report has, as the plan.
inventory::Fabric plan_of(const inventory::SeenFabric& seen) {
  inventory::Fabric plan;
  const auto end = [&](const inventory::SeenEnd& at) {
    const auto& device = seen.devices[at.device];
    return inventory::CableEnd{device.name, device.hca, at.port};
  };
  for (const auto& device : seen.devices)
    if (device.kind == inventory::SeenDevice::Kind::switch_device)
      plan.switches.push_back({.name = device.name});
  for (const auto& link : seen.links) {
    auto from = end(link.from), to = end(link.to);
    if (!to.at_switch()) std::swap(from, to);
    plan.cables.push_back({.from = from, .to = to, .speed = link.speed, .width = link.width});
  }
  return plan;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::size_t kLimit = 64u << 20;
  constexpr std::size_t kTimes = 21;
  const auto text = cupel::read_file(argc > 1 ? argv[1] : "", kLimit);
  if (!text) return std::fputs("usage: fabric_bench IBNETDISCOVER_FILE\n", stderr), 2;
  const auto first = cupel::burnin::parse_ibnetdiscover(*text);
  if (!first) return std::fputs("not what ibnetdiscover prints\n", stderr), 2;
  const auto plan = plan_of(*first);
  std::vector<double> parsed, compared;
  for (std::size_t i = 0; i < kTimes; ++i) {
    const auto begin = Clock::now();
    const auto seen = cupel::burnin::parse_ibnetdiscover(*text);
    const auto middle = Clock::now();
    const auto audit = cupel::inventory::audit_fabric(plan, *seen);
    const std::chrono::duration<double, std::milli> reading = middle - begin,
                                                    comparing = Clock::now() - middle;
    parsed.push_back(reading.count());
    compared.push_back(comparing.count() + 0.0 * static_cast<double>(audit.planned));
  }
  std::ranges::sort(parsed);
  std::ranges::sort(compared);
  fmt::print("{} devices, {} cables: parse {:.1f} ms, compare {:.1f} ms\n", first->devices.size(),
             plan.cables.size(), parsed[kTimes / 2], compared[kTimes / 2]);
  return 0;
}
