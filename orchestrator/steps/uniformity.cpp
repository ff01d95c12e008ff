#include "orchestrator/steps/uniformity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "inventory/identity.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/node_range.h"
#include "inventory/parts.h"
#include "inventory/versions.h"
#include "orchestrator/steps/part_facts.h"
#include "orchestrator/steps/peers.h"

namespace cupel::steps {
namespace {

using burnin::Cause;

constexpr int kFewest = 4;            // parts: with fewer, one against two would be a majority
constexpr double kClear = 3.0 / 4.0;  // of the parts
constexpr std::string_view kSameVersion = "same version in the run";

using Names = std::vector<std::string>;
using ByVersion = std::map<std::string, Names, std::less<>>;

/// Facts that should be the same as they stand; of those that end with '*', all of such a name.
constexpr std::array<std::string_view, 3> kSameFacts{"bmc.version", "bios.*",
                                                     "kernel.command_line"};
/// What each machine has of its own: where its system lies, what its boot server wrote for it.
std::string without_its_own(std::string_view command_line) {
  constexpr std::array<std::string_view, 8> kOwn{
      "root=", "BOOT_IMAGE=", "initrd=", "ip=", "hostname=", "resume=", "BOOTIF=", "cupel."};
  std::string same;
  for (const auto word : split(command_line, ' ')) {
    const bool own = std::ranges::any_of(kOwn, [&](auto each) { return word.starts_with(each); });
    if (own || word.empty()) continue;
    if (!same.empty()) same += ' ';
    same += word;
  }
  return same;
}

std::string comparable(std::string_view fact, std::string_view value) {
  return fact == "kernel.command_line" ? without_its_own(value) : std::string{value};
}

ByVersion versions_in(std::string_view fact) {
  ByVersion versions;
  const auto document = parse_json(fact);
  if (!document || !document->is_object()) return versions;
  for (const auto& [version, parts] : document->get_object()) {
    if (!parts.is_array() || versions.size() == kMostPartsOfFact) continue;
    for (const auto& part : parts.get_array())
      if (part.is_string()) versions[std::string{version}].emplace_back(part.get_string());
  }
  return versions;
}

using Counts = std::map<std::string, int, std::less<>>;

struct Peer {
  const std::string* name = nullptr;
  const engine::NodeState* state = nullptr;
};
using Peers = std::vector<Peer>;

/// The run's nodes of one profile. By the inventory's order: a lookup by name in the run's map is
/// cheap, one in the inventory is a search.
Peers alike(const inventory::Inventory& inventory, const std::string& profile,
            const engine::RunState& run) {
  Peers found;
  for (const auto& node : inventory.nodes) {
    if (node.profile != profile) continue;
    const auto state = run.nodes.find(node.name);
    if (state != run.nodes.end()) found.push_back({&state->first, &state->second});
  }
  return found;
}

std::string_view fact_of(const engine::NodeState& node, const std::string& name) {
  const auto found = node.facts.find(name);
  return found == node.facts.end() ? std::string_view{} : std::string_view{found->second};
}

/// What nodes have of one thing.
struct Values {
  Counts counts{};      // parts of each value
  int all = 0;          // parts
  int nodes = 0;        // that reported it
  int outstanding = 0;  // nodes that may still report it

