#include "rehearsal/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/enum_words.h"
#include "inventory/shipped.h"
#include "inventory/yaml.h"
#include "rehearsal/bmc/vendor_behavior.h"
#include "rehearsal/read_faults.h"
#include "rehearsal/read_rules.h"

namespace cupel::rehearsal {
namespace {

using inventory::YamlFields;
using inventory::YamlValue;
using Problems = std::vector<inventory::Problem>;

constexpr std::array<std::string_view, 4> kVerdicts{"pass", "slow", "fail", "inconclusive"};
constexpr std::array<std::string_view, 4> kComponents{"bios", "bmc", "erot", "psu"};
constexpr std::array<std::string_view, 5> kImages{"whole", "corrupted", "truncated", "other-model",
                                                  "mislabelled"};
constexpr std::array<std::string_view, 3> kFollows{"host-restart", "bmc-restart", "ac-cycle"};
constexpr std::array<std::string_view, 2> kRecoveries{"none", "previous-image"};
constexpr std::array kPlaybooks{CataloguePlaybook::new_rack, CataloguePlaybook::fabric,
                                CataloguePlaybook::firmware, CataloguePlaybook::os};
constexpr std::array kNeeds{Needs::burn_in, Needs::fabric, Needs::firmware, Needs::os,
                            Needs::sanitize};

std::string one_of(YamlFields& fields, std::string_view key,
                   std::span<const std::string_view> known, std::string otherwise) {
  const auto word = fields.text(key).value_or(std::move(otherwise));
  if (std::ranges::find(known, word) == known.end())
    fields.report(fields.place(key),
                  fmt::format("{} is one of {}, not '{}'", key, fmt::join(known, ", "), word));
  return word;
}

class EntryReader {
 public:
  EntryReader(const YamlValue& item, const std::string& file, const inventory::Profile& profile,
              CataloguePlaybook playbook, Problems& problems)
      : item_{item},
        fields_{item, "fault of the catalogue", file, problems},
        file_{file},
        profile_{profile},
        playbook_{playbook},
        problems_{problems} {}

  CatalogueEntry read() {
    CatalogueEntry entry;
    entry.playbook = playbook_;
    entry.where = {file_, item_.line, item_.column};
    entry.name = fields_.required("name");
    entry.says = fields_.required("says");
    if (playbook_ == CataloguePlaybook::firmware) write(entry);
    plant(entry);
    expect(entry);
    need(entry);
    if (const auto vendor = fields_.text("bmc")) entry.bmc.vendor = *vendor;
    if (vendor_behavior_of(entry.bmc.vendor) == nullptr)
      fields_.report(fields_.place("bmc"), "there is no BMC of vendor '" + entry.bmc.vendor + "'");
    fields_.finish();
    return entry;
  }

 private:
  /// Read as a rack's file of two nodes would have it.
  void plant(CatalogueEntry& entry) {
    const auto faults = of_this_node("plant", "node");
    const auto rules = of_this_node("rules", "nodes");
    if (faults.empty() && rules.empty() && entry.update.image == PlannedUpdate{}.image)
      return fields_.report(fields_.place(), "it plants nothing: neither plant nor rules is there");
    RackSpec two{.name = "catalogue", .profile = profile_.name};
    for (const auto name : {kThisNode, kNeighbour}) {
      NodeSpec node;
      node.name = name;
      two.nodes.push_back(std::move(node));
    }
    two.profiles[profile_.name] = profile_;
    read_faults(faults, file_, two, problems_);
    read_rules(rules, file_, two, problems_);
    entry.faults = two.nodes[0].faults;
    entry.of_neighbour = two.nodes[1].faults;
    entry.rules = two.nodes[0].rules;
  }

  /// One map or a list of them, as a rack's file has them: with the node.
  std::vector<YamlValue> of_this_node(std::string_view key, std::string_view node_key) {
    const auto* reported = fields_.value(key);
    if (reported == nullptr) return {};
    auto items = reported->kind == YamlValue::Kind::list ? reported->items
                                                         : std::vector<YamlValue>{*reported};
    for (auto& item : items) {
      YamlValue node{.kind = YamlValue::Kind::scalar,
                     .text = std::string{kThisNode},
                     .line = item.line,
                     .column = item.column,
                     .key = std::string{node_key}};
      item.items.insert(item.items.begin(), std::move(node));
    }
    return items;
  }

