// `cupel run firmware` on a virtual rack of several vendors: to the baseline, and what becomes of
// machines whose updates go wrong.
#include <fmt/format.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/signature.h"
#include "inventory/load_profile.h"
#include "rehearsal/virtual_slurm.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

using namespace std::chrono_literals;

// Made by `openssl genpkey -algorithm ed25519`, for these tests alone.
constexpr std::string_view kSigningKey =
    "-----BEGIN PRIVATE KEY-----\n"
    "MC4CAQAwBQYDK2VwBCIEICeOjp0m7gV4L/SulfZSXry24GTfI4CND75w8G138a9a\n"
    "-----END PRIVATE KEY-----\n";
const std::string kBiosImage = "virtual firmware\nHostBIOS_0 01.02.00\n";

class FirmwareRun : public ::testing::Test {
 protected:
  void start(RackSite::Options options) {
    options.speed = 200;
    site = std::make_unique<RackSite>(options);
    std::filesystem::create_directory(site->file("profiles"));
    std::filesystem::permissions(site->file("profiles"), std::filesystem::perms::owner_all);
    site->write("profiles/bare.yaml", "profile: bare\nextends: dgx-h100\nfirmware: []\n");
    site->write("profiles/mine.yaml",
                fmt::format("profile: mine\nextends: bare\nfirmware:\n  - component: bios\n    "
                            "version: 01.02.00\n    image: {{file: ../bios.bin, sha256: {}}}\n    "
                            "follow: [host-restart]\n    takes: 25s\n    settles: 15s\n",
                            sha256_hex(kBiosImage)));
    site->write("bios.bin", kBiosImage);
    const auto manifest = fmt::format(
        "images:\n  - {{vendor: \"*\", model: \"*\", component: bios, version: 01.02.00, sha256: "
        "{}, size: {}, expires: 2099-01-01}}\n",
        sha256_hex(kBiosImage), kBiosImage.size());
    site->write("images.yaml", manifest);
    site->write("images.yaml.sig", sign(manifest, kSigningKey).value());
    site->write("site.pub", public_key_of(kSigningKey).value());
    site->change_inventory("profile: dgx-h100", "profile: mine");
    site->change_inventory("site: rehearsal",
                           "site: rehearsal\nfirmware: {manifest: images.yaml, key: site.pub}");
  }
  Ran bring_to_baseline() const {
    return site->run({"run", "firmware", "--inventory", "inventory.yaml", "--nodes", "all", "--set",
                      "canary=16", "--set", "per_rack=16", "--set", "max_failures=16"},
                     400s);
  }
  std::string version_of(const std::string& node) const {
    const auto reported = site->ask({"bmc", node, "identity", "--inventory", "inventory.yaml"});
    return reported.empty() ? "" : std::string{reported[0].at("bios").as_string()};
  }

  std::unique_ptr<RackSite> site;
};

TEST_F(FirmwareRun, BringsMachinesOfSeveralVendorsToTheBaselineAndNamesThoseThatItCannot) {
  start({.nodes = 8,
         .bmcs =
             "vendor: dgx, but: [{nodes: v01-n02, vendor: dell}, {nodes: v01-n03, vendor: hpe}, "
             "{nodes: v01-n04, vendor: supermicro}, {nodes: v01-n06, vendor: lenovo}]",
         .network = 84,
         .faults = "{node: v01-n05, fault: firmware-unchanged}, "
                   "{node: v01-n06, fault: firmware-task-lost}, "
                   "{node: v01-n07, fault: firmware-bad-signature}, "
                   "{node: v01-n08, fault: upload-cut}"});

  const auto ran = bring_to_baseline();

  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("v01-n05 firmware failed: bios 01.02.00: the inventory shows"));
  EXPECT_THAT(ran.out, HasSubstr("v01-n07 firmware failed: bios 01.02.00: the BMC: "));
  EXPECT_THAT(ran.out, HasSubstr("v01-n08 firmware failed: bios 01.02.00: the image was sent 2 "));
  for (const auto* good : {"v01-n01", "v01-n02", "v01-n03", "v01-n04", "v01-n06"}) {
    EXPECT_THAT(ran.out, HasSubstr(std::string{good} +
                                   " firmware done: brought to the baseline: bios 01.02.00"));
    EXPECT_EQ(version_of(good), "01.02.00");
  }
}

