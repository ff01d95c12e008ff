#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "burnin/fabric/counter_growth.h"
#include "burnin/fabric/link_criteria.h"

namespace cupel::burnin {
namespace {

// What a link itself does wrong. Others, such as PortRcvRemotePhysicalErrors, PortXmitDiscards,
// PortXmitWait and VL15Dropped, tell of other links, of routing and of load: no limit is known.
constexpr std::array<std::string_view, 4> kErrors{"LinkErrorRecoveryCounter", "PortRcvErrors",
                                                  "LocalLinkIntegrityErrors",
                                                  "ExcessiveBufferOverrunErrors"};
constexpr std::array<std::string_view, 2> kOfOtherRules{"SymbolErrorCounter", "LinkDownedCounter"};

/// Source: NVIDIA, InfiniBand Cluster Bring-up Procedure, "UFM Telemetry": a port that went down so
/// often in 24 hours is to be looked at.
constexpr std::uint64_t kDownsOfADay = 2;

std::string many(const Growth& growth) {
  const bool more = growth.known == Growth::Known::at_least || growth.known == Growth::Known::reset;
  return fmt::format("{}{}", more ? "at least " : "", growth.by);
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
  if (here.grew() && there.grew()) {
    opinion.defects.push_back(
        {LinkFault::flapped, fmt::format("went down {} times in {} minutes ({} at {}, {} at {})",
                                         std::min(here.by, there.by), plain(one.minutes(), 0),
                                         many(here), to_string(from), many(there), to_string(to))});
    return;
  }
  const bool at_from = here.by > there.by;
  const auto& most = at_from ? here : there;
  if (most.by < kDownsOfADay) return;
  opinion.unassessed.emplace_back(
      fmt::format("link downs: {} at one end alone ({}) in {} minutes: the other end was restarted "
                  "or cleared in between, or it does not count them",
                  many(most), to_string(at_from ? from : to), plain(one.minutes(), 0)),
      at_from ? from : to);
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

/// What grew and is judged by no rule.
void list_others(const LinkCase& one, const PortId& port, Opinion& opinion) {
  const auto counters = one.after.counters.find(port);
  if (counters == one.after.counters.end()) return;
  const auto has = [](const auto& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  for (const auto& [name, value] : counters->second) {
    if (has(kErrors, name) || has(kOfOtherRules, name)) continue;
    const auto growth = growth_of(*one.before, one.after, port, name);
    if (growth.judged() && growth.grew())
      opinion.listed.push_back(fmt::format("{} grew by {} at {} in {} minutes", name, many(growth),
                                           to_string(port), plain(one.minutes(), 0)));
  }
}

/// All counts of one look, of which it is not known since when.
void list_all(const LinkCase& one, const PortId& port, Opinion& opinion) {
  const auto counters = one.after.counters.find(port);
  if (counters == one.after.counters.end()) return;
  std::string text;
  for (const auto& [name, value] : counters->second)
    if (value > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  if (!text.empty())
    opinion.listed.push_back(
        fmt::format("since its counters were cleared, {} has {}", to_string(port), text));
}

std::optional<std::uint64_t> downs_since_clear(const MlxlinkReport* report) {
  if (report == nullptr || report->minutes_since_clear.value_or(0) < kMinutesOfBer)
    return std::nullopt;
  const auto downs = report->counters.find("Link Down Counter");
  return downs == report->counters.end() ? std::nullopt : std::optional{downs->second};
}

/// Of one look, where both ends report when their counters were cleared.
void judge_since_clear(const LinkCase& one, Opinion& opinion) {
  const auto *from = one.report(one.link.from), *to = one.report(one.link.to);
  const auto here = downs_since_clear(from), there = downs_since_clear(to);
  if (!here && !there) return;
  const auto downs = std::min(here.value_or(0), there.value_or(0));
  const double minutes =
      std::max(here ? *from->minutes_since_clear : 0.0, there ? *to->minutes_since_clear : 0.0);
  constexpr double kMinutesOfDay = 1440;
  if (static_cast<double>(downs) * kMinutesOfDay / minutes >= static_cast<double>(kDownsOfADay) &&
      downs >= kDownsOfADay) {
    opinion.defects.push_back(
        {LinkFault::flapped,
         fmt::format("went down {} times since its counters were cleared {} minutes ago ({} at {}, "
                     "{} at {})",
                     downs, plain(minutes, 0), *here, to_string(one.link.from), *there,
                     to_string(one.link.to))});
    return;
  }
  const bool at_from = here.value_or(0) > there.value_or(0);
  const auto most = std::max(here.value_or(0), there.value_or(0));
  if (most >= kDownsOfADay && downs == 0)
    opinion.unassessed.emplace_back(
        fmt::format("link downs: {} since the counters were cleared, at one end alone ({})", most,
                    to_string(at_from ? one.link.from : one.link.to)),
        at_from ? one.link.from : one.link.to);
}

}  // namespace

void list_counters(const LinkCase& one, const PortId& port, Opinion& opinion) {
  if (one.before == nullptr)
    list_all(one, port, opinion);
  else
    list_others(one, port, opinion);
}

void judge_counters(const LinkCase& one, Opinion& opinion) {
  if (one.before == nullptr) {
    for (const auto& port : {one.link.from, one.link.to}) {
      opinion.unassessed.emplace_back("counters: there is one look only", port);
      list_all(one, port, opinion);
    }
    judge_since_clear(one, opinion);
    return;
  }
  judge_downs(one, opinion);
  judge_errors(one, one.link.from, opinion);
  judge_errors(one, one.link.to, opinion);
  list_others(one, one.link.from, opinion);
  list_others(one, one.link.to, opinion);
}

}  // namespace cupel::burnin
