#include "rehearsal/physics/power_feed.h"

#include <algorithm>
#include <cmath>

namespace cupel::rehearsal {

void Breaker::draw(double watts, VirtualTime at) {
  heat_ = warmth(at) * kTrip * kTrip;
  since_ = at;
  watts_ = std::max(watts, 0.0);
}

double Breaker::warmth(VirtualTime at) const {
  const double towards = std::pow(watts_ / rated_, 2);
  const double passed = std::max((at - since_).count(), 0.0);
  const double heat = towards + (heat_ - towards) * std::exp(-passed / kWarmth.count());
  return heat / (kTrip * kTrip);
}

std::optional<VirtualTime> Breaker::trips_at() const {
  constexpr double kLimit = kTrip * kTrip;
  const double towards = std::pow(watts_ / rated_, 2);
  const auto at_once = since_ + kInstant;
  if (heat_ >= kLimit || watts_ >= rated_ * kMagnetic) return at_once;
  if (towards <= kLimit) return std::nullopt;
  return std::max(at_once, since_ + kWarmth * std::log((towards - heat_) / (towards - kLimit)));
}

bool Breaker::tripped(VirtualTime at) const {
  const auto when = trips_at();
  return when && *when <= at;
}

void Breaker::close(VirtualTime at) {
  draw(0, at);
  heat_ = std::min(heat_, 1.0);
}

PowerFeeds::PowerFeeds(FeedPlan plan) {
  for (const auto& level : plan.breakers)
    if (level.watts > 0) breakers_.try_emplace(level.name, level.watts);
  for (auto& [node, feeds] : plan.feeds) {
    std::erase_if(feeds, [this](const auto& feed) { return !breakers_.contains(feed); });
    loads_[node].feeds = std::move(feeds);
  }
}

/// What one breaker carries: the shares of all nodes on it.
void PowerFeeds::settle(const std::string& breaker, VirtualTime at) {
  double sum = 0;
  for (const auto& [node, load] : loads_) {
    if (std::ranges::count(load.feeds, breaker) == 0) continue;
    const auto live = std::ranges::count_if(
        load.feeds, [this](const auto& feed) { return !open_.contains(feed); });
    if (live > 0) sum += load.watts / static_cast<double>(live);
  }
  breakers_.at(breaker).draw(open_.contains(breaker) ? 0 : sum, at);
}

void PowerFeeds::share(const Load& load, VirtualTime at) {
  for (const auto& feed : load.feeds) settle(feed, at);
}

void PowerFeeds::draw(const std::string& node, double watts, VirtualTime at) {
  const auto found = loads_.find(node);
  if (found == loads_.end() || found->second.watts == watts) return;
  found->second.watts = watts;
  share(found->second, at);
}

bool PowerFeeds::powered(const std::string& node) const {
  const auto found = loads_.find(node);
  if (found == loads_.end() || found->second.feeds.empty()) return true;
  return !std::ranges::all_of(found->second.feeds,
                              [this](const auto& feed) { return open_.contains(feed); });
}

std::optional<VirtualTime> PowerFeeds::next_trip() const {
  std::optional<VirtualTime> next;
  for (const auto& [name, breaker] : breakers_) {
    const auto when = open_.contains(name) ? std::nullopt : breaker.trips_at();
    if (when && (!next || *when < *next)) next = when;
  }
  return next;
}

std::vector<std::string> PowerFeeds::trip(VirtualTime at) {
  std::vector<std::string> dark;
  for (auto& [name, breaker] : breakers_) {
    if (open_.contains(name) || !breaker.tripped(at)) continue;
    open_.insert(name);
    // Whoever has another feed left leans on it from now on.
    for (const auto& [node, load] : loads_) {
      if (std::ranges::count(load.feeds, name) == 0) continue;
      share(load, at);
      if (!powered(node)) dark.push_back(node);
    }
  }
  return dark;
}

std::vector<std::string> PowerFeeds::close(const std::string& breaker, VirtualTime at) {
  std::vector<std::string> lit;
  const auto found = breakers_.find(breaker);
  if (found == breakers_.end() || !open_.contains(breaker)) return lit;
  for (const auto& [node, load] : loads_)
    if (std::ranges::count(load.feeds, breaker) > 0 && !powered(node)) lit.push_back(node);
  open_.erase(breaker);
  found->second.close(at);
  for (const auto& [node, load] : loads_)
    if (std::ranges::count(load.feeds, breaker) > 0) share(load, at);
  return lit;
}

std::vector<std::string> PowerFeeds::tripped() const { return {open_.begin(), open_.end()}; }

const Breaker* PowerFeeds::breaker(const std::string& name) const {
  const auto found = breakers_.find(name);
  return found == breakers_.end() ? nullptr : &found->second;
}

}  // namespace cupel::rehearsal
