#include "inventory/cable_moves.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace cupel::inventory {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::size_t kImpossible = 1'000'000'000;  // a cost above that of any other choice

using ByEnd = std::unordered_map<CableEnd, std::size_t, CableEndHash>;

ByEnd by_end(std::span<const EndPair> pairs) {
  ByEnd found;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    found.try_emplace(pairs[i].one, i);
    found.try_emplace(pairs[i].other, i);
  }
  return found;
}

const CableEnd& other_end(const EndPair& pair, const CableEnd& end) {
  return pair.one == end ? pair.other : pair.one;
}

std::size_t look(const ByEnd& ends, const CableEnd& end) {
  const auto found = ends.find(end);
  return found == ends.end() ? kNone : found->second;
}

/// A link of a chain. What is planned for its left end leads to the right end of the link before,
/// or to a port without a link.
struct Linked {
  std::size_t link = 0;
  CableEnd left;
  CableEnd right;
};

struct Chain {
  std::vector<Linked> links{};
  /// Between link i - 1 and link i; the first and the last may be none. One more than links.
  std::vector<std::size_t> planned{};
  bool closed = false;  // the first and the last planned cable are one
};

class Planner {
 public:
  Planner(std::span<const EndPair> planned, std::span<const EndPair> links)
      : planned_{planned},
        links_{links},
        planned_at_{by_end(planned)},
        link_at_{by_end(links)},
        done_(links.size(), false) {}

  MovePlan make() {
    for (const auto& cable : planned_)
      for (const auto* end : {&cable.one, &cable.other})
        if (const auto link = look(link_at_, *end); link != kNone && !done_[link])
          plan(chain_from({link, *end, other_end(links_[link], *end)}));
    for (std::size_t i = 0; i < links_.size(); ++i)
      if (!done_[i]) made_.extra.push_back(i);
    std::vector<bool> reached(planned_.size(), false);
    for (const auto& group : made_.groups)
      for (const auto& step : group.steps) reached[step.planned] = true;
    for (std::size_t i = 0; i < planned_.size(); ++i)
      if (!reached[i]) made_.missing.push_back(i);
    std::ranges::sort(made_.extra);
    return std::move(made_);
  }

 private:
  /// Follows what is planned for an end until there is no link; adds to `links` and `planned`.
  /// True where it comes back to the first link.
  bool follow(CableEnd end, std::size_t first, std::vector<Linked>& links,
              std::vector<std::size_t>& planned) {
    while (true) {
      const auto cable = look(planned_at_, end);
      planned.push_back(cable);
      if (cable == kNone) return false;
      const auto& next = other_end(planned_[cable], end);
      const auto link = look(link_at_, next);
      if (link == kNone) return false;
      if (link == first) return true;
      done_[link] = true;
      links.push_back({link, next, other_end(links_[link], next)});
      end = links.back().right;
    }
  }

  Chain chain_from(Linked first) {
    Chain chain;
    done_[first.link] = true;
    std::vector<Linked> before, after;
    std::vector<std::size_t> planned_before, planned_after;
    chain.closed = follow(first.right, first.link, after, planned_after);
    if (chain.closed)
      planned_before.push_back(planned_after.back());
    else
      follow(first.left, first.link, before, planned_before);
    for (auto at = before.rbegin(); at != before.rend(); ++at)
      chain.links.push_back({at->link, at->right, at->left});
    chain.links.push_back(std::move(first));
    for (auto& each : after) chain.links.push_back(std::move(each));
    chain.planned.assign(planned_before.rbegin(), planned_before.rend());
    chain.planned.insert(chain.planned.end(), planned_after.begin(), planned_after.end());
    return chain;
  }

  /// Link i becomes the planned cable at its left, or at its right.
  PlugStep step_left(const Chain& chain, std::size_t i) const {
    const auto& [link, left, right] = chain.links[i];
    return {left, right, other_end(planned_[chain.planned[i]], left), chain.planned[i]};
  }
  PlugStep step_right(const Chain& chain, std::size_t i) const {
    const auto& [link, left, right] = chain.links[i];
    return {right, left, other_end(planned_[chain.planned[i + 1]], right), chain.planned[i + 1]};
  }

  /// Plugs at upper ends are moved rather than those at nodes.
  std::size_t cost_of(const PlugStep& step) const {
    if (step.at.at_switch() != step.expected.at_switch()) return kImpossible;
    return step.expected == planned_[step.planned].one ? 1 : 0;
  }
  std::size_t cost_left(const Chain& chain, std::size_t i) const {
    return chain.planned[i] == kNone ? kImpossible : cost_of(step_left(chain, i));
  }
  std::size_t cost_right(const Chain& chain, std::size_t i) const {
    return chain.planned[i + 1] == kNone ? kImpossible : cost_of(step_right(chain, i));
  }

  void plan(const Chain& chain) {
    const auto size = chain.links.size();
    const bool both = chain.planned.front() != kNone && chain.planned.back() != kNone;
    const bool none = chain.planned.front() == kNone && chain.planned.back() == kNone;
    if (chain.closed)
      plan_cycle(chain);
    else if (none)
      plan_surplus(chain);
    else if (both)
      plan_split(chain);
    else
      plan_at(chain, chain.planned.front() != kNone ? size : 0);
  }

  void give_up(const Chain& chain) {
    for (const auto& each : chain.links) made_.extra.push_back(each.link);
  }

  void plan_cycle(const Chain& chain) {
    const auto size = chain.links.size();
    std::size_t left = 0, right = 0;
    for (std::size_t i = 0; i < size; ++i) {
      left = std::min(kImpossible, left + cost_left(chain, i));
      right = std::min(kImpossible, right + cost_right(chain, i));
    }
    if (std::min(left, right) >= kImpossible) return give_up(chain);
    MoveGroup group{.cycle = true};
    for (std::size_t i = 0; i < size; ++i)
      group.steps.push_back(left <= right ? step_left(chain, i)
                                          : step_right(chain, (size - i) % size));
    made_.groups.push_back(std::move(group));
  }

