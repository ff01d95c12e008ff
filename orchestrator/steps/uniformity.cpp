#include "orchestrator/steps/uniformity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <map>
#include <unordered_map>

#include "base/text.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/node_range.h"
#include "inventory/parts.h"
#include "inventory/pci_address.h"
#include "inventory/versions.h"

namespace cupel::steps {
namespace {

using burnin::Cause;
using inventory::PartKind;

constexpr std::string_view kPrefix = "version.", kPlacePrefix = "place.";
constexpr std::size_t kMostFacts = 64, kMostParts = 64, kLongest = 120;
constexpr int kFewest = 4;            // parts: with fewer, one against two would be a majority
constexpr double kClear = 3.0 / 4.0;  // of the parts

using Names = std::vector<std::string>;
using ByVersion = std::map<std::string, Names, std::less<>>;

/// What is compared with what: "driver", "gpu NVIDIA H100 80GB HBM3", "hca MT4129 MT_0000000838".
std::string compared_as(const inventory::Part& part) {
  constexpr std::array<std::string_view, 3> kFirmware{"driver", "bios", "kernel"};
  const auto kind = std::string{to_string(part.kind)};
  if (part.kind == PartKind::firmware)
    return std::ranges::find(kFirmware, part.name) == kFirmware.end() ? std::string{} : part.name;
  // Which module it is: of DIMMs of one size the part number is what should be the same.
  if (part.kind == PartKind::dimm && part.size_bytes)
    return fmt::format("{} of {:.0f} GiB", kind, *part.size_bytes / 1073741824);
  if (part.model.empty()) return {};
  if (part.kind == PartKind::gpu || part.kind == PartKind::nvme || part.kind == PartKind::psu)
    return kind + " " + part.model;
  if (part.kind == PartKind::hca) return kind + " " + part.model + " " + part.part_number;
  return {};
}

const std::string& version_of(const inventory::Part& part) {
  return part.kind == PartKind::dimm ? part.part_number : part.firmware;
}

/// Kinds whose place on the PCIe tree should be the same on all machines.
bool has_place(const inventory::Part& part) {
  constexpr std::array kPlaced{PartKind::gpu, PartKind::hca, PartKind::nvme};
  return std::ranges::find(kPlaced, part.kind) != kPlaced.end() && part.name.size() <= kLongest;
}

/// Facts that should be the same as they stand; of those that end with '*', all of such a name.
constexpr std::array<std::string_view, 3> kSameFacts{"bmc.version", "bios.*",
                                                     "kernel.command_line"};
/// What the operating system sees of the BIOS's settings: SMT and cores, the IOMMU, NUMA nodes of a
/// socket.
constexpr std::array<std::string_view, 3> kSeenSettings{"cpu.threads", "iommu.on", "numa.nodes"};

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
    if (!parts.is_array() || versions.size() == kMostParts) continue;
    for (const auto& part : parts.get_array())
      if (part.is_string()) versions[std::string{version}].emplace_back(part.get_string());
  }
  return versions;
}

/// The run's nodes of one profile. By the inventory's order: a lookup by name in the run's map is
/// cheap, one in the inventory is a search.
std::vector<const engine::NodeState*> alike(const inventory::Inventory& inventory,
                                            const std::string& profile,
                                            const engine::RunState& run) {
  std::vector<const engine::NodeState*> found;
  for (const auto& node : inventory.nodes) {
    if (node.profile != profile) continue;
    const auto state = run.nodes.find(node.name);
    if (state != run.nodes.end()) found.push_back(&state->second);
  }
  return found;
}

/// How many parts have each version. Equal nodes report equal texts: each is parsed once.
std::map<std::string, int, std::less<>> counted(const std::vector<const engine::NodeState*>& nodes,
                                                const std::string& fact) {
  std::unordered_map<std::string_view, int> texts;
  for (const auto* node : nodes)
    if (const auto told = node->facts.find(fact); told != node->facts.end()) ++texts[told->second];
  std::map<std::string, int, std::less<>> counts;
  for (const auto& [text, times] : texts)
    for (const auto& [version, parts] : versions_in(text))
      counts[version] += times * static_cast<int>(parts.size());
  return counts;
}

