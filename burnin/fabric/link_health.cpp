#include "burnin/fabric/link_health.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/enum_words.h"
#include "burnin/fabric/ber_limits.h"
#include "burnin/fabric/link_criteria.h"
#include "burnin/fabric/link_repair.h"
#include "burnin/fabric/odd_links.h"
#include "burnin/fabric/planned_parts.h"

namespace cupel::burnin {
namespace {

using Ends = std::pair<PortId, PortId>;

std::set<Ends> ends_of(const LinkLook& look) {
  std::set<Ends> ends;
  for (const auto& link : look.links) ends.emplace(link.from, link.to);
  return ends;
}

Medium medium_at(const LinkLook& look, const LookedLink& link) {
  for (const auto& port : {link.from, link.to})
    if (const auto report = look.reports.find(port); report != look.reports.end())
      if (const auto medium = medium_of(report->second.module.type); medium != Medium::unknown)
        return medium;
  return Medium::unknown;
}

class Judge {
 public:
  Judge(const LinkLook* before, const LinkLook& after, const inventory::Fabric* plan)
      : before_{before}, after_{after}, plan_{plan} {
    if (before) known_ = ends_of(*before);
  }

  LinkHealth judge() {
    std::multimap<std::size_t, LinkDefect> odd;
    for (auto& one : odd_links(after_)) odd.emplace(one.link, std::move(one.defect));
    if (plan_ != nullptr)
      for (auto& one : unplanned_parts(after_, *plan_))
        odd.emplace(one.link, std::move(one.defect));
    for (std::size_t i = 0; i < after_.links.size(); ++i) {
      auto opinion = opinion_of(after_.links[i]);
      const auto [first, last] = odd.equal_range(i);
      for (auto at = first; at != last; ++at) opinion.defects.push_back(at->second);
      add(after_.links[i], std::move(opinion));
    }
    add_lost();
    add_strays();
    return finished();
  }

 private:
  Opinion opinion_of(const LookedLink& link) {
    const bool fresh = before_ != nullptr && !known_.contains({link.from, link.to});
    const LinkCase one{.before = fresh ? nullptr : before_, .after = after_, .link = link};
    Opinion opinion;
    judge_optics(one, opinion);
    if (fresh)
      opinion.unassessed.emplace_back("counters: the link is not in the first look", link.from);
    else
      judge_counters(one, opinion);
    judge_ber(one, opinion);
    return opinion;
  }

  /// A link of the first look that is gone.
  void add_lost() {
    if (before_ == nullptr) return;
    const auto now = ends_of(after_);
    for (const auto& link : before_->links) {
      if (now.contains({link.from, link.to})) continue;
      Opinion opinion;
      opinion.defects.push_back({LinkFault::lost, "the link was there in the first look"});
      for (const auto& port : {link.from, link.to})
        if (const auto report = after_.reports.find(port);
            report != after_.reports.end() && !report->second.recommendation.empty())
          opinion.defects.push_back(
              {LinkFault::not_active, to_string(port) + ": " + report->second.recommendation});
      add(link, std::move(opinion));
    }
  }

  /// What tools said of ports that no link has: a name that is written otherwise must not pass for
  /// a port without errors.
  void add_strays() {
    std::set<PortId> linked;
    std::set<std::pair<std::string, std::string>> devices;
    for (const auto* look : {before_, &after_})
      if (look != nullptr)
        for (const auto& link : look->links)
          for (const auto& port : {link.from, link.to}) {
            linked.insert(port);
            devices.emplace(port.device, port.hca);
          }
    // A port without a cable may have counted long ago.
    for (const auto& [port, counters] : after_.counters) {
      if (devices.contains({port.device, port.hca})) continue;
      unassessed_["counters of a device that is not among the links"].insert(port);
      Opinion opinion;
      const LookedLink alone{.from = port, .to = {}};
      list_counters({.before = before_, .after = after_, .link = alone}, port, opinion);
      keep_listed(opinion);
    }
    for (const auto& [port, report] : after_.reports)
      if (!linked.contains(port)) add_stray(port, report);
  }

  void add_stray(const PortId& port, const MlxlinkReport& report) {
    constexpr std::string_view kActive = "Active";
    const LookedLink link{.from = port, .to = {}};
    Opinion opinion;
    if (report.state == kActive) {
      unassessed_["BER and counters: the port is not among the links"].insert(port);
      judge_optics({.before = before_, .after = after_, .link = link}, opinion);
      if (!opinion.defects.empty()) add(link, std::move(opinion));
      return;
    }
    opinion.defects.push_back(
        {LinkFault::not_active, "state " + report.state + ": " + report.recommendation});
    add(link, std::move(opinion));
  }

  void add(const LookedLink& link, Opinion opinion) {
    ++health_.links;
    for (auto& [reason, port] : opinion.unassessed) unassessed_[reason].insert(port);
    keep_listed(opinion);
    if (opinion.defects.empty()) return;
    std::ranges::stable_sort(opinion.defects, {}, &LinkDefect::fault);
    auto repair = steps_of(link, opinion.defects, medium_at(after_, link));
    health_.findings.push_back({link, std::move(opinion.defects), std::move(repair)});
  }

  void keep_listed(Opinion& opinion) {
    for (auto& line : opinion.listed)
      if (++listed_ <= kMostListed) health_.listed.push_back(std::move(line));
  }

  LinkHealth finished() {
    if (listed_ > kMostListed)
      health_.listed.push_back(fmt::format("and {} more", listed_ - kMostListed));
    for (const auto& [reason, ports] : unassessed_)
      health_.unassessed.push_back({reason, {ports.begin(), ports.end()}});
    for (const auto* look : {before_, &after_})
      if (look != nullptr)
        for (const auto& doubt : look->doubts)
          if (std::ranges::find(health_.doubts, doubt) == health_.doubts.end())
            health_.doubts.push_back(doubt);
    return std::move(health_);
  }

  const LinkLook* before_;
  const LinkLook& after_;
  const inventory::Fabric* plan_;
  std::set<Ends> known_{};
  std::map<std::string, std::set<PortId>> unassessed_{};
  std::size_t listed_ = 0;
  LinkHealth health_{};
};

}  // namespace

std::optional<LinkFault> link_fault(std::string_view name) { return enum_of<LinkFault, '-'>(name); }

std::string_view to_string(LinkFault fault) { return enum_word<'-'>(fault); }

LinkHealth judge_links(const LinkLook* before, const LinkLook& after,
                       const inventory::Fabric* plan) {
  return Judge{before, after, plan}.judge();
}

}  // namespace cupel::burnin
