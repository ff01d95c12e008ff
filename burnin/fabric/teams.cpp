#include "burnin/fabric/teams.h"

#include <fmt/format.h>

#include <map>

namespace cupel::burnin::fabric {
namespace {

Team everyone(std::size_t count, std::string name, int rail = -1) {
  Team team{std::move(name), {}, rail};
  for (std::size_t i = 0; i < count; ++i) team.members.push_back(i);
  return team;
}

Team two_of(std::span<const std::string> nodes, std::size_t one) {
  const auto other = (one + 1) % nodes.size();
  return {fmt::format("{} and {}", nodes[one], nodes[other]), {one, other}};
}

/// 0-1 2-3 4-5, then 1-2 3-4 5-0: with an odd number the last pair has a round of its own.
std::vector<TeamRound> pairs(std::span<const std::string> nodes) {
  const auto count = nodes.size();
  std::vector<TeamRound> rounds(count == 2 ? 1 : 2 + count % 2);
  for (std::size_t i = 0; i + 1 < count; ++i)
    if (i % 2 < rounds.size()) rounds[i % 2].push_back(two_of(nodes, i));
  if (count > 2) rounds.back().push_back(two_of(nodes, count - 1));
  return rounds;
}

std::vector<TeamRound> leaves(const PlannedWiring& plan) {
  std::map<int, Team> teams;
  for (int node = 0; node < plan.wiring.nodes; ++node) {
    const auto port = static_cast<std::size_t>(node) * static_cast<std::size_t>(plan.wiring.rails);
    const int leaf = plan.wiring.ports.at(port).leaf;
    if (leaf < 0) continue;
    auto& team = teams[leaf];
    team.name = plan.names.leaves.at(static_cast<std::size_t>(leaf));
    team.members.push_back(static_cast<std::size_t>(node));
  }
  TeamRound round;
  for (auto& [leaf, team] : teams)
    if (team.members.size() > 1) round.push_back(std::move(team));
  return {std::move(round)};
}

}  // namespace

Result<std::vector<TeamRound>> teams_of(std::string_view groups, std::span<const std::string> nodes,
                                        const PlannedWiring* plan) {
  if (groups == "all") return std::vector<TeamRound>{{everyone(nodes.size(), "all")}};
  if (groups == "pairs") return pairs(nodes);
  if (plan == nullptr)
    return Error{Code::kInvalid, fmt::format("groups: {} needs the inventory's cable plan: add "
                                             "fabric: to it, or say groups: all",
                                             groups)};
  std::vector<TeamRound> rounds;
  if (groups == "leaf") rounds = leaves(*plan);
  for (int rail = 0; groups == "rail" && rail < plan->wiring.rails; ++rail)
    rounds.push_back({everyone(nodes.size(), fmt::format("rail {}", rail), rail)});
  if (rounds.empty() || rounds.front().empty())
    return Error{Code::kInvalid, fmt::format("groups: {}: no two nodes belong together", groups)};
  return rounds;
}

}  // namespace cupel::burnin::fabric
