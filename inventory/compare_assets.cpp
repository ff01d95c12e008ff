#include "inventory/compare_assets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "base/text.h"
#include "inventory/identity.h"
#include "inventory/pci_address.h"

namespace cupel::inventory {
namespace {

using KindAndSerial = std::pair<PartKind, std::string>;

/// A part in one machine, as each of its sources reports it.
struct SeenAt {
  std::string node{};
  std::vector<const Part*> parts{};
  const Part& first() const { return *parts.front(); }
};

KindAndSerial key_of(PartKind kind, std::string_view serial) {
  return {counted_as(kind), serial_key(serial)};
}

/// "a0:88:c2:00:00:01": what a network interface reports where no serial number of its card is
/// read. It says nothing of the cards that a list has by their serial numbers.
bool is_mac(std::string_view serial) {
  constexpr std::size_t kLength = 17;
  if (serial.size() != kLength) return false;
  for (std::size_t i = 0; i < kLength; ++i) {
    const auto digit = static_cast<unsigned char>(serial[i]);
    if (i % 3 == 2 ? serial[i] != ':' : std::isxdigit(digit) == 0) return false;
  }
  return true;
}

using SeenIndex = std::map<KindAndSerial, std::vector<SeenAt>>;

/// A part that several sources of one machine report is one.
SeenIndex index_of(const SeenAssets& seen) {
  SeenIndex index;
  for (const auto& [node, parts] : seen)
    for (const auto& part : parts) {
      if (is_no_serial(part.serial)) continue;
      auto& places = index[key_of(part.kind, part.serial)];
      const auto same = std::ranges::find(places, node, &SeenAt::node);
      if (same == places.end())
        places.push_back({node, {&part}});
      else
        same->parts.push_back(&part);
    }
  return index;
}

/// Whether nothing says that the asset of a machine that was seen is not there.
bool is_not_read(const Asset& asset, const SeenAssets& seen, const SeenAssets& unread) {
  if (const auto parts = unread.find(asset.node); parts != unread.end()) {
    const auto key = key_of(asset.kind, asset.serial);
    const auto is_it = [&](const Part& each) {
      const bool all = each.name.empty() && each.serial.empty();
      return all ? counted_as(each.kind) == counted_as(asset.kind)
                 : !each.serial.empty() && key_of(each.kind, each.serial) == key;
    };
    if (std::ranges::any_of(parts->second, is_it)) return true;
  }
  const auto parts = seen.find(asset.node);
  if (parts == seen.end()) return unread.contains(asset.node);
  return std::ranges::none_of(parts->second, [&](const Part& each) {
    return !is_no_serial(each.serial) && counted_as(each.kind) == counted_as(asset.kind) &&
           is_mac(each.serial) == is_mac(asset.serial);
  });
}

bool is_in(const Part& part, std::string_view text) {
  const auto word = lower_case(text), model = lower_case(part.model);
  return model.contains(word) || (!model.empty() && word.contains(model)) ||
         lower_case(part.part_number).contains(word);
}

bool is_slot_of(const Part& part, std::string_view slot) {
  const auto word = lower_case(slot);
  return word == lower_case(part.slot) || word == lower_case(part.name) ||
         same_pci(slot, part.slot);
}

/// The first report that says something else, where others say something and none agrees: a BMC
/// and the node have names of their own for one slot and one model.
template <class Says, class Agrees>
const Part* contradicting(const SeenAt& seen, Says says, Agrees agrees) {
  const Part* other = nullptr;
  for (const auto* part : seen.parts) {
    if (!says(*part)) continue;
    if (agrees(*part)) return nullptr;
    if (other == nullptr) other = part;
  }
  return other;
}

AssetFinding finding_of(AssetState state, const Asset& asset, std::string expected,
                        std::string observed) {
  return {state,        asset.node,          asset.kind,
          asset.serial, std::move(expected), std::move(observed),
          asset.order,  asset.where};
}

void compare_one(const Asset& asset, const SeenIndex& index, const SeenAssets& seen,
                 const SeenAssets& unread, std::vector<AssetFinding>& findings) {
  const auto found = index.find(key_of(asset.kind, asset.serial));
  if (found == index.end()) {
    const bool is_seen = seen.contains(asset.node) || unread.contains(asset.node);
    if (is_seen && is_not_read(asset, seen, unread))
      findings.push_back(finding_of(AssetState::not_read, asset, asset.model, {}));
    else if (asset.node.empty() || is_seen)
      findings.push_back(finding_of(AssetState::missing, asset, asset.model, "not reported"));
    return;
  }
  const auto& places = found->second;
  const auto mine = std::ranges::find(places, asset.node, &SeenAt::node);
  if (!asset.node.empty() && mine == places.end()) {
    findings.push_back(finding_of(AssetState::elsewhere, asset, asset.node, places.front().node));
    return;
  }
  const auto& here = mine == places.end() ? places.front() : *mine;
  const auto* moved = contradicting(
      here, [](const Part& each) { return !each.slot.empty(); },
      [&](const Part& each) { return is_slot_of(each, asset.slot); });
  if (!asset.slot.empty() && moved != nullptr)
    findings.push_back(finding_of(AssetState::moved, asset, asset.slot, moved->slot));
  const auto compare_words = [&](const std::string& expected, auto reported) {
    if (expected.empty()) return false;
    const auto* other = contradicting(
        here, [&](const Part& each) { return !(each.*reported).empty(); },
        [&](const Part& each) { return is_in(each, expected); });
    if (other != nullptr)
      findings.push_back(finding_of(AssetState::wrong_model, asset, expected, other->*reported));
    return other != nullptr;
  };
  if (!compare_words(asset.model, &Part::model))
    compare_words(asset.part_number, &Part::part_number);
}

/// The list with the names that machines have here: purchasing writes them in capitals, or with a
/// domain.
std::vector<Asset> with_known_nodes(std::span<const Asset> list, const SeenAssets& seen,
                                    const SeenAssets& unread) {
  MachineNames names;
  for (const auto* machines : {&seen, &unread})
    for (const auto& [node, parts] : *machines) names.add(node);
  std::vector<Asset> assets(list.begin(), list.end());
  for (auto& each : assets) {
    if (each.node.empty()) continue;
    each.node = names.known(each.node);
    names.add(each.node);
  }
  return assets;
}

/// Kinds of which the list has something for a machine: of these it has everything.
/// Apart by whether it has them by their MACs.
std::map<std::string, std::set<std::pair<PartKind, bool>>, std::less<>> listed_kinds(
    std::span<const Asset> assets) {
  std::map<std::string, std::set<std::pair<PartKind, bool>>, std::less<>> kinds;
  for (const auto& each : assets)
    kinds[each.node].emplace(counted_as(each.kind), is_mac(each.serial));
  return kinds;
}

bool is_port_of_any(const Part& part, const std::vector<Part>& parts) {
  return std::ranges::any_of(parts, [&](const Part& card) { return is_port_of(part, card); });
}

}  // namespace

PartKind counted_as(PartKind kind) {
  if (kind == PartKind::drive) return PartKind::nvme;
  if (kind == PartKind::nic || kind == PartKind::dpu) return PartKind::hca;
  return kind;
}

bool is_port_of(const Part& interface, const Part& card) {
  if (interface.kind != PartKind::nic || card.kind != PartKind::hca || is_no_serial(card.serial))
    return false;
  const auto port = written_pci(interface.slot), at = written_pci(card.slot);
  return port && at && port->substr(0, port->rfind('.')) == at->substr(0, at->rfind('.'));
}

std::string_view to_string(AssetState state) {
  switch (state) {
    case AssetState::missing:
      return "missing";
    case AssetState::not_read:
      return "not read";
    case AssetState::elsewhere:
      return "in another machine";
    case AssetState::moved:
      return "in another slot";
    case AssetState::wrong_model:
      return "another model";
    case AssetState::extra:
      return "not in the list";
    case AssetState::twice:
      return "reported by two machines";
  }
  __builtin_unreachable();
}

std::vector<AssetFinding> compare_assets(std::span<const Asset> list, const SeenAssets& seen,
                                         const SeenAssets& unread) {
  const auto assets = with_known_nodes(list, seen, unread);
  const auto index = index_of(seen);
  std::vector<AssetFinding> findings;
  std::set<KindAndSerial> listed;
  for (const auto& each : assets) {
    listed.insert(key_of(each.kind, each.serial));
    compare_one(each, index, seen, unread, findings);
  }
  const auto kinds = listed_kinds(assets);
  for (const auto& [key, places] : index) {
    if (places.size() > 1)
      findings.push_back({AssetState::twice,
                          places[0].node,
                          key.first,
                          places[0].first().serial,
                          places[0].node,
                          places[1].node,
                          {},
                          {}});
    for (const auto& place : places) {
      const auto kind = kinds.find(place.node);
      const bool complete =
          kind != kinds.end() && kind->second.contains({key.first, is_mac(place.first().serial)});
      if (complete && !listed.contains(key) &&
          !is_port_of_any(place.first(), seen.find(place.node)->second))
        findings.push_back({AssetState::extra,
                            place.node,
                            place.first().kind,
                            place.first().serial,
                            {},
                            place.first().model,
                            {},
                            {}});
    }
  }
  return findings;
}

std::vector<Arrival> arrivals_of(std::span<const Asset> list, const SeenAssets& seen,
                                 const SeenAssets& unread) {
  const auto assets = with_known_nodes(list, seen, unread);
  const auto index = index_of(seen);
  std::vector<Arrival> arrivals;
  std::map<std::string, std::size_t> where;
  for (const auto& asset : assets) {
    if (asset.node.empty()) continue;
    const auto [at, fresh] = where.try_emplace(asset.node, arrivals.size());
    const bool is_seen = seen.contains(asset.node) || unread.contains(asset.node);
    if (fresh) arrivals.push_back({.node = asset.node, .is_seen = is_seen});
    auto& arrival = arrivals[at->second];
    ++arrival.expected;
    const auto found = index.find(key_of(asset.kind, asset.serial));
    const bool here =
        found != index.end() &&
        std::ranges::find(found->second, asset.node, &SeenAt::node) != found->second.end();
    if (here) {
      ++arrival.here;
      continue;
    }
    auto words = fmt::format("{} {}", to_string(asset.kind), asset.serial);
    if (is_seen && is_not_read(asset, seen, unread)) words += ", not read";
    if (!asset.due.empty()) words += ", due " + asset.due;
    if (!asset.order.empty()) words += fmt::format(" ({})", asset.order);
    arrival.due.push_back(std::move(words));
  }
  return arrivals;
}

}  // namespace cupel::inventory
