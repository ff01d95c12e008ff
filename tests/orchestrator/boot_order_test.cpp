// What one node is to do in one boot, from inventory and playbook.
#include "orchestrator/os/boot_order.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "inventory/boot.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/node_network.h"
#include "inventory/user_data.h"

namespace cupel::os {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class DeployOrder : public ::testing::Test {
 protected:
  DeployOrder() {
    inventory_.profiles["p"] = {.name = "p"};
    node_.name = "n1";
    node_.profile = "p";
    node_.boot.disk = "DISK1";
    request_.boots = {.name = "ram", .arch = "x86_64"};
    request_.os = {.name = "debian-12",
                   .arch = "x86_64",
                   .digest = std::string(64, 'd'),
                   .files = {{"image", {"/images/disk.raw.zst", std::string(64, 'd'), 1000}}},
                   .content_size = 4000,
                   .compression = "zstd",
                   .efi = "\\EFI\\debian\\shimx64.efi"};
  }
  Result<netboot::BootOrder> order() const {
    return boot_order(inventory_, node_, request_,
                      {"token", "http://10.0.0.1/boot/token/", "http://10.0.0.1/home/x"});
  }
  /// "/boot_entry/efi" of the answer to the hello.
  std::string at(std::string_view pointer) const {
    const json::value all = order().value().order;
    return std::string{all.at_pointer(pointer).as_string()};
  }

  inventory::Inventory inventory_{};
  inventory::Node node_{};
  BootRequest request_{};
};

TEST_F(DeployOrder, ItsTicketOutlivesTheSlowestWriteAndTheSlowestErase) {
  EXPECT_EQ(order()->lifetime, 6h);

  request_.wipe = true;
  request_.erase = "ata";
  EXPECT_GT(order()->lifetime, 24h);
  EXPECT_EQ(at("/erase"), "ata");
  EXPECT_EQ(at("/wipe"), "DISK1");
}

TEST_F(DeployOrder, BootsTheDefaultLoaderOfAnImageThatNamesNone) {
  EXPECT_EQ(at("/boot_entry/efi"), R"(\EFI\debian\shimx64.efi)");

  request_.os->efi.clear();
  EXPECT_EQ(at("/boot_entry/efi"), R"(\EFI\BOOT\BOOTX64.EFI)");

  request_.os->arch = request_.boots.arch = "aarch64";
  EXPECT_EQ(at("/boot_entry/efi"), R"(\EFI\BOOT\BOOTAA64.EFI)");
}

TEST_F(DeployOrder, SaysWhetherABiosStartsTheImage) {
  EXPECT_FALSE(order()->order.contains("bios"));

  request_.os->bios = true;
  EXPECT_TRUE(order()->order.at("bios").as_bool());
}

TEST_F(DeployOrder, GrowsAndSeedsUnlessItIsTold) {
  EXPECT_TRUE(order()->order.at("grow").as_bool());
  EXPECT_TRUE(order()->order.at("seed").as_bool());
  EXPECT_TRUE(order()->seed.contains("user-data"));

  request_.grow = request_.seed = false;

  EXPECT_FALSE(order()->order.at("grow").as_bool());
  EXPECT_FALSE(order()->order.at("seed").as_bool());
  EXPECT_TRUE(order()->seed.empty()) << "nobody gets the URL of the report from home";
}

TEST_F(DeployOrder, TheSitesUserDataFollowsCupelsOwn) {
  request_.user_data = parse_json(R"({"packages": ["chrony"], "runcmd": ["echo site"],
    "write_files": [{"path": "/etc/x", "content": "x"}]})")
                           ->as_object();

  const std::string text = order()->seed.at("user-data");

  ASSERT_TRUE(text.starts_with("#cloud-config\n"));
  const auto cloud = parse_json(text.substr(text.find('\n'))).value();
  EXPECT_EQ(json::serialize(cloud.at("packages")), R"(["chrony"])");
  const auto& commands = cloud.at("runcmd").as_array();
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_THAT(std::string{commands[0].as_string()}, HasSubstr("CUPEL_HOME="));
  EXPECT_EQ(commands[1].as_string(), "echo site");
  EXPECT_EQ(cloud.at("write_files").as_array().back().at("path").as_string(), "/etc/x");
  EXPECT_EQ(cloud.at("hostname").as_string(), "n1");
}

