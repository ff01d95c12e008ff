#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/file.h"
#include "inventory/firmware_time.h"
#include "inventory/judge_firmware.h"
#include "inventory/load_profile.h"
#include "inventory/profile.h"
#include "tests/support/captures.h"

namespace cupel::inventory {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kBegin = "profile: mine\npower: {idle: 1, loaded: 2}\n";
const std::string kDigest(64, 'a');

std::string problems_of(const std::string& firmware) {
  std::vector<Problem> problems;
  parse_profile(std::string{kBegin} + firmware, "/site/profiles/mine.yaml",
                ProfileSource{"/nowhere"}, problems);
  return to_string(problems);
}

TEST(ReadBaseline, ReadsAComponentWithAllItsKeys) {
  std::vector<Problem> problems;
  const auto profile = parse_profile(
      std::string{kBegin} +
          "firmware:\n"
          "  - component: hgx\n"
          "    version: 97.00.82.00.5F\n"
          "    ids: [HGX_FW_GPU_SXM_*, HGX_FW_NVSwitch_*]\n"
          "    models: [DGXH100*]\n"
          "    image: {file: ../images/hgx.fwpkg, sha256: " +
          kDigest +
          ", signature: /keys/hgx.sig}\n"
          "    targets: [/redfish/v1/UpdateService/FirmwareInventory/HGX_0]\n"
          "    force: true\n"
          "    after: [bmc]\n"
          "    before: [host-off, bmc-restart]\n"
          "    follow: [power-drain]\n"
          "    takes: 40m\n"
          "    settles: 20m\n"
          "    downgrade: true\n"
          "    stepping_stones: [{below: 96.00.89, version: 96.00.A5, image: {file: a.bin, "
          "sha256: " +
          kDigest +
          "}}]\n"
          "    recovery: [bmc-restart, ac-cycle, previous-image]\n"
          "  - {component: bmc, at_least: 24.01, below: 25, way: site-tool, one_by_one: true}\n",
      "/site/profiles/mine.yaml", ProfileSource{"/nowhere"}, problems);

  ASSERT_TRUE(profile);
  EXPECT_EQ(to_string(problems), "");
  ASSERT_EQ(profile->firmware.size(), 2);
  const auto& hgx = profile->firmware[0];
  EXPECT_EQ(hgx.component, "hgx");
  EXPECT_EQ(hgx.version, "97.00.82.00.5F");
  EXPECT_THAT(hgx.ids, ElementsAre("HGX_FW_GPU_SXM_*", "HGX_FW_NVSwitch_*"));
  EXPECT_THAT(hgx.models, ElementsAre("DGXH100*"));
  ASSERT_TRUE(hgx.image);
  EXPECT_EQ(hgx.image->file, "/site/images/hgx.fwpkg");
  EXPECT_EQ(hgx.image->sha256, kDigest);
  EXPECT_EQ(hgx.image->signature, "/keys/hgx.sig");
  EXPECT_THAT(hgx.targets, ElementsAre("/redfish/v1/UpdateService/FirmwareInventory/HGX_0"));
  EXPECT_TRUE(hgx.force);
  EXPECT_THAT(hgx.after, ElementsAre("bmc"));
  EXPECT_THAT(hgx.before, ElementsAre(FirmwareReset::host_off, FirmwareReset::bmc_restart));
  EXPECT_THAT(hgx.follow, ElementsAre(FirmwareReset::power_drain));
  EXPECT_EQ(hgx.takes, std::chrono::minutes{40});
  EXPECT_EQ(hgx.settles, std::chrono::minutes{20});
  EXPECT_TRUE(hgx.downgrade);
  ASSERT_EQ(hgx.stepping_stones.size(), 1);
  EXPECT_EQ(hgx.stepping_stones[0].below, "96.00.89");
  EXPECT_EQ(hgx.stepping_stones[0].image.file, "/site/profiles/a.bin");
  EXPECT_THAT(hgx.recovery, ElementsAre(FirmwareRecovery::bmc_restart, FirmwareRecovery::ac_cycle,
                                        FirmwareRecovery::previous_image));
  EXPECT_EQ(hgx.where, (Place{"/site/profiles/mine.yaml", 4, 5}));
  const auto& bmc = profile->firmware[1];
  EXPECT_EQ(bmc.at_least + " " + bmc.below, "24.01 25");
  EXPECT_EQ(bmc.way, UpdateWay::site_tool);
  EXPECT_TRUE(bmc.one_by_one);
}

TEST(ReadBaseline, ReportsWhatDoesNotGoWithAWayOnTheNode) {
  const std::string image = std::string{"image: {file: x, sha256: "} + kDigest + "}";

  EXPECT_EQ(
      problems_of("firmware:\n"
                  "  - {component: bios, version: 1, " +
                  image +
                  ", after: [nic]}\n"
                  "  - {component: nic, version: 1, way: mstflint, " +
                  image +
                  ", force: true, follow: [host-restart, device-reset]}\n"
                  "  - {component: gpu, version: 1, way: site-tool, " +
                  image +
                  "}\n"
                  "  - {component: vbios, version: 1, way: site-tool, tool: {program: flash}}\n"),
      "/site/profiles/mine.yaml:4:5: 'bios' is written by the BMC, and so before 'nic', which is "
      "written on the node\n"
      "/site/profiles/mine.yaml:5:148: force is only for way: bmc\n"
      "/site/profiles/mine.yaml:5:162: device-reset is for way: mstflint and nvme, and comes first "
      "in follow\n"
      "/site/profiles/mine.yaml:6:57: way: site-tool needs the program that writes it: tool: "
      "{program: /opt/vendor/vbios-tool, arguments: [\"{image}\"]}\n"
      "/site/profiles/mine.yaml:7:68: program must be an absolute path on the node, such as "
      "/opt/vendor/vbios-tool\n"
      "/site/profiles/mine.yaml:7:68: none of the tool's arguments has {image}: it would not know "
      "what to write\n");
}

TEST(ReadBaseline, ReportsAllMistakesAtOnceWithTheirPlaces) {
  EXPECT_EQ(problems_of("firmware:\n"
                        "  - component: bios\n"
                        "    verison: 1.0\n"
                        "    way: redfish\n"
                        "    takes: 7h\n"
                        "    image: {file: x, sha256: abc}\n"
                        "    follow: [ac-cyle]\n"
                        "  - {component: bmc, version: 1, below: 2}\n"
                        "  - {version: 1, after: [bso]}\n"
                        "  - {component: nic, at_least: 2, below: 1}\n"),
            "/site/profiles/mine.yaml:4:5: firmware needs version, or at_least or below\n"
            "/site/profiles/mine.yaml:5:5: unknown key 'verison' in firmware (did you mean "
            "'version'?)\n"
            "/site/profiles/mine.yaml:6:10: way 'redfish' is none of bmc, mstflint, nvme, "
            "site-tool\n"
            "/site/profiles/mine.yaml:7:12: takes must be more than 0 and at most 6h\n"
            "/site/profiles/mine.yaml:8:12: an image needs the version that it brings: version\n"
            "/site/profiles/mine.yaml:8:30: sha256 must be 64 hexadecimal digits, as sha256sum "
            "prints them\n"
            "/site/profiles/mine.yaml:9:13: follow 'ac-cyle' is none of bmc-restart, "
            "host-restart, host-off, ac-cycle, power-drain, device-reset (did you mean "
            "'ac-cycle'?)\n"
            "/site/profiles/mine.yaml:10:31: version and a range (at_least, below) exclude each "
            "other: a version is written, a range only judged\n"
            "/site/profiles/mine.yaml:11:5: firmware needs component\n"
            "/site/profiles/mine.yaml:11:5: '' is to come after 'bso', which is no component of "
            "this profile\n"
            "/site/profiles/mine.yaml:12:42: at_least must be a version before below\n");
}

TEST(ReadBaseline, RefusesAComponentTwiceAndAnOrderThatGoesInACircle) {
  const auto problems = problems_of(
      "firmware:\n"
      "  - {component: a, version: 1, after: [b]}\n"
      "  - {component: b, version: 1, after: [c]}\n"
      "  - {component: c, version: 1, after: [a]}\n"
      "  - {component: c, version: 2, after: [a]}\n");

  EXPECT_THAT(problems, HasSubstr("7:5: component 'c' is listed twice: first at"));
  EXPECT_THAT(problems,
              HasSubstr("4:5: 'a' would come after itself: its `after` goes in a circle"));
}

TEST(ReadBaseline, RefusesTwoVersionsOfOneIdAlsoWhereTheOtherIsInherited) {
  const auto of_one = [](std::string_view version) {
    return fmt::format(
        "extends: dgx-h100\nfirmware:\n"
        "  - {{component: bmc, version: {}, ids: [HostBMC_0]}}\n"
        "  - {{component: HostBIOS_0, version: 1.7}}\n"
        "  - {{component: tray, version: 2, ids: [mlx5_0]}}\n"
        "  - {{component: hca, version: 1, ids: [mlx5_0], way: mstflint}}\n",
        version);
  };

  EXPECT_THAT(
      problems_of(of_one("24.09.17")),
      AllOf(HasSubstr("mine.yaml:5:5: 'bmc' wants 24.09.17 of HostBMC_0, and 'HostBMC_0' ("),
            HasSubstr(") wants 23.11.21 of it: call it 'HostBMC_0' to take that one's place"),
            Not(HasSubstr("'HostBIOS_0' wants")), Not(HasSubstr("mlx5_0"))));
  EXPECT_THAT(problems_of(of_one("23.11.21")), Not(HasSubstr("wants")));
}

TEST(ReadBaseline, RefusesASteppingStoneThatLeadsNowhere) {
  EXPECT_THAT(problems_of("firmware:\n"
                          "  - component: a\n"
                          "    version: 2\n"
                          "    stepping_stones: [{below: 1, version: 3, image: {file: x, sha256: " +
                          kDigest + "}}]\n"),
              HasSubstr("6:23: stepping stone 3 is not a version before 2"));
}

/// One upload writes it back: which of several entries it reached would not be known.
TEST(ReadBaseline, RefusesToWriteBackOneByOne) {
  EXPECT_THAT(problems_of("firmware:\n  - {component: gpu, version: 1, one_by_one: true, recovery: "
                          "[previous-image]}\n"),
              ::testing::HasSubstr("previous-image is written back by one upload"));
}

TEST(ReadBaseline, KeepsTextsWithinBounds) {
  EXPECT_THAT(problems_of("firmware: [{component: " + std::string(300, 'x') + ", version: 1}]\n"),
              HasSubstr("component has 300 characters: at most 256"));
  EXPECT_THAT(problems_of("firmware: [{component: \" a\", version: 1}]\n"),
              HasSubstr("component has control characters, or blanks around it"));
}

TEST(ReadBaseline, FindsTheImagesOfAnInheritedProfileBesideThat) {
  const test::TemporaryFolder own;
  const auto& folder = own.path();
  ASSERT_TRUE(write_file(folder / "kind.yaml",
                         "profile: kind\npower: {idle: 1, loaded: 2}\nfirmware: [{component: bmc, "
                         "version: 1, image: {file: bmc.bin, sha256: " +
                             kDigest + "}}]\n"));
  ASSERT_TRUE(write_file(folder / "mine.yaml", "profile: mine\nextends: kind\n"));
  std::vector<Problem> problems;

  const auto profile = ProfileSource{folder}.load("mine", problems);

  ASSERT_TRUE(profile) << to_string(problems);
  ASSERT_EQ(profile->firmware.size(), 1);
  EXPECT_EQ(profile->firmware[0].image->file, (folder / "bmc.bin").string());
}

TEST(JudgeFirmware, KnowsAPartByItsIdOrByItsName) {
  ExpectedFirmware rom{.component = "bios", .version = "2.44", .ids = {"System ROM"}};
  const Part numbered{.kind = PartKind::firmware, .name = "2", .model = "System ROM"};
  const Part spare{.kind = PartKind::firmware, .name = "10", .model = "Redundant System ROM"};
  const Part adapter{.kind = PartKind::hca, .name = "mlx5_0", .model = "ConnectX-7"};
  const ExpectedFirmware card{
      .component = "hca", .version = "28", .ids = {"mlx5_*"}, .way = UpdateWay::mstflint};

  EXPECT_TRUE(covers(rom, numbered));
  EXPECT_FALSE(covers(rom, spare));
  EXPECT_TRUE(covers(card, adapter));
  EXPECT_FALSE(covers(rom, adapter));
}

TEST(JudgeFirmware, TakesNoVersionThatCannotBeOrderedIntoARange) {
  const ExpectedFirmware range{.component = "bios", .at_least = "U54 v2.30", .below = "U54 v3"};

  EXPECT_TRUE(is_expected_version(range, "U54 v2.44 (01/17/2025)"));
  EXPECT_FALSE(is_expected_version(range, "U54 v2.28"));
  EXPECT_FALSE(is_expected_version(range, "U54 v3.00"));
  EXPECT_FALSE(is_expected_version(range, "U58 v2.44"));
  EXPECT_EQ(expected_version(range), "at least U54 v2.30, before U54 v3");
}

/// The forecast of a run: a vendor's bundle has images for several components.
TEST(TimeOfBaseline, CountsABundleOnceHoweverManyComponentsNameIt) {
  Profile profile;
  profile.patience.bmc_restart = std::chrono::minutes{5};
  ExpectedFirmware one;
  one.image = FirmwareImage{.file = "/images/bundle.fwpkg", .sha256 = kDigest};
  one.takes = std::chrono::minutes{45};
  one.follow = {FirmwareReset::bmc_restart};
  profile.firmware = {one, one, one};

  EXPECT_EQ(time_of_baseline(profile, false), std::chrono::minutes{50});

  profile.firmware[1].targets = {"/redfish/v1/UpdateService/FirmwareInventory/erot"};
  EXPECT_EQ(time_of_baseline(profile, false), std::chrono::minutes{100});
}

}  // namespace
}  // namespace cupel::inventory
