#include "bmc/memory.h"

namespace cupel::bmc {
namespace {

template <class Map>
std::optional<typename Map::mapped_type> found(const Map& map, const typename Map::key_type& key) {
  const auto known = map.find(key);
  return known == map.end() ? std::nullopt : std::optional{known->second};
}

}  // namespace

std::optional<Refusal> InMemoryBmcState::refusal(const std::string& node, const std::string& user) {
  return found(refusals_, {node, user});
}

void InMemoryBmcState::keep_refusal(const std::string& node, const std::string& user,
                                    const std::optional<Refusal>& refusal) {
  refusals_.erase({node, user});
  if (refusal) refusals_[{node, user}] = *refusal;
}

std::optional<KnownBmc> InMemoryBmcState::known_bmc(const std::string& node) {
  return found(known_, node);
}

void InMemoryBmcState::keep_known_bmc(const std::string& node, const KnownBmc& known) {
  known_[node] = known;
}

std::optional<Budget> InMemoryBmcState::budget(const std::string& node) {
  return found(budgets_, node);
}

void InMemoryBmcState::keep_budgets(const std::vector<std::pair<std::string, Budget>>& budgets) {
  for (const auto& [node, budget] : budgets) budgets_[node] = budget;
}

}  // namespace cupel::bmc