  void expect(CatalogueEntry& entry) {
    const auto* reported = fields_.value("finds");
    if (reported == nullptr)
      return fields_.report(fields_.place(), "it expects nothing: finds is not there");
    YamlFields finds{*reported, "finds", file_, problems_};
    entry.expected.verdict = one_of(finds, "verdict", kVerdicts, "fail");
    entry.expected.part = finds.text("part").value_or("");
    entry.expected.check = finds.text("check").value_or("");
    entry.expected.like = finds.text("like").value_or("");
    entry.expected.because = finds.text("because").value_or("");
    if (entry.expected.check.empty() && entry.expected.verdict != "pass")
      finds.report(finds.place(), "which check finds it?");
    finds.finish();
  }

  void write(CatalogueEntry& entry) {
    const auto* reported = fields_.value("update");
    if (reported == nullptr) return;
    YamlFields update{*reported, "update", file_, problems_};
    auto& into = entry.update;
    into.component = one_of(update, "component", kComponents, into.component);
    into.image = one_of(update, "image", kImages, into.image);
    into.follow = one_of(update, "follow", kFollows, into.follow);
    into.recovery = one_of(update, "recovery", kRecoveries, into.recovery);
    if (into.recovery != "none" && into.component != "psu")
      update.report(update.place("recovery"), "a previous image is made for psu alone");
    update.finish();
  }

  /// What the kinds need, unless the entry says more.
  void need(CatalogueEntry& entry) {
    for (const auto& fault : entry.faults)
      if (row_of(fault.kind).needs != Needs::nothing) entry.needs = row_of(fault.kind).needs;
    const bool rolled_out =
        (entry.needs == Needs::firmware && entry.playbook == CataloguePlaybook::firmware) ||
        (entry.needs == Needs::os && entry.playbook == CataloguePlaybook::os);
    if (rolled_out) entry.needs = Needs::nothing;
    const auto word = fields_.text("needs");
    if (!word) return;
    const auto found =
        std::ranges::find_if(kNeeds, [&](Needs each) { return to_string(each) == *word; });
    if (found == kNeeds.end())
      fields_.report(fields_.place("needs"), "nothing is called '" + *word + "'");
    else
      entry.needs = *found;
  }

  const YamlValue& item_;
  YamlFields fields_;
  const std::string& file_;
  const inventory::Profile& profile_;
  CataloguePlaybook playbook_;
  Problems& problems_;
};

std::vector<Fault> renamed(std::vector<Fault> faults, const std::string& node,
                           const std::string& neighbour) {
  for (auto& fault : faults) {
    if (fault.other == kThisNode) fault.other = node;
    if (fault.other == kNeighbour) fault.other = neighbour;
  }
  return faults;
}

constexpr std::size_t kNodesOfGroup = 4, kGroups = 3;

/// Whether the fault is the node's beside it too, though it is planted on one.
bool reaches_neighbour(const CatalogueEntry& entry) {
  return !entry.of_neighbour.empty() || find_fault(entry.faults, FaultKind::cage_bad) != nullptr ||
         find_fault(entry.faults, FaultKind::cables_crossed) != nullptr ||
         find_fault(entry.faults, FaultKind::pair_slow) != nullptr ||
         find_fault(entry.faults, FaultKind::serial_twice) != nullptr ||
         find_fault(entry.faults, FaultKind::bmc_mac_twice) != nullptr;
}

class Planner {
 public:
  Planner(const std::string& profile, std::size_t nodes) : profile_{profile}, nodes_{nodes} {}

  std::vector<CatalogueRack> plan_healthy(std::size_t before) {
    before_ = before;
    begin();
    while (left() > 0) healthy();
    return std::move(racks_);
  }

  std::vector<CatalogueRack> plan(const std::vector<CatalogueEntry>& catalogue) {
    each_of(CataloguePlaybook::new_rack, catalogue, &Planner::add);
    while (!racks_.empty() && racks_.back().places.size() % nodes_ != 0) healthy();
    each_of(CataloguePlaybook::firmware, catalogue, &Planner::add);
    each_of(CataloguePlaybook::os, catalogue, &Planner::add);
    nodes_ = kNodesOfGroup * kGroups;
    each_of(CataloguePlaybook::fabric, catalogue, &Planner::add_between);
    fill();
    return std::move(racks_);
  }

