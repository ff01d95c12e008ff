#include "rehearsal/rack_of_site.h"

#include "base/file.h"
#include "inventory/load.h"
#include "inventory/shipped.h"
#include "rehearsal/bmc/vendor_behavior.h"
#include "rehearsal/scenario.h"
#include "tests/rehearsal/rack_bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;

/// A site with all that an inventory can say.
constexpr std::string_view kSite = R"(site: berlin
rooms: [{name: hall-1, watts: 200000}]
racks:
  - name: a[01-02]
    room: hall-1
    units: 42
    watts: 60000
    pdus:
      - name: p[1-2]
        watts: 30000
        breakers: [{name: "b[1-2]", watts: 25000}]
        redfish: {address: "10.0.9.[1-4]", user: ops, password: "env:PDU", tls: {trust: first-use}}
slurm: {partition: h100, features: [qualified, ib], configuration: /etc/slurm/slurm.conf}
bmc_networks: [10.0.1.0/24]
defaults:
  profile: dgx-h100
  bmc: {user: root, password: "env:BMC_PASSWORD"}
  ssh: {user: ubuntu, sudo: true}
nodes:
  - name: a01-n[01-02]
    rack: a01
    unit: [1, 9]
    breaker: p1/b[1-2]
    second_breaker: p2/b[1-2]
    outlet: [A1+A2+A3, A4+A5+A6]
    second_outlet: feed[1-2]
    bmc:
      address: 10.0.1.[11-12]
      tls: {pin: "SHA256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}
      ipmi: {cipher: 3}
      mac: aa:bb:cc:00:11:[22-23]
    ssh: {address: "a01-n[01-02]"}
    serial: S[1-2]
    slurm_name: gpu[1-2]
  - name: a02-n01
    profile: a100-8
    rack: a02
    unit: 4
    breaker: p1/b1
    bmc:
      address: bmc.example.org
      user: admin
      password: "cmd:vault read bmc"
      tls: {trust: first-use}
      factory: {user: admin, password: "env:FACTORY"}
    ssh: {address: a02-n01, host_key: first-use}
)";

class RackOfSite : public ::testing::Test {
 protected:
  inventory::Inventory site() {
    auto loaded = inventory::parse_inventory(kSite, "site.yaml", folder.path());
    EXPECT_TRUE(loaded.inventory) << to_string(loaded.problems);
    return loaded.inventory ? *loaded.inventory : inventory::Inventory{};
  }
  test::TemporaryFolder folder;
};

/// What may differ, made the same.
inventory::Inventory without_doors(inventory::Inventory site) {
  site.file = site.digest = {};
  site.slurm.reset();
  site.bmc_networks.clear();
  for (auto& rack : site.racks) rack.where = {};
  for (auto& level : site.power) level.where = {};
  for (auto& node : site.nodes) {
    node.where = {};
    node.bmc.endpoint = node.ssh.endpoint = {};
    if (node.bmc.ipmi) node.bmc.ipmi->endpoint = {};
    node.bmc.password.where = {};
    node.bmc.password.kind = inventory::SecretRef::Kind::file;
    if (node.bmc.factory) node.bmc.factory->password = node.bmc.password;
    node.bmc.trust.what = node.ssh.trust.what = node.ssh.key_file = {};
  }
  return site;
}