TEST_F(DeployOrder, NoKeyThatItSetsIsASitesToSet) {
  const std::string text = order()->seed.at("user-data");
  const auto cloud = parse_json(text.substr(text.find('\n'))).value();

  for (const auto& [key, value] : cloud.as_object()) {
    if (value.is_array()) continue;  // both have entries
    std::vector<inventory::Problem> problems;
    const auto document =
        inventory::parse_yaml("user_data: {" + std::string{key} + ": x}", "i.yaml", problems);
    ASSERT_TRUE(document);
    const std::string file = "i.yaml";
    (void)inventory::read_os(&document->root, "/srv", file, problems);
    ASSERT_EQ(problems.size(), 1U) << key;
    EXPECT_THAT(problems[0].what, HasSubstr("user_data cannot set " + std::string{key}));
  }
}

TEST_F(DeployOrder, RefusesUserDataThatItsMachineCouldNotFetch) {
  request_.user_data = {{"a", std::string(300'000, 'x')}};

  const auto refused = order();

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_THAT(refused.error().what, HasSubstr("at most 256 KiB"));
}

TEST_F(DeployOrder, AnInstallerTakesNeitherUserDataNorNetworks) {
  request_.boots.mirror = request_.os->mirror = "http://10.0.0.1/debian";
  request_.user_data = {{"a", 1}};
  const auto with_data = order();
  request_.user_data.clear();
  node_.network = std::make_shared<const inventory::NodeNetwork>();
  const auto with_network = order();

  ASSERT_FALSE(with_data);
  EXPECT_THAT(with_data.error().what, HasSubstr("user_data is for a disk's image"));
  ASSERT_FALSE(with_network);
  EXPECT_THAT(with_network.error().what, HasSubstr("network: is for a disk's image"));
}

TEST_F(DeployOrder, NamesTheDiskByItsWwnWhereTheInventoryHasIt) {
  request_.wipe = true;
  node_.boot.disk_wwn = "5000cca27a1b2c3d";
  EXPECT_EQ(at("/disk/serial"), "DISK1");
  EXPECT_EQ(at("/disk/wwn"), "5000cca27a1b2c3d");
  EXPECT_EQ(at("/wipe"), "DISK1");

  node_.boot.disk.clear();
  EXPECT_FALSE(order()->order.at("disk").as_object().contains("serial"));
  EXPECT_EQ(at("/wipe"), "5000cca27a1b2c3d");

  node_.boot.disk_wwn.clear();
  EXPECT_FALSE(order()) << "no disk is named";
}

TEST_F(DeployOrder, NamesTheImageOnTheMirrorOfItsRackWithItsDigest) {
  inventory_.boot = inventory::BootSite{};
  inventory_.boot->mirrors = {{"a01", "http://10.1.0.2:8080/images", {}}};
  node_.rack = "a01";
  EXPECT_EQ(at("/image/mirror"),
            "http://10.1.0.2:8080/images/debian-12/disk.raw.zst?sha256=" + std::string(64, 'd'));

  node_.rack = "a02";
  EXPECT_FALSE(order()->order.at("image").as_object().contains("mirror"));
}

TEST_F(DeployOrder, LeavesTheNetworkFirstOrOutButNotBoth) {
  request_.network_drop = true;
  const json::value all = order().value().order;
  EXPECT_EQ(all.at_pointer("/boot_entry/network_drop"), true);
  EXPECT_EQ(all.at_pointer("/boot_entry/network_first"), false);

  request_.network_first = true;
  const auto refused = order();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("network_first and network_drop"));
}

TEST_F(DeployOrder, ErasesNothingThatMayNotBeWiped) {
  request_.erase = "nvme";

  const auto refused = order();

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_THAT(refused.error().what, HasSubstr("erase needs wipe"));
}

}  // namespace
}  // namespace cupel::os
