#include "burnin/fabric/culprits.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "burnin/fabric/dips.h"

namespace cupel::burnin::fabric {
namespace {

// In nats. Among 500,000 parts one by chance in a thousand runs: ln(5e8) = 20.
constexpr float kBeyondDoubt = 24, kWorthATest = 8;
constexpr float kAlike = 6;  // apart by less than e^6: the same flows
/// Of one flow. One reading has 5 at most (limits.cpp): it takes two.
constexpr double kSlowTwice = 8;
/// A flow that is clearly fast, and what such flows over a part say together where none of them can
/// be chance: a flow of a slow part reads as fast as this once in e^8 times.
constexpr float kClearlyFast = -4, kCleared = -8;
/// Of parts that come and go, what is left in doubt: rarer by chance than once in millions of
/// runs, since parts with less were measured more often and did not dip again.
constexpr float kDipsInDoubt = 18;

constexpr float kSettled = -std::numeric_limits<float>::infinity();

class Search {
 public:
  explicit Search(const Readings& readings)
      : topology_{readings.topology()},
        readings_{readings},
        scores_(topology_.part_count(), 0.0F),
        fast_(topology_.part_count(), 0.0F),
        against_(topology_.part_count(), 0.0F),
        explained_(readings.size()) {
    for (const auto& each : readings.limits()) slack_ = std::max(slack_, 3 * each.noise);
    for (FlowId id = 0; id < readings.size(); ++id) {
      const auto evidence = static_cast<float>(readings.evidence(id));
      if (evidence > 0) left_.push_back(id);
      const float score = evidence > 0 && !speaks(id) ? 0 : evidence;
      const bool clears_leaf = evidence > 0 || speaks(id) || is_fast_inside(id);
      for (const auto part : readings.parts(id)) {
        if (evidence < 0) against_[part] += evidence;
        if (!clears_leaf && is_of_a_leaf(part)) continue;
        scores_[part] += score;
        if (evidence <= kClearlyFast) fast_[part] += evidence;
      }
    }
  }

  Culprits run() {
    while (!left_.empty()) {
      const auto best = best_part();
      if (scores_[best] < kWorthATest) break;
      if (is_cleared(best))
        scores_[best] = kSettled;
      else
        put(suspect(best, [this](FlowId id) { return speaks(id); }));
    }
    find_parts_without_known_routes();
    find_who_comes_and_goes();
    name_no_multitude();
    std::ranges::copy_if(left_, std::back_inserter(found_.unexplained), [&](FlowId id) {
      return readings_.evidence(id) >= kSlowTwice && !is_accused(id);
    });
    leave_out_fast(found_.unexplained);
    count_flows();
    return std::move(found_);
  }

