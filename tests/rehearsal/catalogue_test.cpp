// The catalogue as it is shipped and read, and how it is spread over racks.
#include "rehearsal/catalogue.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "inventory/load_profile.h"
#include "inventory/shipped.h"
#include "inventory/yaml.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const inventory::Profile& dgx() {
  static const auto profile = [] {
    std::vector<inventory::Problem> problems;
    return inventory::ProfileSource{{}}.load("dgx-h100", problems).value();
  }();
  return profile;
}

std::vector<CatalogueEntry> shipped() {
  std::vector<inventory::Problem> problems;
  auto all = shipped_catalogue(dgx(), problems);
  EXPECT_THAT(problems, IsEmpty()) << to_string(problems);
  return all;
}

TEST(Catalogue, IsShippedWithoutAnErrorAndHasEveryKindOfFault) {
  std::set<FaultKind> kinds;
  std::set<std::string> names;

  const auto all = shipped();
  for (const auto& entry : all) {
    names.insert(entry.name);
    for (const auto& fault : entry.faults) kinds.insert(fault.kind);
  }

  EXPECT_GE(all.size(), 374u);
  EXPECT_EQ(names.size(), all.size());
  for (const auto& row : fault_table())
    EXPECT_TRUE(kinds.contains(row.kind)) << row.name << " is in no entry";
}

TEST(Catalogue, HasTheFaultsThatStandForPartsInTheFileOfWeights) {
  std::set<std::string, std::less<>> names;
  for (const auto& entry : shipped()) names.insert(entry.name);
  const auto* file = inventory::shipped_file("rehearsal/weights.yaml");
  ASSERT_NE(file, nullptr);
  std::vector<inventory::Problem> problems;
  const auto document = inventory::parse_yaml(file->text, "weights.yaml", problems);
  ASSERT_TRUE(document) << to_string(problems);

  inventory::YamlFields shares{document->root, "shares", document->file, problems};
  std::size_t faults = 0;
  for (const auto& item : shares.list("parts"))
    for (const auto& fault :
         inventory::YamlFields{item, "part", document->file, problems}.texts("faults")) {
      EXPECT_TRUE(names.contains(fault)) << fault;
      ++faults;
    }

  EXPECT_GT(faults, 200u);
}

/// They meet every limit of the profile, and their machine is whole: what names them is a
/// comparison.
TEST(Catalogue, HasFaultsThatOnlyTheOtherMachinesShow) {
  const auto is_compared = [](std::string_view check) {
    return check.starts_with("fleet: ") || check == "same version in the run" ||
           check == "same value in the run" || check == "same PCIe address in the run";
  };

  std::size_t found = 0;
  for (const auto& entry : shipped())
    if (is_compared(entry.expected.check)) ++found;

  EXPECT_GE(found, 15u);
}

TEST(Catalogue, NeedsWhatTheKindNeeds) {
  const auto all = shipped();
  const auto needs = [&](std::string_view name) {
    return std::ranges::find(all, name, &CatalogueEntry::name)->needs;
  };

  EXPECT_EQ(needs("gpu-missing"), Needs::nothing);
  EXPECT_EQ(needs("cables-swapped"), Needs::nothing);
  EXPECT_EQ(needs("gid-wrong"), Needs::fabric);
  EXPECT_EQ(needs("firmware-stuck"), Needs::nothing) << "the playbook firmware looks for it";
  EXPECT_EQ(needs("settings-ignored"), Needs::nothing) << "new-rack sets them";
  EXPECT_EQ(needs("dhcp-silent"), Needs::nothing) << "the playbook os looks for it";
  EXPECT_EQ(needs("gpu-off-bus-under-load"), Needs::nothing);
}

/// What is rehearsed without being looked for: tests/e2e/catalogue_test.cpp has the same names.
TEST(Catalogue, NeedsNothingButForTheseEntries) {
  std::set<std::string> waiting;
  for (const auto& entry : shipped())
    if (entry.needs != Needs::nothing) waiting.insert(entry.name);

  EXPECT_EQ(waiting, (std::set<std::string>{"cords-on-one-feed", "gid-wrong", "nvme-no-sanitize",
                                            "nvme-sanitize-fails", "nvme-sanitize-locked",
                                            "outlet-elsewhere"}));
}

