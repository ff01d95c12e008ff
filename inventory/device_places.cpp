#include "inventory/device_places.h"

#include <algorithm>
#include <set>

namespace cupel::inventory {
namespace {

constexpr std::size_t kLeastOfNode = 2, kLeastOfSwitch = 3, kQuarters = 4;

struct Votes {
  std::map<std::string_view, std::size_t> places{};
  std::size_t all = 0;
  bool is_switch = false;
};

}  // namespace

std::map<std::string_view, std::string_view> places_of(const FabricMap& map,
                                                       std::span<const EndPair> links) {
  std::map<std::string_view, Votes> votes;
  const auto vote = [&](const CableEnd& end, const CableEnd& other) {
    const auto* cable = map.cable_at(other);
    if (cable == nullptr) return;
    auto& own = votes[end.device];
    ++own.all;
    own.is_switch = end.at_switch();
    const auto& expected = cable->from == other ? cable->to : cable->from;
    if (expected.hca == end.hca && expected.port == end.port) ++own.places[expected.device];
  };
  for (const auto& [one, other] : links) {
    vote(one, other);
    vote(other, one);
  }
  std::map<std::string_view, std::string_view> places;
  for (const auto& [device, own] : votes)
    for (const auto& [place, count] : own.places)
      if (place != device && count * kQuarters >= own.all * (kQuarters - 1) &&
          count >= (own.is_switch ? kLeastOfSwitch : kLeastOfNode))
        places[device] = place;
  return places;
}

std::vector<Exchange> exchanges_of(const std::map<std::string_view, std::string_view>& places) {
  std::set<std::string_view> taken, done;
  for (const auto& [device, place] : places) taken.insert(place);
  std::vector<Exchange> found;
  const auto follow = [&](std::string_view first) {
    Exchange exchange;
    auto at = first;
    for (auto next = places.find(at); next != places.end() && done.insert(at).second;
         next = places.find(at)) {
      exchange.devices.push_back(at);
      at = next->second;
    }
    exchange.closed = at == first;
    if (!exchange.closed) exchange.devices.push_back(at);
    found.push_back(std::move(exchange));
  };
  // First those that begin at a device whose place is free; what is left are cycles.
  for (const auto& [device, place] : places)
    if (!taken.contains(device)) follow(device);
  for (const auto& [device, place] : places)
    if (!done.contains(device)) follow(device);
  return found;
}

}  // namespace cupel::inventory