  const std::pair<const std::string, int>* most() const {
    const auto found =
        std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
    return found == counts.end() ? nullptr : &*found;
  }
  bool is_most(std::string_view value) const {
    const auto own = counts.find(value);
    const auto* first = most();
    if (own == counts.end() || first == nullptr || own->second < first->second) return false;
    return std::ranges::count(counts, first->second,
                              [](const auto& each) { return each.second; }) == 1;
  }
};

enum class Standing {
  common,     // what most have
  odd,        // three quarters have another one, whatever the others will report
  split,      // all have reported, and no value has three quarters
  undecided,  // others may still decide it, or there are only two nodes
};

/// The order in which nodes report does not matter: one that is not clear until all have reported
/// stays undecided, and one that is clear stays so.
Standing standing_of(const Values& values, std::string_view own) {
  const auto* most = values.most();
  if (most == nullptr) return Standing::undecided;
  const int each = (values.all + std::max(values.nodes, 1) - 1) / std::max(values.nodes, 1);
  const double at_most = values.all + static_cast<double>(values.outstanding) * each;
  const bool is_clear = values.all >= kFewest && most->second >= kClear * at_most;
  if (is_clear) return most->first == own ? Standing::common : Standing::odd;
  if (values.is_most(own)) return Standing::common;
  constexpr int kFewestNodes = 3;  // of two nothing says which is right
  const bool is_reported = values.outstanding == 0 && values.nodes >= kFewestNodes;
  return is_reported ? Standing::split : Standing::undecided;
}

/// How many parts have each version. Equal nodes report equal texts: each is parsed once.
Values versions_of(const Peers& nodes, const std::string& fact) {
  Values values;
  std::unordered_map<std::string_view, int> texts;
  for (const auto& [name, node] : nodes) {
    const auto reported = node->facts.find(fact);
    if (reported == node->facts.end()) {
      values.outstanding += may_still_report(*node) ? 1 : 0;
      continue;
    }
    ++texts[reported->second];
    ++values.nodes;
  }
  for (const auto& [text, times] : texts)
    for (const auto& [version, parts] : versions_in(text)) {
      const int count = times * static_cast<int>(parts.size());
      values.counts[version] += count;
      values.all += count;
    }
  return values;
}

/// "580.65.06 on n[1-3], 590.48.01 on n[4-10]", by `has`: whether a node has the value.
template <class Has>
std::string groups_text(const Values& values, const Peers& nodes, Has has) {
  constexpr std::size_t kShown = 4, kLongestValue = 80, kLongestNames = 300;
  std::vector<std::pair<int, std::string>> groups;
  for (const auto& [value, parts] : values.counts) groups.emplace_back(-parts, value);
  std::ranges::sort(groups);
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, groups.size()); ++i) {
    const auto& value = groups[i].second;
    Names members;
    for (const auto& peer : nodes)
      if (has(*peer.state, value)) members.push_back(*peer.name);
    text += fmt::format("{}{} on {} nodes: {}", text.empty() ? "" : "; ",
                        value.empty() ? "nothing" : shortened(value, kLongestValue), members.size(),
                        shortened(inventory::fold(members), kLongestNames));
  }
  if (groups.size() > kShown) text += fmt::format("; {} more values", groups.size() - kShown);
  return text;
}

/// Groups of nodes, none of which is clearly the common one: nothing says which is right.
Cause split_cause(std::string criterion, std::string what, std::string groups) {
  Cause cause;
  cause.decision = burnin::Decision::inconclusive;
  cause.criterion = std::move(criterion);
  cause.measured = std::move(what);
  cause.expected = "the same on all nodes: " + groups;
  cause.remedy = "decide which of them is right, and bring the other nodes to it";
  return cause;
}

/// One cause for all parts of the node that have the version: of several, the node's.
Cause difference(const Names& parts, const std::string& version, const Values& values) {
  const auto named = inventory::fold(parts);
  const auto& [common, have] = *values.most();
  const bool several = parts.size() > 1;
  Cause cause;
  cause.part = several ? std::string{} : named;
  cause.criterion = kSameVersion;
  cause.measured = several ? named + " " + version : version;
  cause.expected = fmt::format("{}, as {} of {} have it", common, have, values.all);
  const bool module = named.starts_with("dimm ");
  cause.remedy =
      module ? fmt::format("exchange {} for {}, or the others for {}", named, common, version)
             : fmt::format("update {} to {}, or the others to {}", named, common, version);
  return cause;
}

void compare(const std::string& fact, const std::string& own, const Peers& nodes,
             VersionComparison& found) {
  const auto values = versions_of(nodes, fact);
  const auto has = [&](const engine::NodeState& node, const std::string& version) {
    return versions_in(fact_of(node, fact)).contains(version);
  };
  for (const auto& [version, parts] : versions_in(own)) {
    const auto standing = standing_of(values, version);
    if (standing == Standing::common) continue;
    if (standing == Standing::odd) {
      found.causes.push_back(difference(parts, version, values));
      continue;
    }
    if (values.outstanding > 0 || values.counts.size() < 2) continue;
    // Two batches of parts in every node are no difference between nodes.
    const bool on_all = std::ranges::all_of(nodes, [&](const Peer& each) {
      return !each.state->facts.contains(fact) || has(*each.state, version);
    });
    if (on_all) continue;
    const auto named = inventory::fold(parts);
    const auto groups = groups_text(values, nodes, has);
    // Modules of several makers are bought for one order.
    const bool is_module = named.starts_with("dimm ");
    if (standing == Standing::split && !is_module)
      found.causes.push_back(split_cause(std::string{kSameVersion}, named + " " + version, groups));
    else
      found.remarks.push_back(
          fmt::format("{} {} differs between nodes: {}", named, version, groups));
  }
}

