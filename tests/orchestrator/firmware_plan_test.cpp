#include "orchestrator/firmware/firmware_plan.h"

#include <gmock/gmock.h>

#include "inventory/profile.h"
#include "orchestrator/firmware/firmware_order.h"

namespace cupel::firmware {
namespace {

using inventory::ExpectedFirmware;
using inventory::FirmwareReset;
using inventory::Part;
using inventory::PartKind;
using inventory::Profile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

const bmc::Identity kMachine{"NVIDIA", "DGXH100", "", "", "", "", ""};

Part part(std::string id, std::string version) {
  Part found{.kind = PartKind::firmware, .name = id, .firmware = std::move(version)};
  found.source = "/redfish/v1/UpdateService/FirmwareInventory/" + id;
  return found;
}

ExpectedFirmware expected_firmware(std::string component, std::string version) {
  ExpectedFirmware firmware{.component = component, .version = std::move(version)};
  firmware.image = {.file = "/images/" + component, .sha256 = std::string(64, 'a')};
  firmware.takes = 10min;
  return firmware;
}

Profile with(std::vector<ExpectedFirmware> firmware) {
  Profile profile;
  profile.firmware = std::move(firmware);
  profile.patience = {.power_on = 1min, .post = 10min, .bmc_restart = 5min};
  return profile;
}

std::vector<std::string> reported(const FirmwarePlan& plan) {
  std::vector<std::string> all;
  for (const auto& update : plan.updates) {
    all.push_back(update.expected->component + " " + update.version + " over");
    for (const auto& each : update.replaces) all.back() += " " + each.id + "=" + each.version;
  }
  return all;
}

TEST(PlanFirmware, HasNothingToDoAtTheBaseline) {
  const auto profile = with({expected_firmware("HostBMC_0", "24.09.17")});

  const auto plan = plan_firmware(profile, kMachine, {part("HostBMC_0", "24.9.17")});

  EXPECT_TRUE(plan.is_at_baseline());
  EXPECT_THAT(plan.updates, IsEmpty());
  EXPECT_EQ(plan.takes, 0s);
  EXPECT_FALSE(plan.restarts_host);
}

TEST(PlanFirmware, WritesOneImageForAllEntriesOfAComponent) {
  auto gpus = expected_firmware("gpus", "97.00.82.00.5F");
  gpus.ids = {"HGX_FW_GPU_SXM_*"};
  gpus.targets = {"/redfish/v1/UpdateService/FirmwareInventory/HGX_0"};
  const auto profile = with({gpus});

  const auto plan = plan_firmware(
      profile, kMachine,
      {part("HGX_FW_GPU_SXM_1", "96.00.89.00.01"), part("HGX_FW_GPU_SXM_2", "97.00.82.00.5F"),
       part("HGX_FW_GPU_SXM_3", "96.00.89.00.01"), part("HGX_FW_BMC_0", "HGX-22.10-1")});

  EXPECT_FALSE(plan.is_at_baseline());
  ASSERT_EQ(plan.components.size(), 1);
  EXPECT_EQ(plan.components[0].running.size(), 3);
  EXPECT_EQ(plan.components[0].wrong.size(), 2);
  EXPECT_THAT(reported(plan),
              ElementsAre("gpus 97.00.82.00.5F over HGX_FW_GPU_SXM_1=96.00.89.00.01 "
                          "HGX_FW_GPU_SXM_3=96.00.89.00.01"));
  EXPECT_THAT(plan.updates[0].targets,
              ElementsAre("/redfish/v1/UpdateService/FirmwareInventory/HGX_0"));
}

TEST(PlanFirmware, WritesOneByOneWhereTheBmcTakesOneTargetAtATime) {
  auto gpus = expected_firmware("gpus", "2");
  gpus.ids = {"GPU_*"};
  gpus.one_by_one = true;
  gpus.follow = {FirmwareReset::host_restart};
  const auto profile = with({gpus});

  const auto plan = plan_firmware(profile, kMachine, {part("GPU_0", "1"), part("GPU_1", "1")});

  EXPECT_THAT(reported(plan), ElementsAre("gpus 2 over GPU_0=1", "gpus 2 over GPU_1=1"));
  EXPECT_THAT(plan.updates[1].targets,
              ElementsAre("/redfish/v1/UpdateService/FirmwareInventory/GPU_1"));
  EXPECT_EQ(plan.takes, 30min) << "two writes, one restart";
}

TEST(PlanFirmware, GoesByTheVendorsOrderUnlessTheProfileSaysOtherwise) {
  auto bios = expected_firmware("HostBIOS_0", "2");
  auto hgx = expected_firmware("gpus", "2");
  hgx.ids = {"HGX_FW_GPU_SXM_*"};
  auto psu = expected_firmware("PSU_0", "2");
  auto bmc = expected_firmware("HostBMC_0", "2");
  const std::vector<Part> all{part("HostBIOS_0", "1"), part("HGX_FW_GPU_SXM_1", "1"),
                              part("PSU_0", "1"), part("HostBMC_0", "1")};
  const auto usual = with({psu, bios, hgx, bmc});
  bmc.after = {"HostBIOS_0"};
  const auto own = with({psu, bios, hgx, bmc});

  EXPECT_THAT(reported(plan_firmware(usual, kMachine, all)),
              ElementsAre("HostBMC_0 2 over HostBMC_0=1", "gpus 2 over HGX_FW_GPU_SXM_1=1",
                          "HostBIOS_0 2 over HostBIOS_0=1", "PSU_0 2 over PSU_0=1"));
  EXPECT_THAT(reported(plan_firmware(own, kMachine, all)),
              ElementsAre("gpus 2 over HGX_FW_GPU_SXM_1=1", "HostBIOS_0 2 over HostBIOS_0=1",
                          "HostBMC_0 2 over HostBMC_0=1", "PSU_0 2 over PSU_0=1"));
}

TEST(PlanFirmware, TakesSteppingStonesInTheirOrderForThoseThatNeedThem) {
  auto bmc = expected_firmware("bmc", "24.09");
  bmc.ids = {"BMC_*"};
  bmc.stepping_stones = {{"22.01", "22.01", {"/images/22", "", "", {}}, {}},
                         {"24.01", "23.11", {"/images/23", "", "", {}}, {}}};
  bmc.follow = {FirmwareReset::bmc_restart};
  const auto profile = with({bmc});

  const auto plan =
      plan_firmware(profile, kMachine, {part("BMC_0", "21.5"), part("BMC_1", "23.10")});

  EXPECT_THAT(reported(plan),
              ElementsAre("bmc 22.01 over BMC_0=21.5", "bmc 23.11 over BMC_0=22.01 BMC_1=23.10",
                          "bmc 24.09 over BMC_0=23.11 BMC_1=23.11"));
  EXPECT_EQ(plan.updates[0].image.file, "/images/22");
  EXPECT_EQ(plan.takes, 45min) << "three writes, each with its restart";
  EXPECT_THAT(reported(plan_firmware(profile, kMachine, {part("BMC_0", "24.02")})),
              ElementsAre("bmc 24.09 over BMC_0=24.02"));
}

TEST(PlanFirmware, CountsResetsAndSaysWhatTheyAre) {
  auto bmc = expected_firmware("bmc", "2");
  bmc.follow = {FirmwareReset::bmc_restart};
  auto cpld = expected_firmware("cpld", "2");
  cpld.before = {FirmwareReset::host_off};
  cpld.follow = {FirmwareReset::ac_cycle};
  const auto only_bmc = with({bmc}), both = with({bmc, cpld});
  const std::vector<Part> all{part("bmc", "1"), part("cpld", "1")};

  const auto one = plan_firmware(only_bmc, kMachine, all);
  const auto two = plan_firmware(both, kMachine, all);

  EXPECT_EQ(one.takes, 15min);
  EXPECT_FALSE(one.restarts_host);
  EXPECT_EQ(two.takes, 15min + 10min + 10min + 16min);
  EXPECT_TRUE(two.restarts_host);
  EXPECT_TRUE(two.cycles_ac);
}

/// A vendor's bundle, named by each of the components that it has an image for.
TEST(PlanFirmware, CountsABundleOnceHoweverManyComponentsNameIt) {
  std::vector<ExpectedFirmware> all;
  std::vector<Part> reported;
  for (const auto* name : {"bmc", "erot", "fpga"}) {
    auto one = expected_firmware(name, "2");
    one.image->file = "/images/bundle.fwpkg";
    one.follow = {FirmwareReset::ac_cycle};
    all.push_back(one);
    reported.push_back(part(name, "1"));
  }
  const auto profile = with(all);
  all[1].targets = {"/redfish/v1/UpdateService/FirmwareInventory/erot"};
  const auto apart = with(all);

  const auto plan = plan_firmware(profile, kMachine, reported);
  const auto two = plan_firmware(apart, kMachine, reported);

  ASSERT_EQ(plan.updates.size(), 3u) << "each says what it replaces";
  EXPECT_FALSE(plan.updates[0].comes_with_another);
  EXPECT_TRUE(plan.updates[1].comes_with_another);
  EXPECT_TRUE(plan.updates[2].comes_with_another);
  EXPECT_EQ(plan.takes, 10min + 16min);
  EXPECT_TRUE(plan.cycles_ac);
  EXPECT_EQ(two.takes, 2 * (10min + 16min)) << "what has targets of its own is sent again";
}

/// What is refused, and that nothing is written then: not even what could be.
std::string refusal(const ExpectedFirmware& odd, const std::string& running,
                    const bmc::Identity& machine = kMachine) {
  const auto profile = with({expected_firmware("other", "2"), odd});
  const auto plan = plan_firmware(profile, machine, {part("other", "1"), part("bios", running)});
  EXPECT_THAT(plan.updates, IsEmpty());
  EXPECT_FALSE(plan.is_at_baseline());
  for (const auto& each : plan.components)
    if (!each.refusal.empty()) return each.refusal;
  return "";
}

TEST(PlanFirmware, RefusesADowngradeThatTheProfileDoesNotAllow) {
  auto bios = expected_firmware("bios", "1.9");

  EXPECT_EQ(refusal(bios, "2.0"),
            "bios runs 2.0, which is newer than 1.9: `downgrade: true` allows it");

  bios.downgrade = true;
  const auto profile = with({bios});
  EXPECT_THAT(reported(plan_firmware(profile, kMachine, {part("bios", "2.0")})),
              ElementsAre("bios 1.9 over bios=2.0"));
}

TEST(PlanFirmware, RefusesWhatCannotBeOrdered) {
  EXPECT_EQ(refusal(expected_firmware("bios", "U54 v2.30"), "U58 v2.44 (01/17/2025)"),
            "bios runs U58 v2.44 (01/17/2025), which is neither before nor after U54 v2.30: "
            "`downgrade: true` allows it");
}

TEST(PlanFirmware, RefusesASteppingStoneThatCannotBeJudged) {
  auto bios = expected_firmware("bios", "3.0");
  bios.stepping_stones = {{"1.10", "1.10", {"/images/1", "", "", {}}, {}}};

  EXPECT_EQ(refusal(bios, "1.9a"),
            "bios runs 1.9a: whether it needs the stepping stone 1.10 is unknown");
}

TEST(PlanFirmware, RefusesAnImageForAnotherModel) {
  auto bios = expected_firmware("bios", "2.0");
  bios.models = {"DGXH200*", "DGXB200*"};

  EXPECT_EQ(refusal(bios, "1.0"),
            "its image is for DGXH200*, DGXB200*, and this machine is DGXH100");
  EXPECT_EQ(refusal(bios, "1.0", {}),
            "its image is for DGXH200*, DGXB200*, and this machine is of no reported model");
}

TEST(PlanFirmware, RefusesWhatHasNoImageOrIsNotReported) {
  auto bare = expected_firmware("bios", "2.0");
  bare.image.reset();
  bare.where = {"mine.yaml", 7, 3};
  auto absent = expected_firmware("HostBIOS_*", "2.0");

  EXPECT_EQ(refusal(bare, "1.0"), "the baseline names no image for it: image, at mine.yaml:7:3");
  EXPECT_EQ(refusal(absent, "1.0"),
            "not reported: nothing in the machine's firmware inventory is called HostBIOS_*");
}

TEST(PlanFirmware, SaysWhereTheVersionsOfASiteToolAreRead) {
  auto cards = expected_firmware("nics", "2.0");
  cards.ids = {"nic*"};
  cards.way = inventory::UpdateWay::site_tool;

  const auto profile = with({cards});
  const auto plan = plan_firmware(profile, kMachine, {part("bios", "1.0")}, Writer::node);

  EXPECT_EQ(plan.refusals(),
            "nics: not reported: nothing in the machine's firmware inventory, and no GPU (a site "
            "tool's versions are read from GPUs alone), is called nic*");
}

TEST(PlanFirmware, RefusesTwoComponentsThatWantTwoVersionsOfOnePart) {
  auto any = expected_firmware("all", "1.5");
  any.ids = {"*"};
  any.downgrade = true;
  const auto profile = with({any, expected_firmware("bios", "2.0")});

  const auto plan = plan_firmware(profile, kMachine, {part("bios", "1.0")});

  EXPECT_THAT(plan.updates, IsEmpty());
  EXPECT_THAT(plan.components[0].refusal,
              HasSubstr("bios is of component 'all' too, which wants 1.5"));
}

TEST(PlanFirmware, DoesNotAskForAnImageWhereTheVersionIsRight) {
  auto bios = expected_firmware("bios", "2.0");
  bios.image.reset();
  bios.models = {"another"};
  const auto profile = with({bios});

  EXPECT_TRUE(plan_firmware(profile, kMachine, {part("bios", "2.0")}).is_at_baseline());
}

TEST(UpdateOrder, LeavesOutNothingWhereItGoesInACircle) {
  auto one = expected_firmware("one", "1"), other = expected_firmware("other", "1");
  one.after = {"other"};
  other.after = {"one"};

  EXPECT_THAT(update_order(with({one, other})), ElementsAre(0, 1));
}

}  // namespace
}  // namespace cupel::firmware