TEST(Catalogue, SaysEveryErrorWithItsPlace) {
  std::vector<inventory::Problem> problems;

  parse_catalogue(R"(faults:
  - name: one
    says: something
    plant: {fault: gpu-mising, part: gpu5}
    finds: {part: gpu5, check: x}
  - name: two
    says: something
    plant: {fault: boot-hangs}
    finds: {verdict: maybe, check: x}
  - name: three
    plant: {fault: boot-hangs}
    finds: {verdict: fail}
    needs: luck
  - {name: four, says: nothing}
  - {name: one, says: again, plant: {fault: boot-loops}, finds: {verdict: pass}}
)",
                  "mine.yaml", dgx(), problems);

  const auto text = to_string(problems);
  for (const auto* message :
       {"mine.yaml:4:", "did you mean 'gpu-missing'?", "verdict is one of pass, slow, fail",
        "needs says", "which check finds it?", "nothing is called 'luck'", "it plants nothing",
        "it expects nothing", "'one' stands twice"})
    EXPECT_THAT(text, HasSubstr(message));
}

TEST(Catalogue, SpreadsOverRacksWithAQuarterHealthyAndTwoMachinesBesideEachOther) {
  const auto all = shipped();

  const auto racks = racks_of(all, "dgx-h100", 24);

  std::set<int> planted;
  std::size_t healthy = 0, nodes = 0;
  for (const auto& each : racks) {
    ASSERT_EQ(each.places.size(), each.rack.nodes.size());
    if (each.playbook == CataloguePlaybook::firmware || each.playbook == CataloguePlaybook::os)
      EXPECT_LE(each.places.size(), 24u);
    else
      EXPECT_EQ(each.places.size(), each.between_nodes() ? 12u : 24u);
    nodes += each.places.size();
    for (std::size_t i = 0; i < each.places.size(); ++i) {
      const auto& place = each.places[i];
      const auto& faults = each.rack.nodes[i].faults;
      const bool whole =
          place.entry < 0 ||
          all.at(static_cast<std::size_t>(place.entry)).update.image == PlannedUpdate{}.image;
      const bool left_alone = faults.empty() && each.rack.nodes[i].rules.empty() && whole;
      if (!place.neighbour) EXPECT_EQ(place.entry < 0, left_alone) << place.node;
      if (place.entry < 0)
        ++healthy;
      else
        planted.insert(place.entry);
      const auto* swapped = find_fault(faults, FaultKind::node_swapped);
      if (swapped != nullptr && !place.neighbour)
        EXPECT_EQ(swapped->other, each.places.at(i + 1).node);
      for (const auto kind : {FaultKind::serial_twice, FaultKind::bmc_mac_twice}) {
        const auto* twice = find_fault(faults, kind);
        if (twice == nullptr) continue;
        EXPECT_EQ(twice->other, each.places.at(i + 1).node);
        EXPECT_TRUE(each.places.at(i + 1).neighbour) << "it is not judged: it is not unique either";
      }
    }
  }
  EXPECT_EQ(planted.size(), all.size());
  EXPECT_GE(healthy * 4, nodes);
}

TEST(Catalogue, GivesFaultsBetweenNodesALeafGroupEachAndASpineARackOfItsOwn) {
  const auto all = shipped();

  std::size_t kinds = 0;
  for (const auto& each : racks_of(all, "dgx-h100", 24)) {
    if (!each.between_nodes()) {
      for (const auto& place : each.places)
        if (place.entry >= 0)
          EXPECT_EQ(all[static_cast<std::size_t>(place.entry)].playbook, each.playbook)
              << place.node;
      continue;
    }
    std::set<int> entries, groups;
    bool spine = false;
    for (const auto& place : each.places) {
      if (place.entry < 0 || place.neighbour) continue;
      const auto& entry = all[static_cast<std::size_t>(place.entry)];
      entries.insert(place.entry);
      groups.insert(place.group);
      spine |= find_fault(entry.faults, FaultKind::spine_slow) != nullptr;
      EXPECT_THAT(expected_at(entry, place).part, ::testing::Not(HasSubstr("{group}")));
    }
    EXPECT_EQ(groups.size(), entries.size()) << each.rack.name;
    if (spine) EXPECT_EQ(entries.size(), 1u);
    kinds += entries.size();
    const auto cables = cables_of(each, dgx());
    EXPECT_EQ(cables.fabric.nodes.size(), 12u);
    EXPECT_EQ(cables.fabric.nodes[0].hcas, dgx().rails);
  }
  EXPECT_GE(kinds, 20u);
}

