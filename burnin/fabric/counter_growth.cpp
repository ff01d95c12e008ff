#include "burnin/fabric/counter_growth.h"

#include <array>
#include <optional>
#include <utility>

namespace cupel::burnin {
namespace {

std::optional<std::uint64_t> maximum(std::string_view counter) {
  constexpr std::uint64_t k4Bits = 0xf, k8Bits = 0xff, k16Bits = 0xffff;
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 10> kMaxima{
      {{"SymbolErrorCounter", k16Bits},
       {"LinkErrorRecoveryCounter", k8Bits},
       {"LinkDownedCounter", k8Bits},
       {"PortRcvErrors", k16Bits},
       {"LocalLinkIntegrityErrors", k4Bits},
       {"ExcessiveBufferOverrunErrors", k4Bits},
       {"PortRcvRemotePhysicalErrors", k16Bits},
       {"PortRcvSwitchRelayErrors", k16Bits},
       {"PortXmitDiscards", k16Bits},
       {"VL15Dropped", k16Bits}}};
  for (const auto& [name, most] : kMaxima)
    if (name == counter) return most;
  return std::nullopt;
}

Growth growth(std::optional<std::uint64_t> before, std::optional<std::uint64_t> after,
              std::optional<std::uint64_t> most) {
  using enum Growth::Known;
  if (!before || !after) return {absent, 0};
  if (*after < *before) return {reset, *after};
  if (most && *before == *most) return {stuck, 0};
  return {most && *after == *most ? at_least : yes, *after - *before};
}

std::optional<std::uint64_t> reported(const LinkLook& look, const PortId& port,
                                      std::string_view counter) {
  const auto report = look.reports.find(port);
  if (report == look.reports.end()) return std::nullopt;
  const auto value = report->second.counters.find(counter);
  return value == report->second.counters.end() ? std::nullopt : std::optional{value->second};
}

}  // namespace

std::string_view to_string(Growth::Known known) {
  switch (known) {
    case Growth::Known::yes:
      return "known";
    case Growth::Known::at_least:
      return "at its maximum";
    case Growth::Known::absent:
      return "not reported";
    case Growth::Known::reset:
      return "smaller than in the first look: cleared, or its device started again";
    case Growth::Known::stuck:
      return "at its maximum already in the first look: clear it";
  }
  return "unknown";
}

Growth growth_of(const LinkLook& before, const LinkLook& after, const PortId& port,
                 std::string_view counter) {
  return growth(count_of(before, port, counter), count_of(after, port, counter), maximum(counter));
}

Growth reported_growth(const LinkLook& before, const LinkLook& after, const PortId& port,
                       std::string_view counter) {
  return growth(reported(before, port, counter), reported(after, port, counter), std::nullopt);
}

Growth link_downs(const LinkLook& before, const LinkLook& after, const PortId& port) {
  const auto counted = growth_of(before, after, port, "LinkDownedCounter");
  if (counted.judged()) return counted;
  const auto growth = reported_growth(before, after, port, "Link Down Counter");
  return growth.judged() ? growth : counted;
}

}  // namespace cupel::burnin
