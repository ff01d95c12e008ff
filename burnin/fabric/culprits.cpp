#include "burnin/fabric/culprits.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace cupel::burnin::fabric {
namespace {

// In nats. Among 500,000 parts one by chance in a thousand runs: ln(5e8) = 20.
constexpr float kBeyondDoubt = 24, kWorthATest = 8;
constexpr float kAlike = 6;  // apart by less than e^6: the same flows
/// Of one flow. One reading has 5 at most (limits.cpp): it takes two.
constexpr double kSlowTwice = 8;

class Search {
 public:
  Search(const Topology& topology, const Readings& readings, double noise)
      : topology_{topology},
        readings_{readings},
        slack_{std::max(3 * noise, 0.02)},
        scores_{readings.scores()} {
    for (FlowId id = 0; id < readings.size(); ++id)
      if (readings.evidence(id) > 0) left_.push_back(id);
  }

  Culprits run() {
    Culprits found;
    while (!left_.empty()) {
      const auto best = std::ranges::max_element(scores_);
      if (*best < kWorthATest) break;
      auto suspicion = suspect(static_cast<PartId>(best - scores_.begin()));
      const bool one = suspicion.parts.size() == 1 && suspicion.score >= kBeyondDoubt;
      (one ? found.named : found.open).push_back(std::move(suspicion));
    }
    std::ranges::copy_if(left_, std::back_inserter(found.unexplained), [&](FlowId id) {
      return readings_.evidence(id) >= kSlowTwice && !accused_of(id);
    });
    leave_out_fast(found.unexplained);
    count_flows(found);
    return found;
  }

 private:
  bool crosses(FlowId id, PartId part) const {
    return std::ranges::find(readings_.parts(id), part) != readings_.parts(id).end();
  }
  bool accused_of(FlowId id) const {
    return std::ranges::any_of(readings_.parts(id), [&](PartId part) {
      return scores_[part] == -std::numeric_limits<float>::infinity();
    });
  }

  /// What dips by itself is fast when it is measured again.
  void leave_out_fast(std::vector<FlowId>& slow) const {
    if (slow.empty()) return;
    const auto key_of = [&](FlowId id) {
      const auto& flow = readings_.flow(id);
      return std::tuple{flow.from, flow.to, flow.rail};
    };
    std::map<std::tuple<int, int, int>, bool> left_out;
    for (const auto id : slow) left_out.try_emplace(key_of(id), false);
    for (FlowId id = 0; id < readings_.size(); ++id) {
      if (readings_.count(id) == 0 || readings_.evidence(id) > 0) continue;
      if (const auto at = left_out.find(key_of(id)); at != left_out.end()) at->second = true;
    }
    std::erase_if(slow, [&](FlowId id) { return std::exchange(left_out.at(key_of(id)), true); });
  }

  Suspicion suspect(PartId best) {
    std::vector<FlowId> mine;
    std::ranges::copy_if(left_, std::back_inserter(mine),
                         [&](FlowId id) { return crosses(id, best); });
    Suspicion found;
    found.score = scores_[best];
    found.parts = alike(best, mine);
    found.level = level_of(mine);
    explain(found);
    return found;
  }

  /// Those on every one of these flows that no other flow speaks for or against. Of a link and its
  /// direction it is the one that more flows speak for.
  std::vector<PartId> alike(PartId best, const std::vector<FlowId>& mine) const {
    std::map<PartId, std::size_t> on;
    for (const auto id : mine)
      for (const auto part : readings_.parts(id))
        if (scores_[part] >= scores_[best] - kAlike) ++on[part];
    std::map<PartId, PartId> chosen;  // by the link as a whole
    for (const auto& [part, count] : on) {
      if (count != mine.size() && part != best) continue;
      const auto whole = topology_.whole(part);
      const auto [at, added] = chosen.try_emplace(whole, part);
      if (!added && scores_[part] > scores_[at->second]) at->second = part;
    }
    std::vector<PartId> parts;
    for (const auto& [whole, part] : chosen) parts.push_back(part);
    return parts;
  }

  double level_of(const std::vector<FlowId>& mine) const {
    if (mine.empty()) return 1;
    std::vector<double> best;
    for (const auto id : mine) best.push_back(readings_.best(id));
    const auto upper = best.begin() + static_cast<std::ptrdiff_t>(best.size() * 3 / 4);
    std::ranges::nth_element(best, upper);
    return *upper;
  }

  void explain(const Suspicion& by) {
    for (const auto part : by.parts) {
      scores_[topology_.whole(part)] = -std::numeric_limits<float>::infinity();
      scores_[part] = -std::numeric_limits<float>::infinity();
    }
    std::erase_if(left_, [&](FlowId id) {
      if (readings_.best(id) < by.level - slack_) return false;
      if (std::ranges::none_of(by.parts, [&](PartId part) { return crosses(id, part); }))
        return false;
      for (const auto part : readings_.parts(id))
        scores_[part] -= static_cast<float>(readings_.evidence(id));
      return true;
    });
  }

  /// For people, and once: it reads all flows.
  void count_flows(Culprits& found) const {
    std::vector<std::pair<PartId, Suspicion*>> of;
    for (auto* all : {&found.named, &found.open})
      for (auto& each : *all) of.emplace_back(each.parts.front(), &each);
    if (of.empty()) return;
    std::vector<bool> wanted(topology_.part_count());
    for (const auto& [part, suspicion] : of) wanted[part] = true;
    for (FlowId id = 0; id < readings_.size(); ++id)
      for (const auto crossed : readings_.parts(id)) {
        if (!wanted[crossed]) continue;
        const auto at = std::ranges::find(of, crossed, &std::pair<PartId, Suspicion*>::first);
        ++(readings_.evidence(id) > 0 ? at->second->slow : at->second->fast);
      }
  }

  const Topology& topology_;
  const Readings& readings_;
  double slack_;
  std::vector<float> scores_;
  std::vector<FlowId> left_;  // slow, and not explained
};

}  // namespace

Culprits find_culprits(const Topology& topology, const Readings& readings, double noise) {
  return Search{topology, readings, noise}.run();
}

}  // namespace cupel::burnin::fabric