Cause unlike(std::string part, std::string_view what, const std::string& measured,
             const std::string& common, int have, int all, std::string remedy) {
  constexpr std::size_t kShown = 200;
  Cause cause;
  cause.part = std::move(part);
  cause.criterion = fmt::format("same {} in the run", what);
  cause.measured = shortened(measured, kShown);
  cause.expected = fmt::format("{}, as {} of {} have it", shortened(common, kShown), have, all);
  cause.remedy = std::move(remedy);
  return cause;
}

void compare_fact(const std::string& fact, const engine::NodeState& node, const Peers& nodes,
                  std::string remedy, VersionComparison& found) {
  Values values;
  std::unordered_map<std::string_view, int> texts;  // each is read once
  Peers like;
  for (const auto& each : nodes) {
    const bool is_known = !fact_of(*each.state, "bmc.vendor").empty();
    if (is_known && !is_alike(*each.state, node)) continue;
    const bool has_it = each.state->facts.contains(fact);
    if (!has_it && may_still_report(*each.state)) ++values.outstanding;
    if (!has_it || !is_alike(*each.state, node)) continue;
    ++texts[fact_of(*each.state, fact)];
    like.push_back(each);
  }
  for (const auto& [text, times] : texts) {
    values.counts[comparable(fact, text)] += times;
    values.all += times;
  }
  values.nodes = values.all;
  const auto mine = comparable(fact, fact_of(node, fact));
  const auto standing = standing_of(values, mine);
  if (standing == Standing::common) return;
  const auto* most = values.most();
  // A BMC that answered by IPMI alone for a while.
  if (most == nullptr || (fact == "bmc.version" && inventory::abbreviates(mine, most->first)))
    return;
  if (standing == Standing::odd) {
    found.causes.push_back(unlike(fact, "value", mine.empty() ? "nothing" : mine, most->first,
                                  most->second, values.all, std::move(remedy)));
    return;
  }
  if (values.outstanding > 0 || values.counts.size() < 2) return;
  const auto groups = groups_text(values, like, [&](const auto& each, const auto& value) {
    return comparable(fact, fact_of(each, fact)) == value;
  });
  if (standing == Standing::split)
    found.causes.push_back(split_cause("same value in the run", fact + " " + mine, groups));
  else
    found.remarks.push_back(fmt::format("{} differs between nodes: {}", fact, groups));
}

void compare_facts(const engine::NodeState& mine, const Peers& nodes, VersionComparison& found) {
  for (const auto pattern : kSameFacts) {
    const bool many = pattern.ends_with('*');
    const std::string head{many ? pattern.substr(0, pattern.size() - 1) : pattern};
    for (auto fact = mine.facts.lower_bound(head); fact != mine.facts.end(); ++fact) {
      if (many ? !fact->first.starts_with(head) : fact->first != head) break;
      // The version is the BIOS's own fact, reported by the node too.
      if (fact->first == "bios.version") continue;
      auto remedy =
          fmt::format("set {} as on the other machines, or theirs as on this", fact->first);
      compare_fact(fact->first, mine, nodes, std::move(remedy), found);
    }
  }
  for (const auto seen : kSeenSettings)
    if (const std::string fact{seen}; mine.facts.contains(fact))
      compare_fact(
          fact, mine, nodes,
          "compare its BIOS settings (SMT, cores, IOMMU, NUMA nodes per socket, memory speed) "
          "and the places of its DIMMs with those of another machine",
          found);
}

/// Which part of a kind sits where: by address. Names are no ground to compare: drives are counted
/// as they answer, in another order at each boot.
std::map<std::string, std::string, std::less<>> places_in(std::string_view fact) {
  std::map<std::string, std::string, std::less<>> places;
  const auto document = parse_json(fact);
  if (!document || !document->is_object()) return places;
  for (const auto& [name, place] : document->get_object())
    if (place.is_string() && places.size() < kMostPartsOfFact)
      places.emplace(std::string{place.get_string()}, name);
  return places;
}

