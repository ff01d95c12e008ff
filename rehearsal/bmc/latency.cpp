#include "rehearsal/bmc/latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/digest.h"
#include "rehearsal/bmc/message.h"

namespace cupel::rehearsal {
namespace {

using Span = VirtualTime;

constexpr std::string_view kFirmware = "/redfish/v1/UpdateService/FirmwareInventory";

constexpr std::array<SlowPlace, 3> kDgxSlow{
    {{"GET", kFirmware, {Span{120}, Span{15}}},
     {"GET", "/redfish/v1/Systems/HGX_Baseboard_0*", {Span{0.4}, Span{0.4}}},
     {"GET", "/redfish/v1/Chassis/DGX/Sensors*", {Span{0.5}, Span{0.3}}}}};
constexpr std::array<SlowPlace, 5> kDellSlow{
    {{"GET", kFirmware, {Span{6}, Span{3}}},
     {"GET", "/redfish/v1/Registries/*", {Span{4}, Span{2}}},
     {"GET", "*/Storage*", {Span{2}, Span{1}}},
     {"GET", "*/Memory*", {Span{0.6}, Span{0.4}}},
     {"POST", "*/Jobs", {Span{4}, Span{2}}}}};
constexpr std::array<SlowPlace, 2> kHpeSlow{
    {{"GET", "/redfish/v1/Registries/*", {Span{2}, Span{1}}},
     {"GET", "*/PCIeDevices*", {Span{0.8}, Span{0.5}}}}};
constexpr std::array<SlowPlace, 3> kLenovoSlow{{{"GET", kFirmware, {Span{4}, Span{2}}},
                                                {"GET", "*/Bios*", {Span{3}, Span{1}}},
                                                {"GET", "*/Entries", {Span{2}, Span{1}}}}};
constexpr std::array<SlowPlace, 2> kSupermicroSlow{
    {{"GET", kFirmware, {Span{3}, Span{1}}}, {"GET", "*/Bios*", {Span{1.5}, Span{0.5}}}}};
constexpr std::array<SlowPlace, 2> kAmiSlow{
    {{"GET", kFirmware, {Span{5}, Span{2}}}, {"GET", "*/Entries", {Span{1.5}, Span{1}}}}};
constexpr std::array<SlowPlace, 2> kOpenbmcSlow{
    {{"GET", kFirmware, {Span{1.5}, Span{0.5}}}, {"GET", "*/Sensors*", {Span{0.6}, Span{0.4}}}}};

constexpr std::array<LatencyBehavior, 8> kRows{{
    {"dgx", {Span{0.08}, Span{0.08}}, {Span{0.4}, Span{0.4}}, {Span{2}, Span{2}}, kDgxSlow},
    {"dell", {Span{0.25}, Span{0.2}}, {Span{1}, Span{0.8}}, {Span{3}, Span{3}}, kDellSlow},
    {"hpe", {Span{0.06}, Span{0.06}}, {Span{0.3}, Span{0.3}}, {Span{1}, Span{1}}, kHpeSlow},
    {"hpe-ilo5", {Span{0.15}, Span{0.1}}, {Span{0.6}, Span{0.4}}, {Span{2}, Span{1}}, kHpeSlow},
    {"lenovo", {Span{0.2}, Span{0.15}}, {Span{1}, Span{1}}, {Span{3}, Span{2}}, kLenovoSlow},
    {"supermicro",
     {Span{0.1}, Span{0.1}},
     {Span{0.5}, Span{0.5}},
     {Span{2}, Span{1}},
     kSupermicroSlow},
    {"ami", {Span{0.15}, Span{0.15}}, {Span{0.6}, Span{0.5}}, {Span{4}, Span{3}}, kAmiSlow},
    {"openbmc", {Span{0.04}, Span{0.03}}, {Span{0.2}, Span{0.2}}, {Span{1}, Span{1}}, kOpenbmcSlow},
}};

/// From 0 to 1, never 1.
double drawn(std::uint64_t seed, std::string_view node, const Asked& asked, int count) {
  const auto digest = sha256_hex(
      fmt::format("{}/{}/latency/{} {}/{}", seed, node, asked.method, asked.path, count));
  constexpr std::size_t kDigits = 12;  // 48 bits
  const auto bits = std::stoull(digest.substr(0, kDigits), nullptr, 16);
  return static_cast<double>(bits) / static_cast<double>(1ULL << (4 * kDigits));
}

Delay delay_of(const LatencyBehavior& behavior, const Asked& asked) {
  auto delay = asked.method == "GET" || asked.method == "HEAD" ? behavior.read : behavior.write;
  for (const auto& place : behavior.slow) {
    const bool fits =
        (place.method.empty() || place.method == asked.method) && is_like(asked.path, place.path);
    if (!fits) continue;
    delay = place.delay;
    break;
  }
  if (asked.first) delay = {delay.least + behavior.first.least, delay.mean + behavior.first.mean};
  return delay;
}

}  // namespace

const LatencyBehavior& latency_behavior_of(std::string_view vendor) {
  const auto row = std::ranges::find(kRows, vendor, &LatencyBehavior::vendor);
  return row == kRows.end() ? kRows.front() : *row;
}

VirtualTime latency_of(const LatencyBehavior& behavior, const Asked& asked, std::uint64_t seed,
                       std::string_view node, int count) {
  constexpr double kMost = 6;
  const auto delay = delay_of(behavior, asked);
  const double times = std::min(-std::log(1 - drawn(seed, node, asked, count)), kMost);
  return delay.least + delay.mean * times;
}

}  // namespace cupel::rehearsal