 private:
  bool speaks(FlowId id) const { return topology_.knows_parts(readings_.flow(id)); }
  /// Nodes, links and leaves: what flows inside a leaf cross.
  bool is_of_a_leaf(PartId part) const {
    const auto kind = topology_.part(part).kind;
    return kind != PartKind::uplink && kind != PartKind::spine;
  }
  /// Where hashes collide, or uplinks are few, a flow across may be as fast as its like and slower
  /// than what a slow leaf lets through: it clears what it crosses of its leaves only if it would
  /// be fast inside one.
  bool is_fast_inside(FlowId id) const {
    if (readings_.kind(id) == 0) return true;
    const auto& [inside, across] = readings_.limits();
    return readings_.best(id) * across.usual >= inside.limit();
  }
  bool is_cleared(PartId part) const { return fast_[part] <= kCleared; }
  PartId best_part() const {
    return static_cast<PartId>(std::ranges::max_element(scores_) - scores_.begin());
  }
  bool crosses(FlowId id, PartId part) const {
    return std::ranges::find(readings_.parts(id), part) != readings_.parts(id).end();
  }
  bool is_accused(FlowId id) const {
    return std::ranges::any_of(readings_.parts(id),
                               [&](PartId part) { return accused_.contains(part); });
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

  void put(Suspicion suspicion) {
    const bool several = has_several_pairs(suspicion.parts.front());
    explain(suspicion);
    const bool one = several && suspicion.parts.size() == 1 && suspicion.score >= kBeyondDoubt;
    const bool sure = one && suspicion.level < 1 - sure_of(suspicion.parts.front()) &&
                      !is_contradicted(suspicion.parts.front(), suspicion.score);
    (sure ? found_.named : found_.open).push_back(std::move(suspicion));
  }

  /// Of an uplink or a spine: of one pair of nodes the route may be read wrongly, and what is slow
  /// may lie between the two.
  bool has_several_pairs(PartId part) const {
    const auto kind = topology_.part(part).kind;
    if (kind != PartKind::uplink && kind != PartKind::spine) return true;
    std::set<std::pair<int, int>> pairs;
    for (const auto id : left_) {
      if (!speaks(id) || !crosses(id, part)) continue;
      pairs.insert(std::minmax({readings_.flow(id).from, readings_.flow(id).to}));
      if (pairs.size() > 1) return true;
    }
    return false;
  }

  /// What little speaks against it is more than chance would have it.
  bool is_contradicted(PartId part, double score) const {
    constexpr double kLittle = 4, kShare = 0.1;
    const double against = -static_cast<double>(against_[part]);
    return against > std::max(kLittle, kShare * (score + against));
  }

  double sure_of(PartId part) const {
    const auto kind = topology_.part(part).kind;
    const bool across = kind == PartKind::uplink || kind == PartKind::spine;
    return readings_.limits()[across ? 1 : 0].sure;
  }

  template <class Counts>
  Suspicion suspect(PartId best, const Counts& counts) const {
    std::vector<FlowId> mine;
    std::ranges::copy_if(left_, std::back_inserter(mine),
                         [&](FlowId id) { return counts(id) && crosses(id, best); });
    Suspicion found;
    found.score = scores_[best];
    found.parts = alike(best, mine);
    found.level = level_of(mine);
    return found;
  }

  /// Those on every one of these flows that no other flow speaks for or against. Of a link and its
  /// direction it is the one that more flows speak for.
  std::vector<PartId> alike(PartId best, const std::vector<FlowId>& mine) const {
    std::map<PartId, std::size_t> on;
    for (const auto id : mine)
      for (const auto part : readings_.parts(id))
        if (scores_[part] >= scores_[best] - kAlike && !is_cleared(part)) ++on[part];
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
    auto levels = readings_.middles(mine);
    if (levels.empty()) return 1;
    const auto upper = levels.begin() + static_cast<std::ptrdiff_t>(levels.size() * 3 / 4);
    std::ranges::nth_element(levels, upper);
    return *upper;
  }

  void explain(const Suspicion& by) {
    for (const auto part : by.parts)
      for (const auto each : {part, topology_.whole(part)}) {
        scores_[each] = kSettled;
        accused_.insert(each);
      }
    slow_parts_.push_back({by.parts, by.level});
    std::erase_if(left_, [&](FlowId id) {
      if (!crosses_any(id, by.parts) || readings_.best(id) < left_by_slow_parts(id) - slack_)
        return false;
      explained_[id] = true;
      if (!speaks(id)) return true;
      for (const auto part : readings_.parts(id))
        scores_[part] -= static_cast<float>(readings_.evidence(id));
      return true;
    });
  }

  /// A node alone at its leaf has no flow whose route is known: where each of its flows is slow, it
  /// is in doubt, and the others are not. Never more than that.
  void find_parts_without_known_routes() {
    constexpr std::size_t kLeastFlows = 3;
    constexpr float kAnyFast = -2;
    std::ranges::fill(scores_, 0.0F);
    std::vector<std::uint32_t> slow(scores_.size());
    for (const auto id : left_)
      for (const auto part : readings_.parts(id)) {
        if (accused_.contains(part)) continue;
        scores_[part] += static_cast<float>(readings_.evidence(id));
        ++slow[part];
      }
    for (;;) {
      const auto best = best_part();
      if (scores_[best] < kBeyondDoubt) return;
      if (slow[best] < kLeastFlows || against_[best] < kAnyFast) {
        scores_[best] = kSettled;
        continue;
      }
      auto suspicion = suspect(best, [](FlowId) { return true; });
      explain_all(suspicion);
      found_.open.push_back(std::move(suspicion));
    }
  }

  bool crosses_any(FlowId id, const std::vector<PartId>& parts) const {
    return std::ranges::any_of(parts, [&](PartId part) { return crosses(id, part); });
  }

  /// The share of the usual rate that the slow parts found so far leave this flow. Over two of them
  /// it may be slower than over either: what one loses or delays comes on top of the other.
  double left_by_slow_parts(FlowId id) const {
    double level = 1;
    for (const auto& [parts, each] : slow_parts_)
      if (crosses_any(id, parts)) level *= each;
    return level;
  }

  void explain_all(const Suspicion& by) {
    accused_.insert(by.parts.begin(), by.parts.end());
    for (const auto part : by.parts) scores_[part] = kSettled;
    std::erase_if(left_, [&](FlowId id) {
      if (!crosses_any(id, by.parts)) return false;
      explained_[id] = true;
      for (const auto part : readings_.parts(id))
        scores_[part] -= static_cast<float>(readings_.evidence(id));
      return true;
    });
  }

  void find_who_comes_and_goes() {
    constexpr int kMost = 64;  // of a fleet
    Dips dips{readings_, explained_, true};
    for (int i = 0; i < kMost; ++i) {
      const auto& scores = dips.scores();
      const auto best = static_cast<PartId>(std::ranges::max_element(scores) - scores.begin());
      if (scores.empty() || scores[best] < kDipsInDoubt) return;
      Suspicion found{.score = scores[best]};
      for (PartId part = 0; part < scores.size(); ++part)
        if (part == best ||
            (scores[part] >= scores[best] - kAlike &&
             topology_.whole(part) != topology_.whole(best) && dips.covers(best, part)))
          found.parts.push_back(part);
      const auto count = dips.of(best);
      found.level = count.level;
      found.dips = count.dips;
      found.readings = count.readings;
      for (const auto part : found.parts) {
        accused_.insert(part);
        accused_.insert(topology_.whole(part));
        dips.explain(part);
      }
      const bool one = found.parts.size() == 1 && found.score >= kBeyondDoubt;
      (one ? found_.named : found_.open).push_back(std::move(found));
    }
  }

  /// Where many nodes would be to blame, it is no part of them: the fleet is of two kinds, or what
  /// is usual was not learned. None of them is beyond doubt then.
  void name_no_multitude() {
    constexpr std::size_t kFew = 5, kOneOf = 4;
    std::set<int> nodes;
    const auto of_node = [&](const Suspicion& each) {
      const auto part = topology_.part(each.parts.front());
      const bool is = part.kind == PartKind::node || part.kind == PartKind::access;
      if (is) nodes.insert(part.owner);
      return is;
    };
    for (const auto& each : found_.named) of_node(each);
    const auto all = static_cast<std::size_t>(std::max(topology_.wiring().nodes, 0));
    if (nodes.size() <= std::max(kFew, all / kOneOf)) return;
    const auto doubted = std::ranges::stable_partition(
        found_.named, [&](const Suspicion& each) { return !of_node(each); });
    std::ranges::move(doubted, std::back_inserter(found_.open));
    found_.named.erase(doubted.begin(), doubted.end());
  }

  /// For people, and once: it reads all flows.
  void count_flows() {
    if (found_.named.empty() && found_.open.empty()) return;
    std::vector<Suspicion*> of(topology_.part_count());
    for (auto* all : {&found_.named, &found_.open})
      for (auto& each : *all)
        if (auto& first = of[each.parts.front()]; first == nullptr) first = &each;
    for (FlowId id = 0; id < readings_.size(); ++id)
      for (const auto crossed : readings_.parts(id))
        if (auto* each = of[crossed]; each != nullptr)
          ++(readings_.evidence(id) > 0 ? each->slow : each->fast);
  }

  const Topology& topology_;
  const Readings& readings_;
  double slack_ = 0.02;
  std::vector<float> scores_;
  std::vector<float> fast_;     // of clearly fast flows alone
  std::vector<float> against_;  // of all that are fast
  std::vector<FlowId> left_;    // slow, and not explained
  std::vector<bool> explained_;
  std::set<PartId> accused_;
  std::vector<std::pair<std::vector<PartId>, double>> slow_parts_{};  // with what they leave
  Culprits found_;
};

}  // namespace

Culprits find_culprits(const Readings& readings) { return Search{readings}.run(); }

std::vector<float> dip_scores(const Readings& readings, bool known_routes) {
  return Dips{readings, std::vector<bool>(readings.size()), known_routes}.scores();
}

}  // namespace cupel::burnin::fabric
