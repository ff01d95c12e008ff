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
  for (const auto& [node, feeds] : plan.feeds)
    for (auto& cords = loads_[node].cords; const auto& feed : feeds) cords.push_back({feed});
}

bool PowerFeeds::Load::hangs_on(const std::string& breaker) const {
  return std::ranges::find(cords, breaker, &Cord::breaker) != cords.end();
}

/// What one breaker carries: the shares of all nodes on it.
void PowerFeeds::settle(const std::string& breaker, VirtualTime at) {
  const auto found = breakers_.find(breaker);
  if (found == breakers_.end()) return;
  double sum = 0;
  for (const auto& [node, load] : loads_) {
    std::ptrdiff_t here = 0, live = 0;
    for (const auto& cord : load.cords) {
      if (!is_live(cord)) continue;
      ++live;
      here += cord.breaker == breaker;
    }
    if (live > 0) sum += load.watts * static_cast<double>(here) / static_cast<double>(live);
  }
  found->second.draw(sum, at);
}

void PowerFeeds::share(const Load& load, VirtualTime at) {
  std::set<std::string> breakers;
  for (const auto& cord : load.cords) breakers.insert(cord.breaker);
  for (const auto& breaker : breakers) settle(breaker, at);
}

void PowerFeeds::draw(const std::string& node, double watts, VirtualTime at) {
  const auto found = loads_.find(node);
  if (found == loads_.end() || found->second.watts == watts) return;
  found->second.watts = watts;
  share(found->second, at);
}

bool PowerFeeds::plug(const std::string& node, std::vector<Cord> cords, VirtualTime at) {
  const auto found = loads_.find(node);
  if (found == loads_.end() || found->second.cords == cords) return false;
  const Load before{.watts = 0, .cords = std::exchange(found->second.cords, std::move(cords))};
  share(before, at);  // what they have left carries less
  share(found->second, at);
  return true;
}

const std::vector<Cord>& PowerFeeds::cords(const std::string& node) const {
  static const std::vector<Cord> none;
  const auto found = loads_.find(node);
  return found == loads_.end() ? none : found->second.cords;
}

std::vector<bool> PowerFeeds::live(const std::string& node) const {
  std::vector<bool> all;
  for (const auto& cord : cords(node)) all.push_back(is_live(cord));
  return all;
}

bool PowerFeeds::powered(const std::string& node) const {
  const auto found = loads_.find(node);
  return found == loads_.end() || powered(found->second);
}

bool PowerFeeds::powered(const Load& load) const {
  return load.cords.empty() ||
         std::ranges::any_of(load.cords, [this](const Cord& cord) { return is_live(cord); });
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
    const auto lit = powered_on(name);
    open_.insert(name);
    // Whoever has another feed left leans on it from now on.
    for (const auto& [node, load] : loads_)
      if (load.hangs_on(name)) share(load, at);
    for (const auto& node : lit)
      if (!powered(node)) dark.push_back(node);
  }
  return dark;
}

std::vector<std::string> PowerFeeds::close(const std::string& breaker, VirtualTime at) {
  std::vector<std::string> lit;
  const auto found = breakers_.find(breaker);
  if (found == breakers_.end() || !open_.contains(breaker)) return lit;
  const auto before = powered_on(breaker);
  open_.erase(breaker);
  found->second.close(at);
  for (const auto& [node, load] : loads_)
    if (load.hangs_on(breaker)) share(load, at);
  for (auto& node : powered_on(breaker))
    if (std::ranges::find(before, node) == before.end()) lit.push_back(std::move(node));
  return lit;
}

/// The nodes on a breaker that have power, from there or from elsewhere.
std::vector<std::string> PowerFeeds::powered_on(const std::string& breaker) const {
  std::vector<std::string> names;
  for (const auto& [node, load] : loads_)
    if (load.hangs_on(breaker) && powered(load)) names.push_back(node);
  return names;
}

std::vector<std::string> PowerFeeds::tripped() const { return {open_.begin(), open_.end()}; }

const Breaker* PowerFeeds::breaker(const std::string& name) const {
  const auto found = breakers_.find(name);
  return found == breakers_.end() ? nullptr : &found->second;
}

}  // namespace cupel::rehearsal