TEST_F(RackOfSite, GivesTheControllerTheSameSiteButForItsDoors) {
  auto rack = rack_of(site());
  ASSERT_TRUE(rack) << rack.error().what;
  RackBench bench{*rack, 1000};

  const auto expected = without_doors(site()), got = without_doors(bench.inventory);

  EXPECT_EQ(got.site, "berlin");
  ASSERT_EQ(got.racks.size(), expected.racks.size());
  for (std::size_t i = 0; i < expected.racks.size(); ++i) {
    EXPECT_EQ(got.racks[i].name, expected.racks[i].name);
    EXPECT_EQ(got.racks[i].room, expected.racks[i].room);
    EXPECT_EQ(got.racks[i].units, expected.racks[i].units);
  }
  using Level = std::tuple<int, std::string, double, std::string>;
  const auto levels = [](const inventory::Inventory& of) {
    std::set<Level> all;
    for (const auto& level : of.power)
      all.insert({static_cast<int>(level.kind), level.name, level.watts, level.parent});
    return all;
  };
  EXPECT_EQ(levels(got), levels(expected));
  ASSERT_EQ(got.pdus.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(got.pdus[i].name, expected.pdus[i].name);
    EXPECT_EQ(got.pdus[i].user, expected.pdus[i].user);
    EXPECT_EQ(got.pdus[i].trust, expected.pdus[i].trust);
  }
  ASSERT_EQ(got.nodes.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto &one = got.nodes[i], &other = expected.nodes[i];
    EXPECT_EQ(one.name, other.name);
    EXPECT_EQ(one.profile, other.profile);
    EXPECT_EQ(one.rack, other.rack);
    EXPECT_EQ(one.unit, other.unit);
    EXPECT_EQ(one.feeds, other.feeds);
    EXPECT_EQ(one.outlets, other.outlets);
    EXPECT_EQ(one.serial, other.serial);
    EXPECT_EQ(one.slurm_name, other.slurm_name);
    EXPECT_EQ(one.bmc.protocol, other.bmc.protocol);
    EXPECT_EQ(one.bmc.user, other.bmc.user);
    EXPECT_EQ(one.bmc.mac, other.bmc.mac);
    EXPECT_EQ(one.bmc.ipmi, other.bmc.ipmi);
    EXPECT_EQ(one.bmc.factory, other.bmc.factory);
    EXPECT_EQ(one.bmc.trust, other.bmc.trust);
    EXPECT_EQ(one.ssh.user, other.ssh.user);
    EXPECT_EQ(one.ssh.sudo, other.ssh.sudo);
    EXPECT_EQ(one.ssh.trust, other.ssh.trust);
  }
}

TEST_F(RackOfSite, LeadsToNoAddressOfTheSite) {
  auto rack = rack_of(site());
  RackBench bench{*rack, 1000};

  for (const auto& node : bench.inventory.nodes) {
    EXPECT_TRUE(node.bmc.endpoint.host.starts_with("127.")) << node.bmc.endpoint.host;
    EXPECT_TRUE(node.ssh.endpoint.host.starts_with("127.")) << node.ssh.endpoint.host;
    if (node.bmc.ipmi) EXPECT_TRUE(node.bmc.ipmi->endpoint.host.starts_with("127."));
    EXPECT_EQ(node.bmc.password.kind, inventory::SecretRef::Kind::file);
    EXPECT_TRUE(node.bmc.password.where.starts_with(bench.folder.path().string()));
  }
  for (const auto& pdu : bench.inventory.pdus) {
    EXPECT_TRUE(pdu.endpoint.host.starts_with("127.74.")) << pdu.endpoint.host;
    EXPECT_EQ(pdu.password.where, (bench.folder.path() / "pdu-password").string());
  }
  EXPECT_FALSE(bench.inventory.slurm) << "a rehearsal drains nobody's nodes";
  EXPECT_TRUE(bench.inventory.bmc_networks.empty());
  EXPECT_NE(bench.node(0).bmc.password, bench.node(2).bmc.password) << "other secrets there too";
  EXPECT_EQ(bench.node(0).bmc.password, bench.node(1).bmc.password);
}

TEST_F(RackOfSite, StandsAMachineWithThatSerialMacAndProfile) {
  auto rack = rack_of(site());
  RackBench bench{*rack, 1000};

  EXPECT_EQ(bench.on("a01-n02", [](Machine& one) { return one.hardware().serial; }), "S2");
  EXPECT_EQ(bench.on("a01-n02", [](Machine& one) { return one.hardware().bmc_mac; }),
            "aa:bb:cc:00:11:23");
  EXPECT_EQ(bench.on("a02-n01", [](Machine& one) { return one.profile().name; }), "a100-8");
  Browser browser{bench.node(0).bmc.endpoint};
  browser.log_in(bench.node(0));
  EXPECT_THAT(browser.ask("GET", "/redfish/v1/Systems/DGX").body, HasSubstr("\"S1\""));
}

