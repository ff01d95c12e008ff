// The seed of an installed system, applied by Debian's own cloud-init: what it makes of names,
// keys, networks and of the report to the controller.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "inventory/node.h"
#include "inventory/node_network.h"
#include "orchestrator/os/first_boot.h"
#include "orchestrator/os/network_config.h"
#include "orchestrator/os/seed.h"
#include "tests/support/captures.h"
#include "tests/support/child.h"
#include "tests/support/real_part.h"

namespace cupel::os {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// scripts/setup.sh puts it there. It is never installed: it would take over the machine's own
/// boot.
constexpr const char* kPackage = "/var/cache/cupel-tests/cloud-init.deb";
constexpr const char* kKey =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ5mUqFKkVV7hH4HqXHLmZrUS8YbYVZdpGZzYQqm3WbK";
constexpr const char* kMac = "52:54:00:00:00:01";  // of the machine's NIC: run_cloud_init.sh
constexpr int kNoOverlay = 77;

SeedRequest setting_request_of(const inventory::Node& node) {
  return {.node = &node,
          .image = "debian-12",
          .digest = "ab",
          .public_key = kKey,
          .home_url = "http://127.0.0.1:8000/home/x",
          .networks = {json::object{{"mac", kMac},
                                    {"address", "10.0.2.11/24"},
                                    {"gateway", "10.0.2.1"},
                                    {"dns", json::array{"10.0.0.1"}}},
                       // It is not there.
                       json::object{{"mac", "52:54:00:00:00:02"}, {"dhcp", true}}},
          .user_data = {{"write_files", json::array{json::object{{"path", "/etc/site"},
                                                                 {"content", "of the site\n"},
                                                                 {"permissions", "0640"}}}},
                        {"runcmd", json::array{"ls -l /etc/site > /etc/site-ran"}}}};
}

/// A VLAN on a bond of two ports.
inventory::NodeNetwork bonded_network() {
  inventory::NodeNetwork network;
  network.ports = {{.name = "lan0", .mac = "52:54:00:00:00:01"},
                   {.name = "lan1", .mac = "52:54:00:00:00:02"}};
  network.bonds = {{.name = "bond0",
                    .mode = "802.3ad",
                    .members = {"lan0", "lan1"},
                    .has = {.addresses = {"10.0.2.11/24", "fd00::11/64"},
                            .mtu = 9000,
                            .routes = {{"0.0.0.0/0", "10.0.2.1"}},
                            .dns = {"10.0.0.2"},
                            .search = {"lab.example"}}}};
  network.vlans = {
      {.name = "bond0.100", .id = 100, .link = "bond0", .has = {.addresses = {"10.9.0.11/24"}}}};
  return network;
}

class CloudInit : public ::testing::Test {
 protected:
  std::string left(const std::string& name) const {
    const auto text = read_file(folder_.path() / name, 1U << 20U);
    EXPECT_TRUE(text) << name;
    return text.value_or("");
  }
  /// Exit status of the whole first boot.
  int boot(const std::map<std::string, std::string>& seed) {
    std::filesystem::create_directory(folder_.path() / "seed");
    for (const auto& [name, text] : seed)
      EXPECT_TRUE(write_file(folder_.path() / "seed" / name, text, 0600));
    const auto ran = testing::run({"unshare", "-m", "-u", "-n", "-p", "-f", "--mount-proc", "sh",
                                   SOURCE_DIR "/tests/orchestrator/netboot/run_cloud_init.sh",
                                   kPackage, folder_.path().string()});
    if (ran.status != 0) reported_ = ran.out + ran.err;
    return ran.status;
  }

  test::TemporaryFolder folder_;
  std::string reported_;
};

TEST_F(CloudInit, OfDebianAppliesTheSeedNamesTheNicAndReports) {
  CUPEL_NEEDS_REAL_PART(::geteuid() == 0, "mounts a copy of the system: root alone may");
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists(kPackage), "no cloud-init.deb: scripts/setup.sh");
  inventory::Node node;
  node.name = "a01-n07";

