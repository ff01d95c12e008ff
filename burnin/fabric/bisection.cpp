#include "burnin/fabric/bisection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "inventory/node_range.h"

namespace cupel::burnin::fabric {
namespace {

// Healthy NDR ports give 46 to 49 GB/s, 6 % apart: twice that, as the criterion for nccl.loss.
// Source: NVIDIA/nccl-tests#290 and #267.
constexpr double kSlow = 0.12, kPercent = 100;
constexpr std::size_t kLeast = 4;  // nodes: a half has two
// Thousands of nodes have thousands of halves, and each node's record has the words on its group.
constexpr std::size_t kMostReasons = 200, kLongestNames = 200;

}  // namespace

Bisection::Bisection(std::vector<std::string> nodes, double floor)
    : names_{std::move(nodes)}, floor_{floor}, left_(names_.size()) {}

std::string Bisection::named(const std::vector<std::size_t>& nodes) const {
  std::vector<std::string> names;
  for (const auto node : nodes) names.push_back(names_[node]);
  return shortened(inventory::fold(names), kLongestNames);
}

void Bisection::say(std::string reason) {
  if (reasons_.size() < kMostReasons) reasons_.push_back(std::move(reason));
}

void Bisection::leave(std::size_t node) { left_[node] = true; }

void Bisection::give_up(std::string why) {
  say(std::move(why));
  groups_.clear();
}

void Bisection::suspect(Kind kind, const std::vector<std::size_t>& nodes, double loss,
                        std::string why) {
  if (nodes.empty()) return;
  say(why);
  suspicions_.push_back({kind, nodes, loss, std::move(why)});
}

std::vector<std::vector<std::size_t>> Bisection::next() {
  std::vector<std::vector<std::size_t>> teams;
  if (!began_) {
    began_ = true;
    auto& all = teams.emplace_back();
    for (std::size_t node = 0; node < names_.size(); ++node)
      if (!left_[node]) all.push_back(node);
    if (all.size() < 2) teams.clear();
    return teams;
  }
  plan();
  for (const auto& half : halves_) teams.push_back(half.team);
  if (!halves_.empty() && !standard_.empty()) teams.push_back(standard_);
  return teams;
}

void Bisection::take(std::span<const double> rates) {
  ++rounds_;
  if (halves_.empty()) return take_all(rates.empty() ? 0 : rates[0]);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    best_[size_] = std::max(best_[size_], rates[i]);
    if (i < halves_.size()) halves_[i].rate = rates[i];
  }
  take_halves();
}

void Bisection::take_all(double rate) {
  all_ = rate;
  std::vector<std::size_t> all;
  for (std::size_t node = 0; node < names_.size(); ++node)
    if (!left_[node]) all.push_back(node);
  if (rate <= 0) {
    say("not bisected: the collective over all nodes did not come to its end");
  } else if (floor_ > 0 && rate >= floor_) {
    say(fmt::format("not bisected: {:.1f} GB/s over all {} nodes, and {:.1f} are expected", rate,
                    all.size(), floor_));
    fast_ = all;
  } else if (all.size() >= kLeast) {
    groups_ = {{all, rate}};
  } else if (floor_ > 0) {
    suspect(Kind::undecided, all, 1 - rate / floor_,
            fmt::format("{}: {:.1f} GB/s, and {:.1f} are expected: {} nodes are too few to halve",
                        named(all), rate, floor_, all.size()));
  } else {
    say(fmt::format("not bisected: {} nodes are too few to halve", all.size()));
  }
}

void Bisection::split(std::size_t group) {
  const auto& nodes = groups_[group].nodes;
  const auto middle = nodes.begin() + static_cast<std::ptrdiff_t>((nodes.size() + 1) / 2);
  for (const auto& own : {std::vector(nodes.begin(), middle), std::vector(middle, nodes.end())})
    halves_.push_back({.group = group, .own = own, .team = own});
}

/// With fast nodes, as long as there are any. Those that cannot do without come first.
void Bisection::fill_up(std::vector<std::size_t> spare) {
  auto next = spare.begin();
  for (const std::size_t size : {std::size_t{2}, size_})
    for (auto& half : halves_)
      while (half.team.size() < size && next != spare.end()) half.team.push_back(*next++);
  if (static_cast<std::size_t>(spare.end() - next) >= size_)
    standard_.assign(next, next + static_cast<std::ptrdiff_t>(size_));
}