TEST_F(FirmwareRun, AFailedMachineStaysDrainedAndPoweredWithItsConsoleAndActionsListed) {
  start({.nodes = 1, .network = 91, .faults = "{node: v01-n01, fault: firmware-unchanged}"});
  std::vector<inventory::Problem> problems;
  const auto profile = inventory::ProfileSource{{}}.load("dgx-h100", problems);
  ASSERT_TRUE(profile);
  const auto slurm = site->file("slurm");
  ASSERT_TRUE(rehearsal::make_scontrol(slurm, {"v01-n01"}, *profile));
  site->change_inventory("site: rehearsal",
                         "site: rehearsal\nslurm: {partition: gpu, features: [qualified]}");
  EXPECT_EQ(site->run({"bmc", "v01-n01", "power", "on"}).status, 0);
  const auto* path = std::getenv("PATH");
  const auto with_slurm = "PATH=" + slurm + ":" + (path == nullptr ? "/usr/bin:/bin" : path);

  const auto ran =
      testing::run(site->cupel({"run", "firmware", "--nodes", "all"}), {with_slurm}, 400s);

  const auto power = site->ask({"bmc", "v01-n01", "power"});
  const auto shown = json_lines(site->run({"show", "v01-n01", "--json"}).out);
  const auto actions = site->run({"actions", "--json"});
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("v01-n01 firmware failed: bios 01.02.00: the inventory shows"));
  EXPECT_EQ(read_file(slurm + "/nodes/v01-n01/state", 100).value_or(""), "IDLE+DRAIN\n");
  ASSERT_EQ(power.size(), 1u);
  EXPECT_EQ(power[0].at("power"), "on");
  ASSERT_EQ(shown.size(), 1u);
  const auto consoles = shown[0].at("console").as_array();
  ASSERT_FALSE(consoles.empty());
  const std::string recorded{consoles[0].at("file").as_string()};
  EXPECT_THAT(read_file(recorded, 1u << 20).value_or(""), HasSubstr("GNU GRUB")) << recorded;
  EXPECT_THAT(actions.out, AllOf(HasSubstr("leave the machine powered"),
                                 HasSubstr("cupel bmc v01-n01 log"), HasSubstr("cupel retry")));
}

/// Adapters and drives are written on the node, and the manifest lists their images.
TEST_F(FirmwareRun, WritesAdaptersAndDrivesOnTheNodeAndNamesTheOneThatKeepsItsVersion) {
  start({.nodes = 2,
         .network = 86,
         .faults = "{node: v01-n02, fault: firmware-unchanged, component: nvme3}"});
  const std::string hca = "virtual firmware\nhca 28.43.2026\n";
  const std::string drive = "virtual firmware\nnvme GDC7702Q\n";
  site->write("hca.bin", hca);
  site->write("drive.bin", drive);
  site->write("profiles/mine.yaml",
              fmt::format("profile: mine\nextends: bare\nfirmware:\n"
                          "  - {{component: hca, version: 28.43.2026, ids: [\"mlx5_*\"], way: "
                          "mstflint, image: {{file: ../hca.bin, sha256: {}}}, follow: "
                          "[device-reset], takes: 60s, settles: 15s}}\n"
                          "  - {{component: drive, version: GDC7702Q, ids: [\"nvme*\"], way: "
                          "nvme, image: {{file: ../drive.bin, sha256: {}}}, follow: "
                          "[device-reset], takes: 60s, settles: 5s}}\n",
                          sha256_hex(hca), sha256_hex(drive)));
  const auto entry = [](const char* component, const char* version, const std::string& bytes) {
    return fmt::format(
        "  - {{vendor: \"*\", model: \"*\", component: {}, version: {}, sha256: {}, size: {}, "
        "expires: 2099-01-01}}\n",
        component, version, sha256_hex(bytes), bytes.size());
  };
  const auto manifest =
      "images:\n" + entry("hca", "28.43.2026", hca) + entry("drive", "GDC7702Q", drive);
  site->write("images.yaml", manifest);
  site->write("images.yaml.sig", sign(manifest, kSigningKey).value());

  const auto ran = bring_to_baseline();
  const auto planned =
      site->run({"firmware", "check", "v01-n01", "--inventory", "inventory.yaml"}, 60s);

  EXPECT_EQ(planned.status, 0) << planned.out;
  EXPECT_THAT(ran.out, HasSubstr("v01-n01 verdict done: "));
  EXPECT_THAT(ran.out, Not(HasSubstr("v01-n01\n                  firmware hca: audit")));
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("v01-n01 node-firmware done: brought to the baseline: hca "
                                 "28.43.2026, drive GDC7702Q"));
  EXPECT_THAT(ran.out, HasSubstr("v01-n02 node-firmware failed: drive GDC7702Q: the node shows "
                                 "nvme3 GDC5602Q"));
}

TEST_F(FirmwareRun, AManifestThatTheSiteDidNotSignKeepsEveryMachineAsItIs) {
  start({.nodes = 1, .network = 85});
  site->write("images.yaml.sig", std::string(64, '\0'));
  const auto before = version_of("v01-n01");

  const auto ran = bring_to_baseline();

  EXPECT_EQ(ran.status, 1) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("v01-n01 firmware failed: bios 01.02.00: "));
  EXPECT_THAT(ran.out, HasSubstr("images.yaml"));
  EXPECT_EQ(version_of("v01-n01"), before);
}

}  // namespace
}  // namespace cupel::testing