TEST(Catalogue, GivesUpdatesRacksOfTheirOwnInWhichEachNodeHasTheProfileOfItsUpdate) {
  const auto all = shipped();

  std::set<std::string> components, images;
  for (const auto& each : racks_of(all, "dgx-h100", 24)) {
    for (std::size_t i = 0; i < each.places.size(); ++i) {
      const auto& place = each.places[i];
      const auto update =
          place.entry < 0 ? PlannedUpdate{} : all[static_cast<std::size_t>(place.entry)].update;
      const bool writes = each.playbook == CataloguePlaybook::firmware;
      EXPECT_EQ(each.rack.nodes[i].profile, writes ? update.profile() : "") << place.node;
      if (!writes) continue;
      components.insert(update.component);
      images.insert(update.image);
    }
  }
  EXPECT_EQ(components, (std::set<std::string>{"bios", "bmc", "erot", "psu"}));
  EXPECT_EQ(images, (std::set<std::string>{"corrupted", "mislabelled", "other-model", "truncated",
                                           "whole"}));
}

TEST(Catalogue, SaysWhichWordsOfAnUpdateItDoesNotKnow) {
  std::vector<inventory::Problem> problems;

  parse_catalogue(R"(playbook: firmware
faults:
  - name: one
    says: something
    update: {component: toaster, image: burnt, follow: prayer}
    finds: {check: x}
  - {name: back, says: it goes back, update: {recovery: previous-image}, plant: {fault: firmware-stuck}, finds: {check: x}}
  - {name: two, says: nothing is planted, update: {component: bmc}, finds: {check: x}}
)",
                  "mine.yaml", dgx(), problems);

  const auto text = to_string(problems);
  for (const auto* message : {"component is one of bios, bmc, erot, psu", "image is one of whole",
                              "follow is one of host-restart", "it plants nothing",
                              "a previous image is made for psu alone"})
    EXPECT_THAT(text, HasSubstr(message));
}

TEST(Catalogue, GivesInstallationsRacksInWhichNoOtherPlaybookRuns) {
  const auto all = shipped();

  std::set<int> planted;
  for (const auto& each : racks_of(all, "dgx-h100", 8)) {
    for (const auto& place : each.places) {
      if (place.entry < 0) continue;
      const auto playbook = all[static_cast<std::size_t>(place.entry)].playbook;
      EXPECT_EQ(playbook, each.playbook) << place.node;
      if (playbook == CataloguePlaybook::os) planted.insert(place.entry);
    }
  }

  EXPECT_EQ(planted.size(), static_cast<std::size_t>(std::ranges::count(
                                all, CataloguePlaybook::os, &CatalogueEntry::playbook)));
  EXPECT_GE(planted.size(), 20u);
}

TEST(Catalogue, GivesEachHealthyRackANetworkOfItsOwn) {
  const auto one = healthy_rack("dgx-h100", 64, 0), other = healthy_rack("dgx-h100", 64, 1);

  EXPECT_EQ(one.rack.nodes.size(), 64u);
  EXPECT_NE(one.rack.name, other.rack.name);
  EXPECT_NE(one.rack.nodes[0].bmc_address, other.rack.nodes[0].bmc_address);
  EXPECT_TRUE(std::ranges::all_of(one.places, [](const Place& each) { return each.entry < 0; }));
}

}  // namespace
}  // namespace cupel::rehearsal