void compare_places(const std::string& fact, const std::string& own, const Peers& nodes,
                    std::vector<Cause>& causes) {
  std::unordered_map<std::string_view, int> texts;
  int all = 0, outstanding = 0;
  for (const auto& [name, node] : nodes) {
    const auto found = node->facts.find(fact);
    if (found == node->facts.end()) {
      outstanding += may_still_report(*node) ? 1 : 0;
      continue;
    }
    ++texts[found->second];
    ++all;
  }
  if (texts.size() < 2 || all < kFewest) return;
  Counts counts;
  for (const auto& [text, times] : texts)
    for (const auto& [place, name] : places_in(text)) counts[place] += times;

  // Where others have a part and this machine has none, whatever the nodes will report that have
  // not yet; a missing part is another check's to name.
  const auto mine = places_in(own);
  const double at_most = all + outstanding;
  std::vector<std::pair<std::string, int>> empty;
  for (const auto& [place, have] : counts)
    if (have >= kClear * at_most && !mine.contains(place)) empty.emplace_back(place, have);
  auto next = empty.begin();
  for (const auto& [place, name] : mine) {
    if (next == empty.end()) return;
    if (counts[place] + outstanding > (1 - kClear) * at_most) continue;
    causes.push_back(unlike(name, "PCIe address", place, next->first, next->second, all,
                            "compare the risers, switches and BIOS slot settings with those of "
                            "another machine"));
    ++next;
  }
}

/// "0000:18:00.0 MT4129".
std::pair<std::string, std::string> place_and_value(std::string_view reported) {
  const auto end = std::min(reported.find(' '), reported.size() - 1);
  return {std::string{reported.substr(0, end)}, std::string{reported.substr(end + 1)}};
}

int count_of(std::string_view fact, std::string_view value) {
  return static_cast<int>(std::ranges::count_if(places_in(fact), [&](const auto& each) {
    return place_and_value(each.first).second == value;
  }));
}

/// Whether most machines have as many parts of that value: then one of this machine's parts is in
/// another place, or counted there because one before it is missing.
bool is_usual_count(const std::string& fact, std::string_view value, int own, const Peers& nodes) {
  int all = 0, alike = 0;
  for (const auto& each : nodes) {
    const auto text = fact_of(*each.state, fact);
    if (text.empty()) continue;
    ++all;
    alike += count_of(text, value) >= own ? 1 : 0;
  }
  return 2 * alike > all;
}

/// A part whose size or model is another one than three quarters of the machines have in its place.
void compare_by_place(const std::string& fact, const std::string& remedy,
                      const engine::NodeState& mine, const Peers& nodes,
                      std::vector<Cause>& causes) {
  int outstanding = 0;
  std::unordered_map<std::string_view, int> texts;
  for (const auto& each : nodes) {
    const auto text = fact_of(*each.state, fact);
    if (text.empty())
      outstanding += may_still_report(*each.state) ? 1 : 0;
    else
      ++texts[text];
  }
  std::map<std::string, Values> at;
  for (const auto& [text, times] : texts)
    for (const auto& [reported, name] : places_in(text)) {
      const auto [place, value] = place_and_value(reported);
      auto& values = at.try_emplace(place, Values{.outstanding = outstanding}).first->second;
      values.counts[value] += times;
      values.nodes = values.all += times;
    }
  for (const auto& [reported, name] : places_in(fact_of(mine, fact))) {
    const auto [place, value] = place_and_value(reported);
    const auto& values = at[place];
    if (standing_of(values, value) != Standing::odd) continue;
    const auto own = fact_of(mine, fact);
    if (fact != kDriveSizes && is_usual_count(fact, value, count_of(own, value), nodes)) continue;
    const auto& [common, have] = *values.most();
    causes.push_back(unlike(name, "value", value, common, have, values.all, remedy));
  }
}

/// Machines behind one BMC may all have the serial number of what holds them (HPE Cray EX235n).
bool are_behind_one_bmc(const inventory::Node& node, const inventory::Node* other) {
  return other != nullptr && !node.bmc.shared_as.empty() &&
         node.bmc.shared_as == other->bmc.shared_as;
}

