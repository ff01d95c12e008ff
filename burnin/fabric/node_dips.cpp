#include "burnin/fabric/node_dips.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace cupel::burnin::fabric {
namespace {

constexpr double kSure = 1.0 / 50000, kOpen = 1.0 / 100;  // by chance, of all nodes of a run
constexpr int kLeastDips = 3, kLeastForSure = 4;
constexpr std::size_t kMostSuspects = 64;
// What is taken for seen before a team has run: one reading in twenty dips. Readings that never
// dipped may.
constexpr double kDipsBefore = 1, kReadingsBefore = 20, kLeastShare = 0.01;
constexpr double kPercent = 100;

/// That of so many readings so many or more dip.
double chance_of(int readings, int dips, double share) {
  double sum = 0;
  for (int k = dips; k <= readings; ++k) {
    const double ways =
        std::lgamma(readings + 1.0) - std::lgamma(k + 1.0) - std::lgamma(readings - k + 1.0);
    sum += std::exp(ways + k * std::log(share) + (readings - k) * std::log1p(-share));
  }
  return std::min(sum, 1.0);
}

}  // namespace

void NodeDips::add(std::vector<std::size_t> team, double loss) {
  teams_.push_back({std::move(team), loss});
}

bool NodeDips::has_any(const Team& team, const std::vector<bool>& nodes) const {
  return std::ranges::any_of(team.nodes, [&](std::size_t node) { return nodes[node]; });
}

std::size_t NodeDips::slow_teams(const std::vector<bool>& is_explained) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      teams_, [&](const Team& team) { return team.loss > 0 && !has_any(team, is_explained); }));
}

NodeDips::Suspect NodeDips::most_certain(const std::vector<bool>& is_explained) const {
  std::vector<Suspect> nodes(is_explained.size());
  int readings = 0, dips = 0;
  for (const auto& team : teams_) {
    if (has_any(team, is_explained)) continue;
    const int slow = team.loss > 0 ? 1 : 0;
    ++readings;
    dips += slow;
    for (const auto node : team.nodes) {
      ++nodes[node].readings;
      nodes[node].dips += slow;
      nodes[node].loss += team.loss;
    }
  }
  Suspect found;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    auto& one = nodes[node];
    if (one.dips < kLeastDips) continue;
    one.node = node;
    one.usual = (dips - one.dips + kDipsBefore) / (readings - one.readings + kReadingsBefore);
    const double share = std::clamp(one.usual, kLeastShare, 1 - kLeastShare);
    const auto all = static_cast<double>(nodes.size());
    const double by_chance = all * chance_of(one.readings, one.dips, share);
    if (by_chance >= found.chance) continue;
    found = one;
    found.chance = by_chance;
    found.loss /= one.dips;
    found.is_sure = by_chance < kSure && one.dips >= kLeastForSure;
  }
  return found;
}

bool NodeDips::is_any_odd(const std::vector<bool>& is_explained) const {
  return most_certain(is_explained).chance < 1;
}

/// Whether it was slow beside certain other nodes alone: what joins them may be slow then, and the
/// others are slow as often, or it is one alone. These were never fast beside it, and its slow
/// teams have one of them, but for a few: any reading may dip.
bool NodeDips::may_be_of_others(const Suspect& suspect,
                                const std::vector<bool>& is_explained) const {
  constexpr double kAlike = 0.5;
  constexpr int kOften = 3;
  struct Other {
    bool was_fast = false;       // beside it
    int beside = 0;              // so often
    int readings = 0, dips = 0;  // without it
  };
  std::vector<Other> others(is_explained.size());
  std::vector<const Team*> slow;
  for (const auto& team : teams_) {
    if (has_any(team, is_explained)) continue;
    const bool beside = std::ranges::find(team.nodes, suspect.node) != team.nodes.end();
    if (beside && team.loss > 0) slow.push_back(&team);
    for (const auto node : team.nodes) {
      auto& other = others[node];
      other.was_fast = other.was_fast || (beside && team.loss <= 0);
      other.beside += beside ? 1 : 0;
      if (beside) continue;
      ++other.readings;
      other.dips += team.loss > 0 ? 1 : 0;
    }
  }
  const double least = kAlike * suspect.dips / suspect.readings;
  const auto explains = [&](std::size_t node) {
    const auto& other = others[node];
    const bool is_alike = other.dips > 0 && other.dips >= least * other.readings;
    return node != suspect.node && !other.was_fast && (is_alike || other.beside >= kOften);
  };
  const auto left = std::ranges::count_if(
      slow, [&](const Team* team) { return std::ranges::none_of(team->nodes, explains); });
  return left < kLeastDips;
}

std::vector<NodeDips::Suspect> NodeDips::suspects(std::vector<bool> is_explained) const {
  std::vector<Suspect> all;
  const auto before = is_explained;
  while (all.size() < kMostSuspects) {
    auto found = most_certain(is_explained);
    if (found.chance >= kOpen) break;
    found.is_sure = found.is_sure && !may_be_of_others(found, before);
    all.push_back(found);
    is_explained[found.node] = true;
  }
  return all;
}

std::string words_on(const NodeDips::Suspect& suspect) {
  return fmt::format(
      "slow in {} of {} readings of small teams, {:.0f} % below what such teams reach; {:.1f} % of "
      "the readings without it are slow",
      suspect.dips, suspect.readings, kPercent * suspect.loss, kPercent * suspect.usual);
}

}  // namespace cupel::burnin::fabric
