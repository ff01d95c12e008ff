#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "burnin/fabric/counter_growth.h"
#include "burnin/fabric/link_criteria.h"

namespace cupel::burnin {
namespace {

// What a link itself does wrong. PortRcvRemotePhysicalErrors, PortRcvSwitchRelayErrors,
// PortXmitDiscards and PortXmitWait tell of other links, of routing and of load.
constexpr std::array<std::string_view, 4> kErrors{"LinkErrorRecoveryCounter", "PortRcvErrors",
                                                  "LocalLinkIntegrityErrors",
                                                  "ExcessiveBufferOverrunErrors"};

std::string many(const Growth& growth) {
  return fmt::format("{}{}", growth.known == Growth::Known::at_least ? "at least " : "", growth.by);
}

/// One end counts too when its HCA starts again: the link is bad only where both ends grew.
/// Source: NVIDIA UFM SDK, PDR plugin, README, "link down".
void judge_downs(const LinkCase& one, Opinion& opinion) {
  const auto& [from, to] = std::pair{one.link.from, one.link.to};
  const auto here = link_downs(*one.before, one.after, from);
  const auto there = link_downs(*one.before, one.after, to);
  if (!here.judged())
    opinion.unassessed.emplace_back(fmt::format("link downs: {}", to_string(here.known)), from);
  if (!there.judged())
    opinion.unassessed.emplace_back(fmt::format("link downs: {}", to_string(there.known)), to);
  if (!here.grew() || !there.grew()) return;
  opinion.defects.push_back(
      {LinkFault::flapped, fmt::format("went down {} times in {} minutes ({} at {}, {} at {})",
                                       std::min(here.by, there.by), plain(one.minutes(), 0),
                                       many(here), to_string(from), many(there), to_string(to))});
}

void judge_errors(const LinkCase& one, const PortId& port, Opinion& opinion) {
  constexpr double kMinutesOfHour = 60;
  std::string_view unknown;
  for (const auto counter : kErrors) {
    const auto growth = growth_of(*one.before, one.after, port, counter);
    if (!growth.judged()) {
      unknown = to_string(growth.known);
    } else if (growth.grew()) {
      const double hourly = static_cast<double>(growth.by) * kMinutesOfHour / one.minutes();
      opinion.defects.push_back(
          {LinkFault::errors, fmt::format("{} grew by {} at {}: {} an hour", counter, many(growth),
                                          to_string(port), plain(hourly, 1))});
    }
  }
  if (!unknown.empty())
    opinion.unassessed.emplace_back(fmt::format("error counters: {}", unknown), port);
}

}  // namespace

void judge_counters(const LinkCase& one, Opinion& opinion) {
  if (one.before == nullptr) {
    for (const auto& port : {one.link.from, one.link.to})
      opinion.unassessed.emplace_back("counters: there is one look only", port);
    return;
  }
  judge_downs(one, opinion);
  judge_errors(one, one.link.from, opinion);
  judge_errors(one, one.link.to, opinion);
}

}  // namespace cupel::burnin
