#include "burnin/agent/burn/cross_check.h"

#include <algorithm>
#include <limits>

namespace cupel::burn {
namespace {

constexpr std::size_t kMostOpen = 4096;

}  // namespace

std::vector<CrossCheck::Odd> CrossCheck::judge(
    const std::string& key, const std::map<std::string, std::uint64_t>& reported) {
  std::map<std::uint64_t, std::size_t> votes;
  for (const auto& [part, value] : reported) ++votes[value];
  if (votes.size() <= 1) return {};
  const auto most = std::ranges::max_element(votes, {}, [](const auto& row) { return row.second; });
  const auto share = std::to_string(most->second) + " of " + std::to_string(reported.size()) +
                     " GPUs agree at " + key;
  if (2 * most->second <= reported.size())
    return {{.part = "",
             .value = 0,
             .most = most->first,
             .detail = "at most " + share + ": which one is wrong is not known"}};
  std::vector<Odd> odd;
  for (const auto& [part, value] : reported)
    if (value != most->first) {
      ++odd_[part];
      odd.push_back({.part = part,
                     .value = value,
                     .most = most->first,
                     .detail = part + " differs where " + share});
    }
  return odd;
}

std::vector<CrossCheck::Odd> CrossCheck::tell(const std::string& key, std::uint64_t number,
                                              const std::string& part, std::uint64_t value) {
  if (of_ < 2) return {};
  const std::scoped_lock lock{mutex_};
  if (number % each_ != 0) return {};  // the others leave it out, or have
  auto& row = open_[key];
  row.number = number;
  row.reported[part] = value;
  if (missing(row) > 0) {
    thin_out();
    return {};
  }
  auto odd = judge(key, row.reported);
  open_.erase(key);
  return odd;
}

/// How many that have not left still have to report it.
std::size_t CrossCheck::missing(const Key& key) const {
  const auto gone =
      std::ranges::count_if(left_, [&](const auto& part) { return !key.reported.contains(part); });
  const auto known = key.reported.size() + static_cast<std::size_t>(gone);
  return of_ - std::min(of_, known);
}

void CrossCheck::thin_out() {
  while (open_.size() > kMostOpen) {
    each_ *= 2;
    std::erase_if(open_, [this](const auto& row) { return row.second.number % each_ != 0; });
    if (each_ > std::numeric_limits<std::uint64_t>::max() / 4) open_.clear();
  }
}

std::vector<CrossCheck::Odd> CrossCheck::leave(const std::string& part) {
  const std::scoped_lock lock{mutex_};
  if (!left_.insert(part).second) return {};
  std::vector<Odd> odd;
  std::erase_if(open_, [&](const auto& row) {
    const auto& [key, waits] = row;
    if (missing(waits) > 0) return false;
    for (auto& one : judge(key, waits.reported)) odd.push_back(std::move(one));
    return true;
  });
  return odd;
}

std::vector<CrossCheck::Odd> CrossCheck::rest() {
  const std::scoped_lock lock{mutex_};
  std::vector<Odd> odd;
  for (const auto& [key, row] : open_)
    for (auto& one : judge(key, row.reported)) odd.push_back(std::move(one));
  open_.clear();
  return odd;
}

std::uint64_t CrossCheck::odd(const std::string& part) const {
  const std::scoped_lock lock{mutex_};
  const auto row = odd_.find(part);
  return row == odd_.end() ? 0 : row->second;
}

}  // namespace cupel::burn