 private:
  void each_of(CataloguePlaybook playbook, const std::vector<CatalogueEntry>& catalogue,
               void (Planner::*add)(const CatalogueEntry&, int)) {
    playbook_ = playbook;
    for (std::size_t i = 0; i < catalogue.size(); ++i)
      if (catalogue[i].playbook == playbook) (this->*add)(catalogue[i], static_cast<int>(i));
    // These have few racks: whoever is the last one's fourth is healthy, and that is all of them.
    const bool few = playbook == CataloguePlaybook::firmware || playbook == CataloguePlaybook::os;
    if (few && left() > 0) healthy();
  }

  /// In a rack of the same playbook.
  std::size_t left() const {
    const bool joins = !racks_.empty() && racks_.back().playbook == playbook_;
    return joins ? nodes_ - racks_.back().places.size() : 0;
  }

  void add(const CatalogueEntry& entry, int index) {
    const std::size_t requested = reaches_neighbour(entry) ? 2 : 1;
    // Each fourth node is healthy: whoever blames the innocent is to be seen.
    if (left() > 0 && racks_.back().places.size() % 4 == 3) healthy();
    while (left() > 0 && left() < requested) healthy();
    if (left() == 0) begin();
    const auto name = next(), neighbour = next_after();
    place(entry, renamed(entry.faults, name, neighbour), {name, index, false});
    if (requested == 2)
      place(entry, renamed(entry.of_neighbour, name, neighbour), {neighbour, index, true});
  }

  /// One in each leaf group: what is wrong with one group's switches is behind nobody else. A spine
  /// is behind all of them.
  void add_between(const CatalogueEntry& entry, int index) {
    const bool of_all = find_fault(entry.faults, FaultKind::spine_slow) != nullptr;
    if (racks_.empty() || !racks_.back().between_nodes() || left() == 0 || of_all || alone_) {
      fill();
      begin();
    }
    alone_ = of_all;
    const auto name = next(), neighbour = next_after();
    place(entry, renamed(entry.faults, name, neighbour), {name, index, false});
    if (reaches_neighbour(entry))
      place(entry, renamed(entry.of_neighbour, name, neighbour), {neighbour, index, true});
    while (racks_.back().places.size() % kNodesOfGroup != 0) healthy();
  }

  /// Whoever is not there is no partner.
  void fill() {
    while (!racks_.empty() && racks_.back().between_nodes() && left() > 0) healthy();
  }

  void begin() {
    const auto number = before_ + racks_.size() + 1;
    racks_.push_back({.rack = {.name = fmt::format("c{:02}", number), .profile = profile_},
                      .places = {},
                      .playbook = playbook_});
  }

  std::string named(std::size_t index) const {
    return fmt::format("{}-n{:02}", racks_.back().rack.name, index);
  }
  std::string next() const { return named(racks_.back().places.size() + 1); }
  std::string next_after() const { return named(racks_.back().places.size() + 2); }

  void healthy() { place({}, {}, {next(), -1, false}); }

  void place(const CatalogueEntry& entry, std::vector<Fault> faults, Place where) {
    constexpr std::size_t kFirstNetwork = 80, kNetworks = 64;
    auto& rack = racks_.back();
    const auto network = kFirstNetwork + (before_ + racks_.size()) % kNetworks;
    const auto host = rack.places.size() + 1;
    rack.rack.nodes.push_back({.name = where.node,
                               .bmc_address = fmt::format("127.{}.1.{}", network, host),
                               .ssh_address = fmt::format("127.{}.2.{}", network, host),
                               .faults = std::move(faults),
                               .bmc = entry.bmc,
                               .profile = profile_of(entry),
                               .rules = where.neighbour ? std::vector<Rule>{} : entry.rules});
    if (rack.between_nodes())
      where.group = static_cast<int>(rack.places.size() / kNodesOfGroup) + 1;
    rack.places.push_back(std::move(where));
  }

