// Cables and transceivers of the plan against those that mlxlink reports.
#include "burnin/fabric/planned_parts.h"

#include <gmock/gmock.h>

namespace cupel::burnin {
namespace {

using inventory::Cable;
using inventory::CableType;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A node at a leaf by copper, and the leaf at a spine by fibre between two transceivers.
struct Parts {
  inventory::Fabric plan{};
  LinkLook look{};

  Parts() {
    plan.switches = {{.name = "leaf1"}, {.name = "spine1", .level = inventory::SwitchLevel::spine}};
    plan.nodes = {{.name = "n01", .hcas = {"mlx5_0"}, .host = "dgx-01"}};
    plan.cables = {Cable{.from = {"n01", "mlx5_0", 1},
                         .to = {"leaf1", "", 7},
                         .type = CableType::dac,
                         .metres = 2,
                         .serial = "MT2201VS00123"},
                   Cable{.from = {"leaf1", "", 33},
                         .to = {"spine1", "", 33},
                         .type = CableType::fibre,
                         .metres = 30,
                         .at_from = {.serial = "MT2336FT01111"},
                         .at_to = {.serial = "MT2336FT02222"}}};
    const PortId hca{"DGX-01", "mlx5_0", 1}, leaf{"leaf1", "", 7}, up{"leaf1", "", 33},
        down{"spine1", "", 33};
    look.links = {{hca, leaf, 4, "NDR"}, {up, down, 4, "NDR"}};
    for (const auto& [port, serial] :
         {std::pair{hca, "MT2201VS00123-1"}, {leaf, "MT2201VS00123-2"}})
      look.reports[port] = {
          .state = "Active",
          .module = {.type = "Passive copper cable", .serial = serial, .metres = 2}};
    for (const auto& [port, serial] : {std::pair{up, "MT2336FT01111"}, {down, "MT2336FT02222"}})
      look.reports[port] = {
          .state = "Active",
          .module = {.type = "Optical Module (separated)", .serial = serial, .metres = 100}};
  }
  std::vector<std::string> found() const {
    std::vector<std::string> all;
    for (const auto& each : unplanned_parts(look, plan))
      all.push_back(std::string{to_string(each.defect.fault)} + ": " + each.defect.what);
    return all;
  }
};

TEST(PlannedParts, AreRightWhereKindLengthAndSerialNumbersAreThePlans) {
  EXPECT_THAT(Parts{}.found(), IsEmpty());
}

TEST(PlannedParts, OfAnotherKindLengthOrSerialNumberAreNamedAtTheirEnd) {
  Parts parts;
  parts.look.reports[{"DGX-01", "mlx5_0", 1}].module.type = "Active cable (active copper / optics)";
  parts.look.reports[{"leaf1", "", 7}].module.metres = 3;
  parts.look.reports[{"leaf1", "", 7}].module.serial = "MT2201VS00999";
  parts.look.reports[{"spine1", "", 33}].module.serial = "MT2336FT03333";

  EXPECT_THAT(
      parts.found(),
      ElementsAre("wrong-type: Active cable (active copper / optics) at DGX-01 mlx5_0, planned DAC",
                  "wrong-length: 3 m at leaf1 port 7, planned 2 m",
                  "wrong-serial: cable MT2201VS00999 at leaf1 port 7, planned MT2201VS00123",
                  "wrong-serial: transceiver MT2336FT03333 at spine1 port 33, planned "
                  "MT2336FT02222"));
}

TEST(PlannedParts, GoWithTheirEndHoweverTheLinkIsListed) {
  Parts parts;
  std::swap(parts.look.links[1].from, parts.look.links[1].to);

  EXPECT_THAT(parts.found(), IsEmpty());
}

TEST(PlannedParts, AreNotComparedWhereOneSideDoesNotSay) {
  Parts silent, elsewhere;
  for (auto& [port, report] : silent.look.reports) report.module = {};
  elsewhere.look.links[0].to.port = 8;  // the cable is in a wrong port
  elsewhere.look.reports[{"DGX-01", "mlx5_0", 1}].module.serial = "another";

  EXPECT_THAT(silent.found(), IsEmpty());
  EXPECT_THAT(elsewhere.found(), IsEmpty());
}

TEST(PlannedParts, ThatAreWrongAreToBeReplacedOrThePlanCorrected) {
  Parts parts;
  parts.look.absent_is_zero = true;
  parts.look.reports[{"leaf1", "", 7}].module.metres = 5;

  const auto with_plan = judge_links(nullptr, parts.look, &parts.plan);
  const auto without = judge_links(nullptr, parts.look);

  ASSERT_THAT(with_plan.findings, SizeIs(1));
  ASSERT_THAT(with_plan.findings[0].repair, SizeIs(1));
  EXPECT_EQ(with_plan.findings[0].repair[0].text,
            "Put the planned cable or transceiver there, or correct the plan.");
  EXPECT_THAT(without.findings, IsEmpty());
}

}  // namespace
}  // namespace cupel::burnin
