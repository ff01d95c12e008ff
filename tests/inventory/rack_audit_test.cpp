// What sits in which slot: swapped trays, trays of other racks, two with one slot.
#include "inventory/rack_audit.h"

#include <gmock/gmock.h>

namespace cupel::inventory {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = RackFinding::Kind;

constexpr const char* kChassis = "1800000000001";

RackPlace at(std::string part, std::optional<int> slot, std::string chassis = kChassis) {
  return {.part = std::move(part), .chassis_serial = std::move(chassis), .slot = slot};
}

/// A tray of four GPUs that all say this.
SeenTray tray(int number, std::optional<int> slot, std::optional<int> expected,
              const std::string& chassis = kChassis) {
  SeenTray seen{.name = "a01/compute" + std::to_string(number),
                .expected_slot = expected,
                .serial = "SN" + std::to_string(number)};
  for (int gpu = 0; gpu < 4; ++gpu)
    seen.places.push_back(at("GPU_" + std::to_string(gpu), slot, chassis));
  return seen;
}

/// Trays 1 to `count`, each where it should be.
std::vector<SeenTray> rack(int count) {
  std::vector<SeenTray> all;
  for (int i = 1; i <= count; ++i) all.push_back(tray(i, i, i));
  return all;
}

std::vector<Kind> kinds(const std::vector<RackFinding>& findings) {
  std::vector<Kind> all;
  for (const auto& each : findings) all.push_back(each.kind);
  return all;
}

TEST(RackAudit, FindsNothingInARackThatIsAsItShouldBe) {
  EXPECT_THAT(audit_rack(rack(18)), IsEmpty());
  EXPECT_EQ(chassis_of_most(rack(18)), kChassis);
}

TEST(RackAudit, NamesBothOfTwoSwappedTraysOnce) {
  auto trays = rack(18);
  trays[3] = tray(4, 9, 4);
  trays[8] = tray(9, 4, 9);

  const auto findings = audit_rack(trays);

  ASSERT_THAT(kinds(findings), ElementsAre(Kind::swapped));
  EXPECT_THAT(findings[0].trays, ElementsAre("a01/compute4", "a01/compute9"));
  EXPECT_EQ(findings[0].what,
            "a01/compute4 and a01/compute9 are in each other's slots: a01/compute4 is in slot 9, "
            "a01/compute9 in slot 4");
}

TEST(RackAudit, NamesEachOfThreeTraysThatWentRoundAsMoved) {
  auto trays = rack(18);
  trays[0] = tray(1, 2, 1);
  trays[1] = tray(2, 3, 2);
  trays[2] = tray(3, 1, 3);

  EXPECT_THAT(kinds(audit_rack(trays)), ElementsAre(Kind::moved, Kind::moved, Kind::moved));
}

TEST(RackAudit, NamesATrayOfAnotherRackWithoutComparingItsSlot) {
  auto trays = rack(18);
  trays[6] = tray(7, 3, 7, "1800000000002");

  const auto findings = audit_rack(trays);

  ASSERT_THAT(kinds(findings), ElementsAre(Kind::another_rack));
  EXPECT_THAT(findings[0].what, HasSubstr("a01/compute7 is a tray of another rack: it reports "
                                          "chassis 1800000000002, most trays report"));
}

TEST(RackAudit, NamesNoForeignTrayWithoutAMajority) {
  auto trays = rack(4);
  trays[0] = tray(1, 1, 1, "1800000000002");
  trays[1] = tray(2, 2, 2, "1800000000002");

  const auto findings = audit_rack(trays);

  ASSERT_THAT(kinds(findings), ElementsAre(Kind::several_racks));
  EXPECT_EQ(findings[0].trays.size(), 4);
}

TEST(RackAudit, NamesTwoTraysThatReportOneSlot) {
  auto trays = rack(18);
  trays[4] = tray(5, 6, std::nullopt);

  const auto findings = audit_rack(trays);

  ASSERT_THAT(kinds(findings), ElementsAre(Kind::one_slot));
  EXPECT_EQ(findings[0].what, "a01/compute5 and a01/compute6 report one slot: 6");
}

TEST(RackAudit, NamesATrayWhosePartsDoNotAgreeAndBlamesNoOtherForIt) {
  auto trays = rack(18);
  trays[4].places[2] = at("GPU_2", 6);

  const auto findings = audit_rack(trays);

  ASSERT_THAT(kinds(findings), ElementsAre(Kind::two_answers));
  EXPECT_THAT(findings[0].what, HasSubstr("GPU_1 reports slot 5 of chassis 1800000000001, GPU_2 "
                                          "reports slot 6"));
}

TEST(RackAudit, TakesNothingFromATrayThatSaysNothing) {
  auto trays = rack(18);
  trays[4] = tray(5, std::nullopt, 5, "");
  trays[5].places.clear();

  EXPECT_THAT(audit_rack(trays), IsEmpty());
}

TEST(RackAudit, NamesAMachineThatAnswersForTwoTraysAndABmcOfAnotherMac) {
  auto trays = rack(3);
  trays[1].serial = "sn1";
  trays[2].expected_mac = "aa:bb:cc:00:11:22";
  trays[2].macs = {"aa:bb:cc:00:11:33"};

  const auto findings = audit_rack(trays);

  ASSERT_THAT(kinds(findings), ElementsAre(Kind::another_bmc, Kind::one_machine));
  EXPECT_EQ(findings[1].what,
            "one machine answers for a01/compute1 and a01/compute2: serial number SN1");
}

TEST(RackAudit, TakesPlaceholdersForNoSerial) {
  auto trays = rack(3);
  for (auto& each : trays) each.serial = "NA";

  EXPECT_THAT(audit_rack(trays), IsEmpty());
}

TEST(RackAudit, NamesASwitchThatIsSetUpForAnotherTopology) {
  auto trays = rack(3);
  for (int i = 0; i < 3; ++i) {
    SeenTray one{.name = "a01/switch" + std::to_string(i + 1), .is_switch = true};
    one.places = {at("switch", 10 + i)};
    one.places[0].topology = i == 1 ? "GB200 NVL36" : "GB200 NVL72";
    trays.push_back(one);
  }

  const auto findings = audit_rack(trays);

  ASSERT_THAT(kinds(findings), ElementsAre(Kind::another_topology));
  EXPECT_THAT(findings[0].trays, ElementsAre("a01/switch2"));
}

TEST(RackAudit, FindsAComputeTrayInTheSlotOfASwitch) {
  auto trays = rack(3);
  SeenTray one{.name = "a01/switch1", .is_switch = true, .expected_slot = 9};
  one.places = {at("switch", 3)};
  trays[2] = tray(3, 9, 3);
  trays.push_back(one);

  EXPECT_THAT(kinds(audit_rack(trays)), ElementsAre(Kind::swapped));
}

}  // namespace
}  // namespace cupel::inventory
