#include "burnin/fabric/link_history.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/enum_words.h"
#include "base/text.h"

namespace cupel::burnin {
namespace {

using Kind = LinkEvent::Kind;
using Time = std::chrono::sys_seconds;

bool is_known(const PortId& port) { return !port.device.empty(); }

bool is_end(const LookedLink& link, const PortId& port) {
  return port == link.from || port == link.to;
}

/// A repair may name one end alone; a port without a peer may have had one.
bool is_of(const LinkEvent& event, const LookedLink& link) {
  if (!is_end(link, event.here)) return false;
  return !is_known(event.there) || !is_known(link.to) || is_end(link, event.there);
}

bool is_clean(const LinkEvent& event) {
  return event.kind == Kind::judged && event.defects.empty();
}

std::set<LinkFault> faults_of(const std::vector<LinkDefect>& defects) {
  std::set<LinkFault> faults;
  for (const auto& defect : defects) faults.insert(defect.fault);
  return faults;
}

bool share_a_fault(const std::vector<LinkDefect>& a, const std::vector<LinkDefect>& b) {
  const auto faults = faults_of(a);
  return std::ranges::any_of(
      b, [&](const LinkDefect& defect) { return faults.contains(defect.fault); });
}

/// What stands behind a repair in the order makes those before it needless; firmware is apart.
bool is_needless(const RepairStep& step, const std::vector<LinkEvent>& tried) {
  return std::ranges::any_of(tried, [&](const LinkEvent& done) {
    if (done.did == step.repair) return true;
    return step.repair != Repair::firmware && done.did != Repair::firmware &&
           done.did > step.repair;
  });
}

class Follower {
 public:
  Follower(LinkHealth& health, const LinkLook* before, const LinkLook& after,
           std::span<const LinkEvent> history)
      : health_{health}, before_{before}, after_{after} {
    for (const auto& event : history) history_.emplace(event.here, event);
    for (const auto& one : health.unassessed)
      unassessed_.insert(one.ports.begin(), one.ports.end());
  }

  FabricProgress follow() {
    std::set<std::pair<PortId, PortId>> bad;
    for (auto& finding : health_.findings) {
      bad.emplace(finding.link.from, finding.link.to);
      auto events = events_of(finding.link);
      auto tried = tried_of(events);
      judge(finding.link, finding.defects, events, tried);
      std::erase_if(finding.repair, [&](const auto& step) { return is_needless(step, tried); });
      found_.tried.push_back(std::move(tried));
    }
    for (const auto& link : after_.links)
      if (!bad.contains({link.from, link.to})) judge_well(link);
    for (const auto& [port, report] : after_.reports)
      if (!linked_.contains(port)) judge_well({.from = port, .to = {}});
    add_unmatched();
    return std::move(found_);
  }

 private:
  /// Oldest first.
  std::vector<LinkEvent> events_of(const LookedLink& link) {
    std::vector<LinkEvent> found;
    for (const auto& port : {link.from, link.to}) {
      linked_.insert(port);
      const auto [first, last] = history_.equal_range(port);
      for (auto at = first; at != last; ++at)
        if (is_of(at->second, link)) found.push_back(at->second);
    }
    std::ranges::stable_sort(found, {}, &LinkEvent::at);
    return found;
  }

  /// Repairs up to the second look that still count, oldest first.
  std::vector<LinkEvent> tried_of(const std::vector<LinkEvent>& events) const {
    std::vector<LinkEvent> tried;
    for (const auto& event : events) {
      if (event.at > after_.taken) break;
      if (event.kind == Kind::repaired) tried.push_back(event);
      if (is_clean(event))
        std::erase_if(tried, [&](const LinkEvent& old) {
          return old.at < event.at && old.at + kRepairCounts < after_.taken;
        });
    }
    return tried;
  }

  void judge(const LookedLink& link, const std::vector<LinkDefect>& now,
             const std::vector<LinkEvent>& events, const std::vector<LinkEvent>& tried) {
    LinkProgress progress{.link = link, .now = now};
    for (const auto& event : events)
      if (event.kind == Kind::judged && event.at < after_.taken) progress.was = event;
    for (const auto& repair : tried)
      if (!progress.was || repair.at >= progress.was->at) progress.repairs.push_back(repair);
    progress.why = why_open(progress);
    const bool was_bad = progress.was && !progress.was->defects.empty();
    if (progress.repairs.empty()) {
      if (now.empty() && was_bad && progress.why.empty()) without_repair(progress, events);
    } else if (was_bad || !progress.was || !now.empty()) {
      with_repair(progress);
    }
    if (progress.why.empty()) keep(progress, events);
  }