  /// Empty: the rack's.
  std::string profile_of(const CatalogueEntry& entry) const {
    return playbook_ == CataloguePlaybook::firmware ? entry.update.profile() : std::string{};
  }

  const std::string& profile_;
  std::size_t nodes_;
  CataloguePlaybook playbook_ = CataloguePlaybook::new_rack;
  std::size_t before_ = 0;
  bool alone_ = false;  // the last rack takes no other fault
  std::vector<CatalogueRack> racks_{};
};

}  // namespace

std::string_view shipped_name(CataloguePlaybook playbook) { return enum_word<'-'>(playbook); }

std::string PlannedUpdate::profile() const {
  return fmt::format("update-{}-{}-{}{}", component, image, follow,
                     recovery == "none" ? "" : "-" + recovery);
}

std::vector<CatalogueEntry> parse_catalogue(std::string_view text, const std::string& file,
                                            const inventory::Profile& profile, Problems& problems) {
  const auto document = inventory::parse_yaml(text, file, problems);
  if (!document) return {};
  YamlFields fields{document->root, "catalogue", file, problems};
  std::vector<CatalogueEntry> entries;
  const auto word = fields.text("playbook").value_or("new-rack");
  const auto* playbook = std::ranges::find_if(
      kPlaybooks, [&](CataloguePlaybook each) { return shipped_name(each) == word; });
  if (playbook == kPlaybooks.end()) {
    fields.report(fields.place("playbook"), "playbook is new-rack, fabric, firmware or os");
    playbook = kPlaybooks.begin();
  }
  for (const auto& item : fields.list("faults")) {
    auto entry = EntryReader{item, file, profile, *playbook, problems}.read();
    const bool twice =
        std::ranges::find(entries, entry.name, &CatalogueEntry::name) != entries.end();
    if (twice) problems.push_back({entry.where, "'" + entry.name + "' stands twice"});
    entries.push_back(std::move(entry));
  }
  fields.finish();
  return entries;
}

std::vector<CatalogueEntry> shipped_catalogue(const inventory::Profile& profile,
                                              Problems& problems) {
  constexpr std::string_view kFolder = "rehearsal/catalogue/";
  std::vector<CatalogueEntry> all;
  for (const auto& shipped : inventory::shipped_files()) {
    if (!shipped.path.starts_with(kFolder)) continue;
    auto some = parse_catalogue(shipped.text, std::string{shipped.path}, profile, problems);
    std::ranges::move(some, std::back_inserter(all));
  }
  return all;
}

Expected expected_at(const CatalogueEntry& entry, const Place& place) {
  constexpr std::string_view kGroup = "{group}", kNode = "{node}";
  auto expected = entry.expected;
  for (auto* text : {&expected.part, &expected.like}) {
    if (const auto at = text->find(kGroup); at != text->npos)
      text->replace(at, kGroup.size(), std::to_string(place.group));
    if (const auto at = text->find(kNode); at != text->npos)
      text->replace(at, kNode.size(), place.node);
  }
  return expected;
}

inventory::FabricSite cables_of(const CatalogueRack& rack, const inventory::Profile& profile) {
  inventory::FabricSite site;
  site.rule = inventory::FabricRule{
      .group = static_cast<int>(kNodesOfGroup), .spines = 2, .uplinks = 2, .ports_per_cage = 2};
  std::vector<inventory::FabricMember> members;
  for (const auto& node : rack.rack.nodes) members.push_back({node.name, profile.rails});
  std::vector<inventory::Problem> problems;
  site.fabric = make_fabric(*site.rule, members, problems);
  return site;
}

std::vector<CatalogueRack> racks_of(const std::vector<CatalogueEntry>& catalogue,
                                    const std::string& profile, std::size_t nodes_of_rack) {
  return Planner{profile, std::max<std::size_t>(nodes_of_rack, 4)}.plan(catalogue);
}

CatalogueRack healthy_rack(const std::string& profile, std::size_t nodes, std::size_t index) {
  constexpr std::size_t kMost = 250;
  auto racks = Planner{profile, std::clamp<std::size_t>(nodes, 1, kMost)}.plan_healthy(index);
  return std::move(racks.front());
}

}  // namespace cupel::rehearsal