  auto seed = make_seed(setting_request_of(node));
  seed["bonded"] = json::serialize(network_config(bonded_network()));

  const auto status = boot(seed);

  if (status == kNoOverlay) GTEST_SKIP() << "no overlay of the root file system here";
  ASSERT_EQ(status, 0) << reported_;
  EXPECT_THAT(left("schema"), HasSubstr("Valid cloud-config"));
  EXPECT_THAT(left("status"), HasSubstr("status: done"));
  EXPECT_EQ(left("hostname"), "a01-n07\n");
  EXPECT_THAT(left("authorized_keys"), HasSubstr(kKey));
  EXPECT_THAT(left("os.json"), HasSubstr(R"("image":"debian-12","sha256":"ab")"));

  EXPECT_EQ(left("site"), "of the site\n");
  EXPECT_THAT(left("site-ran"), HasSubstr("-rw-r-----"));
  auto result = left("result.json");
  std::ranges::replace(result, '\n', ' ');
  EXPECT_EQ(read_first_boot(result + "\n").how, FirstBoot::How::good) << result;

  const auto report = parse_json(left("report"));
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_EQ(report->at("image"), json::value("debian-12"));
  EXPECT_THAT(serialize(report->at("macs")), HasSubstr(kMac));
  const auto key = left("ssh/ssh_host_ed25519_key.pub");
  EXPECT_THAT(serialize(report->at("ssh_host_keys")),
              HasSubstr("\"" + key.substr(0, key.find(' ', key.find(' ') + 1)) + "\""));

  EXPECT_THAT(left("links"), HasSubstr(" boot0@"));
  EXPECT_THAT(left("interfaces"), HasSubstr("iface boot0 inet static\n    address 10.0.2.11/24\n"));
  EXPECT_THAT(left("interfaces"), HasSubstr("route add default gw 10.0.2.1"));
  EXPECT_THAT(left("networkd"), HasSubstr("[Match]\nMACAddress=52:54:00:00:00:01\nName=boot0\n"));
  EXPECT_THAT(left("networkd"), HasSubstr("Gateway=10.0.2.1"));
  EXPECT_THAT(left("netplan"), HasSubstr("set-name: boot0"));
  EXPECT_THAT(left("sysconfig"), HasSubstr("HWADDR=52:54:00:00:00:01"));

  EXPECT_THAT(left("bonded-netplan"),
              AllOf(HasSubstr("set-name: lan1"), HasSubstr("transmit-hash-policy: layer3+4"),
                    HasSubstr("mtu: 9000"), HasSubstr("link: bond0")));
  EXPECT_THAT(left("bonded-eni"),
              AllOf(HasSubstr("iface lan0 inet manual\n    bond-master bond0\n"),
                    HasSubstr("bond-mode 802.3ad"), HasSubstr("    mtu 9000\n"),
                    HasSubstr("iface bond0 inet6 static\n    address fd00::11/64\n"),
                    HasSubstr("vlan-raw-device bond0"), HasSubstr("vlan_id 100")));
  EXPECT_THAT(left("bonded-sysconfig"),
              AllOf(HasSubstr("BONDING_OPTS=\"mode=802.3ad xmit_hash_policy=layer3+4 miimon=100\""),
                    HasSubstr("MTU=9000"), HasSubstr("PHYSDEV=bond0"), HasSubstr("VLAN=yes")));
  EXPECT_THAT(left("bonded-network-manager"),
              AllOf(HasSubstr("type=bond"), HasSubstr("mode=802.3ad"), HasSubstr("type=vlan"),
                    HasSubstr("route1=0.0.0.0/0,10.0.2.1"), Not(HasSubstr("9000"))));
  EXPECT_THAT(left("bonded-networkd"),
              AllOf(HasSubstr("Address=10.0.2.11/24"), Not(HasSubstr("Kind=bond"))))
      << "docs/do/os.md says that it makes no bonds";
}

}  // namespace
}  // namespace cupel::os