/// Facts that only one node should have, and what is wrong where two have the same.
constexpr std::string_view kBmcMacs = "bmc.mac";
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kIdentities{
    {{"system.serial", "serial number of its own"}, {kBmcMacs, "BMC of its own"}}};

/// A serial number, or the MAC of each port of the BMC; what says nothing is left out.
std::vector<std::string_view> identities_of(const engine::NodeState& node, std::string_view fact) {
  const auto text = fact_of(node, std::string{fact});
  auto all = fact == kBmcMacs ? words(text) : std::vector{text};
  std::erase_if(all, inventory::is_no_serial);
  return all;
}

std::string identity_key(std::string_view fact, std::string_view identity) {
  return fmt::format("{} {}", fact, inventory::serial_key(identity));
}

/// MACs are canonical, and stand in one fact. A serial number's key is dear to make, and most end
/// otherwise.
bool reports(const engine::NodeState& node, std::string_view fact, std::string_view identity) {
  const auto its = fact_of(node, std::string{fact});
  if (fact == kBmcMacs || its.empty()) return its.contains(identity);
  if (lower_case(its.substr(its.size() - 1)) != lower_case(identity.substr(identity.size() - 1)))
    return false;
  return !inventory::is_no_serial(its) && identity_key(fact, its) == identity_key(fact, identity);
}

/// What so many nodes have is one machine taken for two. A MAC of a further port that more than two
/// have is no port's: it is the vendor's, for a wire into each machine.
bool is_not_its_own(std::size_t nodes, bool is_first) {
  return nodes == 2 || (nodes > 2 && is_first);
}

/// The other node that reports this, too; empty: none.
std::string sharer(std::string_view fact, std::string_view identity, bool is_first,
                   const inventory::Inventory& inventory, const inventory::Node& node,
                   const engine::RunState& run) {
  std::string first;
  std::size_t nodes = 1;
  for (const auto& [other, state] : run.nodes) {
    if (other == node.name || !reports(state, fact, identity)) continue;
    if (are_behind_one_bmc(node, inventory.node(other))) continue;
    if (first.empty()) first = other;
    ++nodes;
  }
  return is_not_its_own(nodes, is_first) ? first : std::string{};
}

/// Two machines of one serial number, or behind one port of a BMC: one of them is not what the
/// inventory takes it for.
void compare_identities(const engine::NodeState& mine, const inventory::Inventory& inventory,
                        const inventory::Node& node, const engine::RunState& run,
                        std::vector<Cause>& causes) {
  for (const auto& [fact, criterion] : kIdentities) {
    bool is_first = true;
    for (const auto identity : identities_of(mine, fact)) {
      const auto other =
          sharer(fact, identity, std::exchange(is_first, false), inventory, node, run);
      if (other.empty()) continue;
      Cause cause;
      cause.decision = burnin::Decision::inconclusive;
      cause.criterion = criterion;
      cause.measured = std::string{identity};
      cause.expected = "one that no other node has: " + other + " has it, too";
      cause.remedy = "find out which machine this is: its BMC address may be that of " + other;
      causes.push_back(std::move(cause));
      break;
    }
  }
}

/// How many nodes have each of what one alone should have.
std::unordered_map<std::string, std::size_t> count_identities(const engine::RunState& run) {
  std::unordered_map<std::string, std::size_t> nodes;
  for (const auto& [name, node] : run.nodes)
    for (const auto& [fact, criterion] : kIdentities)
      for (const auto identity : identities_of(node, fact)) ++nodes[identity_key(fact, identity)];
  return nodes;
}

/// Whether it may have something that is another's, too.
bool shares_identity(const engine::NodeState& node,
                     const std::unordered_map<std::string, std::size_t>& nodes) {
  for (const auto& [fact, criterion] : kIdentities) {
    bool is_first = true;
    for (const auto identity : identities_of(node, fact))
      if (is_not_its_own(nodes.at(identity_key(fact, identity)), std::exchange(is_first, false)))
        return true;
  }
  return false;
}