/// One cause for all parts of the node that have the version: of several, the node's.
Cause difference(const Names& parts, const std::string& version, const std::string& common,
                 int have, int all) {
  const auto named = inventory::fold(parts);
  const bool several = parts.size() > 1;
  Cause cause;
  cause.part = several ? std::string{} : named;
  cause.criterion = "same version in the run";
  cause.measured = several ? named + " " + version : version;
  cause.wanted = fmt::format("{}, as {} of {} have it", common, have, all);
  const bool module = named.starts_with("dimm ");
  cause.remedy =
      module ? fmt::format("exchange {} for {}, or the others for {}", named, common, version)
             : fmt::format("update {} to {}, or the others to {}", named, common, version);
  return cause;
}

void compare(const ByVersion& own, const std::map<std::string, int, std::less<>>& counts,
             std::vector<Cause>& causes) {
  int all = 0;
  for (const auto& [version, count] : counts) all += count;
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
  if (all < kFewest || most == counts.end() || most->second < kClear * all) return;
  for (const auto& [version, parts] : own)
    if (version != most->first)
      causes.push_back(difference(parts, version, most->first, most->second, all));
}

/// The value that three quarters have; nothing where there is none or too few have any.
const std::pair<const std::string, int>* common_of(
    const std::map<std::string, int, std::less<>>& counts, int& all) {
  all = 0;
  for (const auto& [value, count] : counts) all += count;
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
  const bool clear = all >= kFewest && most != counts.end() && most->second >= kClear * all;
  return clear ? &*most : nullptr;
}

Cause unlike(std::string part, std::string_view what, const std::string& measured,
             const std::string& common, int have, int all, std::string remedy) {
  constexpr std::size_t kShown = 200;
  Cause cause;
  cause.part = std::move(part);
  cause.criterion = fmt::format("same {} in the run", what);
  cause.measured = shortened(measured, kShown);
  cause.wanted = fmt::format("{}, as {} of {} have it", shortened(common, kShown), have, all);
  cause.remedy = std::move(remedy);
  return cause;
}

using Nodes = std::vector<const engine::NodeState*>;

std::string_view fact_of(const engine::NodeState& node, const std::string& name) {
  const auto found = node.facts.find(name);
  return found == node.facts.end() ? std::string_view{} : std::string_view{found->second};
}

/// What a BMC says is compared with BMCs of its kind.
bool is_alike(const engine::NodeState& a, const engine::NodeState& b) {
  return fact_of(a, "bmc.vendor") == fact_of(b, "bmc.vendor") &&
         fact_of(a, "system.model") == fact_of(b, "system.model");
}

void compare_fact(const std::string& fact, const engine::NodeState& node, const Nodes& nodes,
                  std::string remedy, std::vector<Cause>& causes) {
  std::map<std::string, int, std::less<>> counts;
  std::unordered_map<std::string_view, int> texts;  // each is read once
  for (const auto* each : nodes)
    if (each->facts.contains(fact) && is_alike(*each, node)) ++texts[fact_of(*each, fact)];
  const auto own = fact_of(node, fact);
  for (const auto& [text, times] : texts) counts[comparable(fact, text)] += times;
  int all = 0;
  const auto* common = common_of(counts, all);
  const auto mine = comparable(fact, own);
  if (common == nullptr || common->first == mine) return;
  // A BMC that answered by IPMI alone for a while.
  if (fact == "bmc.version" && inventory::abbreviates(mine, common->first)) return;
  causes.push_back(unlike(fact, "value", mine.empty() ? "nothing" : mine, common->first,
                          common->second, all, std::move(remedy)));
}

