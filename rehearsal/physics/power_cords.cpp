#include "rehearsal/physics/power_cords.h"

#include <algorithm>
#include <numeric>

#include "inventory/model.h"

namespace cupel::rehearsal {

std::string outlet_path(const std::string& pdu, std::string_view outlet) {
  return pdu + "/" + std::string{outlet};
}

PowerCords::PowerCords(const inventory::Inventory& site) {
  for (const auto& pdu : site.pdus) outlets_[pdu.name];
  for (const auto& node : site.nodes) {
    auto& feeds = feeds_[node.name];
    for (std::size_t i = 0; i < node.feeds.size(); ++i) {
      Feed feed{.breaker = node.feeds[i]};
      const auto* pdu = site.pdu_of(feed.breaker);
      if (pdu != nullptr && i < node.outlets.size()) {
        feed.pdu = pdu->name;
        for (const auto name : inventory::outlet_names(node.outlets[i])) {
          feed.outlets.emplace_back(name);
          outlets_[pdu->name].push_back({std::string{name}, node.name});
        }
      }
      feeds.push_back(std::move(feed));
    }
  }
}

const std::vector<PowerOutlet>& PowerCords::outlets(const std::string& pdu) const {
  static const std::vector<PowerOutlet> none;
  const auto found = outlets_.find(pdu);
  return found == outlets_.end() ? none : found->second;
}

const PowerOutlet* PowerCords::outlet(const std::string& pdu, std::string_view name) const {
  const auto& all = outlets(pdu);
  const auto found = std::ranges::find(all, name, &PowerOutlet::name);
  return found == all.end() ? nullptr : &*found;
}

bool PowerCords::set(const std::string& pdu, std::string_view name, bool on) {
  const auto of_pdu = outlets_.find(pdu);
  if (of_pdu == outlets_.end()) return false;
  const auto found = std::ranges::find(of_pdu->second, name, &PowerOutlet::name);
  if (found == of_pdu->second.end()) return false;
  found->on = on;
  return true;
}

std::vector<Cord> PowerCords::of(const std::string& node, std::span<const Fault> faults) const {
  constexpr int kSecond = 2;
  const auto found = feeds_.find(node);
  if (found == feeds_.end()) return {};
  const auto& feeds = found->second;
  const bool on_one = find_fault(faults, FaultKind::cords_on_one_feed) != nullptr;
  const auto* elsewhere = find_fault(faults, FaultKind::outlet_elsewhere);
  const int lost = elsewhere == nullptr ? 0 : elsewhere->number.value_or(kSecond);
  std::size_t turns = 1;
  for (const auto& feed : feeds)
    turns = std::lcm(turns, std::max(feed.outlets.size(), std::size_t{1}));
  std::vector<Cord> cords;
  for (std::size_t turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < feeds.size(); ++i) {
      const auto in_truth = on_one ? 0 : i;
      const auto& feed = feeds[in_truth];
      Cord cord{.breaker = feed.breaker};
      // It hangs on some other outlet of that PDU, which nobody switches.
      const bool named = !feed.outlets.empty() && lost != static_cast<int>(in_truth) + 1;
      if (named) {
        const auto& name = feed.outlets[turn % feed.outlets.size()];
        cord.outlet = outlet_path(feed.pdu, name);
        cord.cut = !outlet(feed.pdu, name)->on;
      }
      cords.push_back(std::move(cord));
    }
  return cords;
}

}  // namespace cupel::rehearsal