TEST_F(RackOfSite, LeavesABmcAsItsFactoryDidWhereTheSiteSaysHow) {
  auto rack = rack_of(site());
  RackBench bench{*rack, 1000};
  auto node = bench.node(2);
  Browser browser{node.bmc.endpoint};

  const auto refused = browser.log_in(node);
  node.bmc.password = node.bmc.factory->password;
  const auto taken = browser.log_in(node);

  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(taken.status, 201);
  EXPECT_THAT(taken.body, HasSubstr("PasswordChangeRequired"));
}

TEST_F(RackOfSite, TakesTheVendorFromTheProfilesWordsAndTheScenarioFirst) {
  inventory::Profile profile{.name = "site-h200", .description = "Dell PowerEdge XE9680"};
  auto rack = *rack_of(site());
  std::vector<inventory::Problem> problems;

  ASSERT_TRUE(
      parse_scenario("bmcs: {but: [{nodes: a02-n01, vendor: hpe}]}\n", "s.yaml", rack, problems));

  EXPECT_EQ(vendor_of(profile), "dell");
  EXPECT_EQ(rack.nodes[0].bmc.vendor, "dgx");
  EXPECT_EQ(rack.nodes[2].bmc.vendor, "hpe");
}

TEST_F(RackOfSite, GivesAMachineTheWrittenSerialNumberAndMacOfAnother) {
  auto rack = *rack_of(site());
  std::vector<inventory::Problem> problems;
  rack.nodes[1].identity.bmc_mac.clear();  // it follows from the serial number
  ASSERT_TRUE(parse_scenario(R"(faults:
  - {node: a01-n01, fault: serial-twice, with: a01-n02}
  - {node: a01-n01, fault: bmc-mac-twice, with: a01-n02}
  - {node: a01-n02, fault: serial-twice, with: a02-n01}
  - {node: a02-n01, fault: bmc-mac-twice, with: a01-n01}
)",
                             "s.yaml", rack, problems))
      << to_string(problems);
  RackBench bench{rack, 1000};
  const auto serial_of = [](Machine& one) { return one.hardware().serial; };
  const auto mac_of = [](Machine& one) { return one.hardware().bmc_mac; };

  EXPECT_EQ(bench.on("a01-n01", serial_of), "S2");
  EXPECT_EQ(bench.on("a01-n01", mac_of), bmc_mac_of("S2"));
  EXPECT_THAT(bench.on("a01-n02", serial_of), ::testing::Not(::testing::AnyOf("S2", "")))
      << "nobody has written the other's: it is drawn";
  EXPECT_EQ(bench.on("a02-n01", mac_of), "aa:bb:cc:00:11:22");
}

TEST_F(RackOfSite, RefusesMoreNodesThanARackHolds) {
  auto large = site();
  large.nodes.resize(kMostNodesOfARack + 1, large.nodes[0]);

  const auto rack = rack_of(std::move(large));

  ASSERT_FALSE(rack);
  EXPECT_THAT(rack.error().what, HasSubstr("a virtual rack holds 1000"));
}

TEST(ShippedRacks, HaveSixtyFourHealthyNodesAndOneOfEachVendor) {
  std::vector<inventory::Problem> problems;
  const auto load = [&](const std::string& name) {
    const auto* file = inventory::shipped_file("rehearsal/racks/" + name + ".yaml");
    auto rack = file ? parse_rack(file->text, std::string{file->path}, problems) : std::nullopt;
    EXPECT_TRUE(rack) << to_string(problems);
    return rack ? *rack : RackSpec{};
  };

  const auto large = load("h100-64"), mixed = load("mixed-8");

  EXPECT_EQ(large.nodes.size(), 64u);
  const auto site = site_of(large);
  EXPECT_EQ(site.racks.size(), 16u);
  EXPECT_EQ(site.nodes[63].rack, "v16");
  EXPECT_EQ(site.nodes[63].feeds, std::vector<std::string>{"v16/p1/b2"});
  std::set<std::string> vendors;
  for (const auto& node : mixed.nodes) vendors.insert(node.bmc.vendor);
  EXPECT_EQ(vendors.size(), all_vendor_behaviors().size());
  EXPECT_EQ(mixed.profile_of(mixed.nodes[7]), "a100-8");
}

}  // namespace
}  // namespace cupel::rehearsal