  /// Links before `split` become the cables at their left, the others those at their right.
  void plan_at(const Chain& chain, std::size_t split) {
    const auto size = chain.links.size();
    for (std::size_t i = 0; i < size; ++i)
      if ((i < split ? cost_left(chain, i) : cost_right(chain, i)) >= kImpossible)
        return give_up(chain);
    MoveGroup left, right;
    for (std::size_t i = 0; i < split; ++i) left.steps.push_back(step_left(chain, i));
    for (auto i = size; i-- > split;) right.steps.push_back(step_right(chain, i));
    for (auto* group : {&left, &right})
      if (!group->steps.empty()) made_.groups.push_back(std::move(*group));
  }

  /// The place where it costs least: what is before it costs `before`, what is behind it `behind`.
  template <class Before, class Behind>
  static std::pair<std::size_t, std::size_t> cheapest(std::size_t size, std::size_t gap,
                                                      const Before& before, const Behind& behind) {
    std::vector<std::size_t> rest(size + 1, 0);
    for (auto i = size; i-- > 0;) rest[i] = std::min(kImpossible, rest[i + 1] + behind(i));
    std::size_t so_far = 0, best = kImpossible, at = 0;
    for (std::size_t i = 0; i + gap <= size; ++i) {
      const auto cost = std::min(kImpossible, so_far + rest[i + gap]);
      if (cost < best) {
        best = cost;
        at = i;
      }
      if (i < size) so_far = std::min(kImpossible, so_far + before(i));
    }
    return {at, best};
  }

  /// A planned cable more than there are links: one of them stays missing.
  void plan_split(const Chain& chain) {
    const auto [at, cost] = cheapest(
        chain.links.size(), 0, [&](auto i) { return cost_left(chain, i); },
        [&](auto i) { return cost_right(chain, i); });
    if (cost >= kImpossible) return give_up(chain);
    plan_at(chain, at);
  }

  /// A link more than planned cables: one of them is taken out.
  void plan_surplus(const Chain& chain) {
    const auto size = chain.links.size();
    const auto [at, cost] = cheapest(
        size, 1, [&](auto i) { return cost_right(chain, i); },
        [&](auto i) { return cost_left(chain, i); });
    if (cost >= kImpossible || size == 1) return give_up(chain);
    MoveGroup group{.unplug = {chain.links[at].link}};
    for (auto i = at; i-- > 0;) group.steps.push_back(step_right(chain, i));
    for (auto i = at + 1; i < size; ++i) group.steps.push_back(step_left(chain, i));
    made_.groups.push_back(std::move(group));
  }

  std::span<const EndPair> planned_;
  std::span<const EndPair> links_;
  ByEnd planned_at_, link_at_;
  std::vector<bool> done_;
  MovePlan made_{};
};

}  // namespace

MovePlan plan_moves(std::span<const EndPair> planned, std::span<const EndPair> links) {
  return Planner{planned, links}.make();
}

PlugModel::PlugModel(std::span<const EndPair> planned, std::span<const EndPair> links) {
  for (const auto& cable : planned) {
    planned_.try_emplace(cable.one, cable.other);
    planned_.try_emplace(cable.other, cable.one);
  }
  Plug plug = 0;
  for (const auto& link : links)
    for (const auto* end : {&link.one, &link.other}) ports_.try_emplace(*end, plug++);
}

bool PlugModel::is_right(const CableEnd& end, const Ports& ports) const {
  const auto plug = ports.find(end);
  const auto expected = planned_.find(end);
  if (plug == ports.end() || expected == planned_.end()) return false;
  const auto there = ports.find(expected->second);
  return there != ports.end() && there->second == (plug->second ^ 1U);
}

bool PlugModel::make(const CableMove& move, Ports& ports) const {
  // The plug is the other one of the cable in `cable`; in the hand it is in no port.
  const auto stays = ports.find(move.cable);
  if (!move.from) {
    return stays != ports.end() && move.to &&
           ports.try_emplace(*move.to, stays->second ^ 1U).second;
  }
  const auto at = ports.find(*move.from);
  if (at == ports.end() || (stays != ports.end() && stays->second != (at->second ^ 1U)))
    return false;
  const auto plug = at->second;
  ports.erase(at);
  return !move.to || ports.try_emplace(*move.to, plug).second;
}

bool PlugModel::improves(std::span<const CableMove> moves) {
  std::unordered_set<CableEnd, CableEndHash> touched;
  for (const auto& move : moves)
    for (const auto& end : {std::optional{move.cable}, move.from, move.to})
      if (end) touched.insert(*end);
  Ports local;
  const auto take = [&](const CableEnd& end) {
    if (const auto there = ports_.find(end); there != ports_.end()) local.insert(*there);
  };
  for (const auto& end : touched) {
    take(end);
    if (const auto expected = planned_.find(end); expected != planned_.end())
      take(expected->second);
  }
  auto changed = local;
  for (const auto& move : moves)
    if (!make(move, changed)) return false;
  std::size_t before = 0, after = 0;
  for (const auto& end : touched) {
    const bool was = is_right(end, local), is = is_right(end, changed);
    if (was && !is) return false;
    before += was ? 1 : 0;
    after += is ? 1 : 0;
  }
  if (after <= before) return false;
  for (const auto& [end, plug] : local) ports_.erase(end);
  ports_.insert(changed.begin(), changed.end());
  return true;
}

}  // namespace cupel::inventory