void compare_facts(const engine::NodeState& mine, const Nodes& nodes, std::vector<Cause>& causes) {
  for (const auto pattern : kSameFacts) {
    const bool many = pattern.ends_with('*');
    const std::string head{many ? pattern.substr(0, pattern.size() - 1) : pattern};
    for (auto fact = mine.facts.lower_bound(head); fact != mine.facts.end(); ++fact) {
      if (many ? !fact->first.starts_with(head) : fact->first != head) break;
      // The version is the BIOS's own fact, told by the node too.
      if (fact->first == "bios.version") continue;
      auto remedy =
          fmt::format("set {} as on the other machines, or theirs as on this", fact->first);
      compare_fact(fact->first, mine, nodes, std::move(remedy), causes);
    }
  }
  for (const auto seen : kSeenSettings)
    if (const std::string fact{seen}; mine.facts.contains(fact))
      compare_fact(
          fact, mine, nodes,
          "compare its BIOS settings (SMT, cores, IOMMU, NUMA nodes per socket) with those "
          "of another machine",
          causes);
}

/// Which part of a kind sits where: by address. Names are no ground to compare: drives are counted
/// as they answer, in another order at each boot.
std::map<std::string, std::string, std::less<>> places_in(std::string_view fact) {
  std::map<std::string, std::string, std::less<>> places;
  const auto document = parse_json(fact);
  if (!document || !document->is_object()) return places;
  for (const auto& [name, place] : document->get_object())
    if (place.is_string() && places.size() < kMostParts)
      places.emplace(std::string{place.get_string()}, name);
  return places;
}

void compare_places(const std::string& fact, const std::string& own, const Nodes& nodes,
                    std::vector<Cause>& causes) {
  std::unordered_map<std::string_view, int> texts;
  int all = 0;
  for (const auto* node : nodes)
    if (const auto found = node->facts.find(fact); found != node->facts.end()) {
      ++texts[found->second];
      ++all;
    }
  if (texts.size() < 2 || all < kFewest) return;
  std::map<std::string, int, std::less<>> counts;
  for (const auto& [text, times] : texts)
    for (const auto& [place, name] : places_in(text)) counts[place] += times;

  // Where others have a part and this machine has none; a missing part is another check's to name.
  const auto mine = places_in(own);
  std::vector<std::pair<std::string, int>> empty;
  for (const auto& [place, have] : counts)
    if (have >= kClear * all && !mine.contains(place)) empty.emplace_back(place, have);
  auto next = empty.begin();
  for (const auto& [place, name] : mine) {
    if (next == empty.end()) return;
    if (counts[place] > (1 - kClear) * all) continue;
    causes.push_back(unlike(name, "PCIe address", place, next->first, next->second, all,
                            "compare the risers, switches and BIOS slot settings with those of "
                            "another machine"));
    ++next;
  }
}

/// What boards say whose serial number nobody wrote.
bool is_a_serial(std::string_view text) {
  constexpr std::size_t kShortest = 5;
  constexpr std::array<std::string_view, 5> kUnwritten{"o.e.m", "default", "none", "not spec",
                                                       "123456789"};
  const auto low = lower_case(text);
  return text.size() >= kShortest && low.find_first_not_of("0x.- ") != low.npos &&
         std::ranges::none_of(kUnwritten, [&](auto each) { return low.contains(each); });
}

/// Machines behind one BMC may all have the serial number of what holds them (HPE Cray EX235n).
bool are_behind_one_bmc(const inventory::Node& node, const inventory::Node* other) {
  return other != nullptr && !node.bmc.shared_as.empty() &&
         node.bmc.shared_as == other->bmc.shared_as;
}

/// Two machines of one serial number: one of them is not what the inventory takes it for.
void compare_serials(const engine::NodeState& mine, const inventory::Inventory& inventory,
                     const inventory::Node& node, const engine::RunState& run,
                     std::vector<Cause>& causes) {
  const auto serial = fact_of(mine, "system.serial");
  if (!is_a_serial(serial)) return;
  for (const auto& [other, state] : run.nodes) {
    if (other == node.name || fact_of(state, "system.serial") != serial) continue;
    if (are_behind_one_bmc(node, inventory.node(other))) continue;
    Cause cause;
    cause.decision = burnin::Decision::inconclusive;
    cause.criterion = "serial number of its own";
    cause.measured = std::string{serial};
    cause.wanted = "one that no other node has: " + other + " has it, too";
    cause.remedy = "find out which machine this is: its BMC address may be that of " + other;
    causes.push_back(std::move(cause));
    return;
  }
}