void Bisection::plan() {
  halves_.clear();
  standard_.clear();
  for (auto& group : std::exchange(waiting_, {})) groups_.push_back(std::move(group));
  for (auto& group : groups_)
    std::erase_if(group.nodes, [this](std::size_t node) { return left_[node]; });
  std::erase_if(groups_, [](const Group& group) { return group.nodes.empty(); });
  if (rounds_ >= kMostRounds)
    for (const auto& group : std::exchange(groups_, {}))
      suspect(Kind::undecided, group.nodes, 0,
              fmt::format("{}: not distinguished within {} rounds", named(group.nodes), rounds_));
  std::vector<std::size_t> spare;
  for (const auto node : fast_)
    if (!left_[node]) spare.push_back(node);
  // A half of one node needs a fast one to run with: who finds none waits for the others' halves.
  std::erase_if(groups_, [&, free = spare.size()](const Group& group) mutable {
    const std::size_t needed = group.nodes.size() >= kLeast ? 0 : 4 - group.nodes.size();
    if (needed > free) waiting_.push_back(group);
    if (needed > free) return true;
    free -= needed;
    return false;
  });
  if (groups_.empty()) return give_up_waiting();
  size_ = 2;
  for (const auto& group : groups_) size_ = std::max(size_, (group.nodes.size() + 1) / 2);
  for (std::size_t group = 0; group < groups_.size(); ++group) split(group);
  fill_up(std::move(spare));
}

void Bisection::give_up_waiting() {
  const auto groups = std::exchange(waiting_, {});
  if (groups.empty()) return;
  if (fast_.empty() && floor_ > 0) {
    std::vector<std::size_t> nodes;
    for (const auto& group : groups)
      nodes.insert(nodes.end(), group.nodes.begin(), group.nodes.end());
    return suspect(
        Kind::alike, nodes, 1 - all_ / floor_,
        fmt::format("{}: {:.1f} GB/s together, and {:.1f} are expected; every half is as "
                    "slow",
                    named(nodes), all_, floor_));
  }
  for (const auto& group : groups)
    suspect(Kind::undecided, group.nodes, 0,
            fmt::format("{}: {:.1f} GB/s together, and no fast node is left to tell them apart",
                        named(group.nodes), group.rate));
}

void Bisection::take_halves() {
  const double usual = best_[size_];
  for (const auto& half : halves_)
    say(fmt::format(
        "bisected: {} of {}{}: {:.1f} GB/s; the best team of {} nodes "
        "reaches {:.1f}",
        named(half.own), named(groups_[half.group].nodes),
        half.own.size() == half.team.size() ? "" : ", with fast nodes", half.rate, size_, usual));
  std::vector<Group> next;
  for (std::size_t i = 0; i + 1 < halves_.size(); i += 2)
    judge(groups_[halves_[i].group], halves_[i], halves_[i + 1], usual, next);
  groups_ = std::move(next);
}

void Bisection::judge(const Group& group, const Half& one, const Half& other, double usual,
                      std::vector<Group>& next) {
  if (one.rate <= 0 || other.rate <= 0)
    return suspect(Kind::undecided, group.nodes, 0,
                   fmt::format("{}: {:.1f} GB/s together, and a half of them did not come to its "
                               "end",
                               named(group.nodes), group.rate));
  const auto is_slow = [usual](const Half& half) { return half.rate < (1 - kSlow) * usual; };
  const double worse = std::min(one.rate, other.rate);
  if (!is_slow(one) && !is_slow(other)) {
    if (floor_ > 0 && std::max(one.rate, other.rate) < floor_) {
      next.push_back({one.own, one.rate});
      next.push_back({other.own, other.rate});
      return;
    }
    // Over two nodes NCCL's trees reach more than over several: no loss of these.
    const bool compares = floor_ > 0 || one.own.size() > 2 || rounds_ > 2;
    if (compares && group.rate < (1 - kSlow) * worse)
      suspect(Kind::together, group.nodes, 1 - group.rate / worse,
              fmt::format("{}: {:.1f} GB/s together, and {} and {} apart reach {:.1f} and {:.1f}",
                          named(group.nodes), group.rate, named(one.own), named(other.own),
                          one.rate, other.rate));
    for (const auto* half : {&one, &other})
      fast_.insert(fast_.end(), half->own.begin(), half->own.end());
    return;
  }
  for (const auto* half : {&one, &other}) {
    if (!is_slow(*half))
      fast_.insert(fast_.end(), half->own.begin(), half->own.end());
    else if (half->own.size() > 1)
      next.push_back({half->own, half->rate});
    else
      suspect(Kind::node, half->own, 1 - half->rate / usual,
              fmt::format("{}: {:.1f} GB/s with fast nodes, {:.0f} % below the best team of {} "
                          "nodes",
                          named(half->own), half->rate, kPercent * (1 - half->rate / usual),
                          half->team.size()));
  }
}

}  // namespace cupel::burnin::fabric
