#include "burnin/agent/burn/cross_check.h"

#include <algorithm>

namespace cupel::burn {
namespace {

constexpr std::size_t kMostOpen = 4096;

}  // namespace

std::vector<CrossCheck::Odd> CrossCheck::judge(const std::string& key,
                                               const std::map<std::string, std::uint64_t>& told) {
  std::map<std::uint64_t, std::size_t> votes;
  for (const auto& [part, said] : told) ++votes[said];
  if (votes.size() <= 1) return {};
  const auto most = std::ranges::max_element(votes, {}, [](const auto& row) { return row.second; });
  const auto share =
      std::to_string(most->second) + " of " + std::to_string(told.size()) + " GPUs agree at " + key;
  if (2 * most->second <= told.size())
    return {{.part = "",
             .said = 0,
             .most = most->first,
             .detail = "at most " + share + ": which one is wrong is not known"}};
  std::vector<Odd> odd;
  for (const auto& [part, said] : told)
    if (said != most->first) {
      ++odd_[part];
      odd.push_back({.part = part,
                     .said = said,
                     .most = most->first,
                     .detail = part + " differs where " + share});
    }
  return odd;
}

std::vector<CrossCheck::Odd> CrossCheck::tell(const std::string& key, const std::string& part,
                                              std::uint64_t said) {
  if (of_ < 2) return {};
  const std::scoped_lock lock{mutex_};
  auto& told = told_[key];
  told[part] = said;
  if (told.size() < of_) {
    if (told_.size() > kMostOpen) told_.erase(told_.begin());  // one that is far behind the others
    return {};
  }
  auto odd = judge(key, told);
  told_.erase(key);
  return odd;
}

std::vector<CrossCheck::Odd> CrossCheck::rest() {
  const std::scoped_lock lock{mutex_};
  std::vector<Odd> odd;
  for (const auto& [key, told] : told_)
    for (auto& one : judge(key, told)) odd.push_back(std::move(one));
  told_.clear();
  return odd;
}

std::uint64_t CrossCheck::odd(const std::string& part) const {
  const std::scoped_lock lock{mutex_};
  const auto row = odd_.find(part);
  return row == odd_.end() ? 0 : row->second;
}

}  // namespace cupel::burn