  /// One of which nothing bad was found.
  void judge_well(const LookedLink& link) {
    const auto events = events_of(link);
    if (!events.empty()) judge(link, {}, events, tried_of(events));
  }

  void with_repair(LinkProgress progress) {
    using enum Outcome;
    if (!progress.why.empty())
      progress.outcome = open;
    else if (progress.now.empty())
      progress.outcome = helped;
    else
      progress.outcome = progress.was && !share_a_fault(progress.was->defects, progress.now)
                             ? other_fault
                             : not_helped;
    found_.links.push_back(std::move(progress));
  }

  /// Only what flapped, once, is what a link does while it is brought up.
  void without_repair(LinkProgress progress, const std::vector<LinkEvent>& events) {
    const auto faults = faults_of(progress.was->defects);
    const bool once = std::ranges::none_of(events, [&](const LinkEvent& event) {
      return event.kind == Kind::repaired || (is_clean(event) && event.at < progress.was->at);
    });
    progress.outcome =
        once && faults == std::set{LinkFault::flapped} ? Outcome::recovered : Outcome::gone;
    found_.links.push_back(std::move(progress));
  }

  /// Why these looks say nothing of the repairs, and nothing good of the link; empty: they do.
  std::string why_open(const LinkProgress& progress) const {
    if (before_ == nullptr)
      return "one look cannot tell: fill a folder after the repair, and another after 125 minutes";
    const auto& repairs = progress.repairs;
    if (!repairs.empty() && repairs.back().at > before_->taken)
      return fmt::format(
          "the first look ({:%F %H:%M} UTC) is older than the repair ({:%F %H:%M} UTC): fill a "
          "folder now, and another after 125 minutes",
          before_->taken, repairs.back().at);
    if (!progress.now.empty()) return {};
    if (unassessed_.contains(progress.link.from) || unassessed_.contains(progress.link.to))
      return "nothing is wrong, but not all of the link could be judged";
    const auto minutes =
        std::chrono::duration<double, std::ratio<60>>{after_.taken - before_->taken}.count();
    if (minutes < kMinutesOfBer)
      return fmt::format("nothing is wrong in {} minutes; {} are needed", plain(minutes, 0),
                         kMinutesOfBer);
    return {};
  }

  /// What the record does not say yet: that the faults are others, or that repairs were judged.
  void keep(const LinkProgress& progress, const std::vector<LinkEvent>& events) {
    const bool recorded = std::ranges::any_of(events, [&](const LinkEvent& event) {
      return event.kind == Kind::judged && event.at >= after_.taken;
    });
    const auto was = progress.was ? progress.was->defects : std::vector<LinkDefect>{};
    if (recorded || (progress.repairs.empty() && faults_of(was) == faults_of(progress.now))) return;
    constexpr std::size_t kMostDefects = 16;
    LinkEvent judged{.kind = Kind::judged,
                     .at = after_.taken,
                     .here = progress.link.from,
                     .there = progress.link.to,
                     .since = before_->taken,
                     .defects = progress.now};
    if (judged.defects.size() > kMostDefects) judged.defects.resize(kMostDefects);
    found_.judged.push_back(std::move(judged));
  }

  void add_unmatched() {
    for (const auto& [port, event] : history_)
      if (event.kind == Kind::repaired && !linked_.contains(port) && event.at <= after_.taken &&
          event.at + kRepairCounts >= after_.taken)
        found_.unmatched.push_back(event);
    std::ranges::stable_sort(found_.unmatched, {}, &LinkEvent::at);
  }

  LinkHealth& health_;
  const LinkLook* before_;
  const LinkLook& after_;
  std::multimap<PortId, LinkEvent> history_{};
  std::set<PortId> unassessed_{}, linked_{};
  FabricProgress found_{};
};

}  // namespace

std::string what_text(const LinkEvent& event) {
  if (event.kind == Kind::repaired)
    return fmt::format("{}{}", to_string(event.did),
                       event.note.empty() ? "" : fmt::format(" ({})", event.note));
  if (event.defects.empty()) return fmt::format("nothing is wrong since {:%F %H:%M}", event.since);
  std::string text;
  for (const auto& defect : event.defects)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", to_string(defect.fault), defect.what);
  return text;
}

std::string_view to_string(Outcome outcome) { return enum_word<'-'>(outcome); }

FabricProgress follow_repairs(LinkHealth& health, const LinkLook* before, const LinkLook& after,
                              std::span<const LinkEvent> history) {
  return Follower{health, before, after, history}.follow();
}

}  // namespace cupel::burnin