/// Everything of the node that is compared with others, but who it is.
std::string compared_facts(const engine::NodeState& node) {
  std::string key;
  for (const auto& [name, value] : node.facts) {
    const bool is_seen = std::ranges::find(kSeenSettings, name) != kSeenSettings.end();
    const bool is_kind = name == "bmc.vendor" || name == "system.model";
    const bool is_same = std::ranges::any_of(kSameFacts, [&](std::string_view pattern) {
      return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                    : name == pattern;
    });
    if (is_seen || is_kind || is_same || name == kDriveSizes || name.starts_with(kVersionPrefix) ||
        name.starts_with(kModelPrefix) || name.starts_with(kPlacePrefix))
      key += fmt::format("{}\n{}\n", name, comparable(name, value));
  }
  return key;
}

bool has_versions(const engine::NodeState& node) {
  const auto first = node.facts.lower_bound(std::string{kVersionPrefix});
  return first != node.facts.end() && first->first.starts_with(kVersionPrefix);
}

}  // namespace

bool is_alike(const engine::NodeState& a, const engine::NodeState& b) {
  return fact_of(a, "bmc.vendor") == fact_of(b, "bmc.vendor") &&
         fact_of(a, "system.model") == fact_of(b, "system.model");
}

VersionComparison compare_versions(const inventory::Inventory& inventory,
                                   const inventory::Node& node, const engine::RunState& run) {
  VersionComparison found;
  const auto mine = run.nodes.find(node.name);
  if (mine == run.nodes.end()) return found;
  const auto nodes = alike(inventory, node.profile, run);
  const auto each_of = [&](std::string_view prefix, const auto& verb) {
    for (auto fact = mine->second.facts.lower_bound(std::string{prefix});
         fact != mine->second.facts.end() && fact->first.starts_with(prefix); ++fact)
      verb(fact->first, fact->second);
  };
  each_of(kVersionPrefix,
          [&](const auto& fact, const auto& own) { compare(fact, own, nodes, found); });
  each_of(kPlacePrefix, [&](const auto& fact, const auto& own) {
    compare_places(fact, own, nodes, found.causes);
  });
  compare_by_place(std::string{kDriveSizes},
                   "exchange the drive for one of the size that was ordered", mine->second, nodes,
                   found.causes);
  each_of(kModelPrefix, [&](const auto& fact, const auto&) {
    compare_by_place(fact, "exchange it for the model that was ordered, or correct the profile",
                     mine->second, nodes, found.causes);
  });
  compare_facts(mine->second, nodes, found);
  compare_identities(mine->second, inventory, node, run, found.causes);
  return found;
}

std::vector<Cause> version_differences(const inventory::Inventory& inventory,
                                       const inventory::Node& node, const engine::RunState& run) {
  return compare_versions(inventory, node, run).causes;
}

std::vector<std::string> nodes_that_differ(const inventory::Inventory& inventory,
                                           const std::string& profile,
                                           const engine::RunState& run) {
  const auto identities = count_identities(run);
  std::unordered_map<std::string, bool> differs;
  std::vector<std::string> nodes;
  for (const auto& node : inventory.nodes) {
    const auto state = node.profile == profile ? run.nodes.find(node.name) : run.nodes.end();
    if (state == run.nodes.end()) continue;
    const bool is_twice = shares_identity(state->second, identities);
    auto [known, fresh] = differs.try_emplace(compared_facts(state->second));
    if (fresh || is_twice) {
      const bool different = !version_differences(inventory, node, run).empty();
      if (!is_twice) known->second = different;
      if (is_twice && fresh) differs.erase(known);
      if (different) nodes.push_back(node.name);
    } else if (known->second) {
      nodes.push_back(node.name);
    }
  }
  return nodes;
}

std::string uncompared_nodes(const inventory::Inventory& inventory, const inventory::Node& node,
                             const engine::RunState& run) {
  const auto mine = run.nodes.find(node.name);
  if (mine == run.nodes.end() || !has_versions(mine->second)) return {};
  const auto nodes = alike(inventory, node.profile, run);
  const auto others = nodes.size() - 1;
  const auto reported = static_cast<std::size_t>(std::ranges::count_if(
                            nodes, [](const Peer& each) { return has_versions(*each.state); })) -
                        1;
  if (reported == others) return {};
  const bool more = std::ranges::any_of(nodes, [](const Peer& each) {
    return !has_versions(*each.state) && may_still_report(*each.state);
  });
  return fmt::format("versions compared with {} of {} other nodes{}", reported, others,
                     more ? ": with the others once they have reported" : "");
}

}  // namespace cupel::steps