bool has_versions(const engine::NodeState& node) {
  const auto first = node.facts.lower_bound(std::string{kPrefix});
  return first != node.facts.end() && first->first.starts_with(kPrefix);
}

}  // namespace

json::object setting_facts(std::span<const burnin::Measurement> measurements) {
  json::object facts;
  for (const auto& each : measurements)
    if (each.part.empty() && std::ranges::find(kSeenSettings, each.name) != kSeenSettings.end())
      facts[each.name] = plain(each.value);
  return facts;
}

json::object version_facts(std::span<const inventory::Part> parts) {
  std::map<std::string, std::map<std::string, Names, std::less<>>, std::less<>> found;
  for (const auto& part : parts) {
    const auto key = compared_as(part);
    const auto& version = version_of(part);
    const bool known =
        !key.empty() && !version.empty() && version.size() <= kLongest && key.size() <= kLongest;
    if (!known || (!found.contains(key) && found.size() == kMostFacts)) continue;
    auto& names = found[key][version];
    if (names.size() < kMostParts) names.push_back(part.name);
  }
  json::object facts;
  for (const auto& [key, versions] : found) {
    json::object text;
    for (const auto& [version, names] : versions)
      text[version] = json::array(names.begin(), names.end());
    facts[std::string{kPrefix} + key] = json::serialize(text);
  }
  std::map<std::string, json::object> places;
  for (const auto& part : parts) {
    // nvidia-smi, the kernel and the BMC write one address in different ways.
    const auto place = has_place(part) ? inventory::written_pci(part.slot) : std::nullopt;
    if (!place) continue;
    auto& of_kind = places[std::string{kPlacePrefix} + std::string{to_string(part.kind)}];
    if (of_kind.size() < kMostParts) of_kind[part.name] = *place;
  }
  for (const auto& [name, of_kind] : places) facts[name] = json::serialize(of_kind);
  return facts;
}

std::vector<Cause> version_differences(const inventory::Inventory& inventory,
                                       const inventory::Node& node, const engine::RunState& run) {
  std::vector<Cause> causes;
  const auto mine = run.nodes.find(node.name);
  if (mine == run.nodes.end()) return causes;
  const auto nodes = alike(inventory, node.profile, run);
  for (auto fact = mine->second.facts.lower_bound(std::string{kPrefix});
       fact != mine->second.facts.end() && fact->first.starts_with(kPrefix); ++fact)
    compare(versions_in(fact->second), counted(nodes, fact->first), causes);
  for (auto fact = mine->second.facts.lower_bound(std::string{kPlacePrefix});
       fact != mine->second.facts.end() && fact->first.starts_with(kPlacePrefix); ++fact)
    compare_places(fact->first, fact->second, nodes, causes);
  compare_facts(mine->second, nodes, causes);
  compare_serials(mine->second, inventory, node, run, causes);
  return causes;
}

std::string uncompared_nodes(const inventory::Inventory& inventory, const inventory::Node& node,
                             const engine::RunState& run) {
  const auto mine = run.nodes.find(node.name);
  if (mine == run.nodes.end() || !has_versions(mine->second)) return {};
  const auto nodes = alike(inventory, node.profile, run);
  const auto others = nodes.size() - 1;
  const auto reported = static_cast<std::size_t>(std::ranges::count_if(
                            nodes, [](const auto* each) { return has_versions(*each); })) -
                        1;
  if (reported == others) return {};
  return fmt::format("versions compared with {} of {} other nodes", reported, others);
}

}  // namespace cupel::steps
