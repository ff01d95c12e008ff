// A rack that is one machine: its trays, switches, shelves and slots, as an inventory has them.
#include "inventory/rack.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "tests/support/captures.h"

namespace cupel::inventory {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kDefaults = R"(defaults:
  profile: gb200-nvl72-tray
  bmc: {user: admin, password: "env:BMC", tls: {trust: first-use}}
  nvos: {user: admin, password: "env:NVOS"}
  ssh: {user: root, key: agent}
nodes:
  - {name: "a01-n[01-18]", rack: a01, bmc: {address: "10.0.1.[1-18]"}, ssh: {address: "10.0.2.[1-18]"}}
)";

std::string site(std::string_view racks) {
  return "site: lab\nracks:\n" + std::string{racks} + std::string{kDefaults};
}

LoadedRacks parsed(std::string_view racks) {
  return parse_racks(site(racks), "site.yaml", "/nowhere");
}

std::string reported(std::string_view racks) { return to_string(parsed(racks).problems); }

constexpr std::string_view kWhole = R"(  a01:
    kind: gb200-nvl72
    compute: {bmc: ["10.0.1.[1-18]"], slots: "[1-8,18-27]"}
    switches: {bmc: ["10.0.3.[1-9]"], nvos: ["10.0.4.[1-9]", "10.0.5.[1-9]"], slots: 9-17}
    power_shelves: ["10.0.6.[1-8]"]
    cdu: {address: 10.0.7.1, user: ops, password: "env:CDU"}
)";

TEST(RackParts, AreTraysWithSlotsByRangesOfAddresses) {
  const auto loaded = parsed(kWhole);

  ASSERT_TRUE(loaded.inventory) << to_string(loaded.problems);
  ASSERT_EQ(loaded.racks.size(), 1);
  const auto& rack = loaded.racks[0];
  EXPECT_EQ(rack.name, "a01");
  EXPECT_EQ(rack.kind->name, "gb200-nvl72");
  ASSERT_EQ(rack.compute.size(), 18);
  EXPECT_EQ(rack.compute[8].bmc.name, "a01/compute9");
  EXPECT_EQ(rack.compute[8].bmc.endpoint, (Endpoint{"10.0.1.9", 443}));
  EXPECT_EQ(rack.compute[8].bmc.user, "admin");
  EXPECT_EQ(rack.compute[8].slot, 18);
  ASSERT_EQ(rack.switches.size(), 9);
  EXPECT_EQ(rack.switches[8].name, "a01/switch9");
  EXPECT_EQ(rack.switches[8].slot, 17);
  EXPECT_EQ(rack.switches[8].bmc->endpoint.host, "10.0.3.9");
  ASSERT_EQ(rack.switches[8].nvos.size(), 2);
  EXPECT_EQ(rack.switches[8].nvos[0].endpoint.host, "10.0.4.9");
  EXPECT_EQ(rack.switches[8].nvos[1].endpoint.host, "10.0.5.9");
  EXPECT_EQ(rack.switches[8].nvos[1].password, (SecretRef{SecretRef::Kind::env, "NVOS"}));
  EXPECT_EQ(rack.shelves.size(), 8);
  EXPECT_EQ(rack.cdu->user, "ops");
}

TEST(RackParts, KnowTheNodeWhoseBmcATrayHasInWhateverSpelling) {
  const auto loaded =
      parsed("  a01: {kind: gb200-nvl72, compute: {bmc: ['[::ffff:10.0.1.2]:443', 10.0.9.9]}}\n");

  ASSERT_EQ(loaded.racks.size(), 1) << to_string(loaded.problems);
  EXPECT_EQ(loaded.racks[0].compute[0].node, "a01-n02");
  EXPECT_EQ(loaded.racks[0].compute[0].bmc.pin_name(), "a01-n02");
  EXPECT_EQ(loaded.racks[0].compute[1].node, "");
  EXPECT_EQ(loaded.racks[0].compute[1].bmc.pin_name(), "a01/compute2");
}

TEST(RackParts, HaveSecretsOfTheirOwnWhereTheNameStandsInThePlace) {
  auto text = site(
      "  a01: {kind: gb200-nvl72, compute: {bmc: ['10.0.1.[1-2]', 10.0.9.9]}, "
      "power_shelves: [10.0.9.1], switches: {nvos: [10.0.9.2]}}\n");
  const std::string nvos = "env:NVOS\"", of_switch = "file:/nvos/{node}\"";
  text.replace(text.find(nvos), nvos.size(), of_switch);
  const std::string everyones = "env:BMC\"", own = "file:/secrets/{node}\"";
  text.replace(text.find(everyones), everyones.size(), own);

  const auto loaded = parse_racks(text, "site.yaml", "/nowhere");

  ASSERT_EQ(loaded.racks.size(), 1) << to_string(loaded.problems);
  const auto& rack = loaded.racks[0];
  EXPECT_EQ(rack.compute[1].bmc.password.where, "/secrets/a01-n02") << "that of the node";
  EXPECT_EQ(rack.compute[2].bmc.password.where, "/secrets/a01-compute3");
  EXPECT_EQ(rack.shelves[0].password.where, "/secrets/a01-shelf1");
  EXPECT_EQ(rack.switches[0].nvos[0].password.where, "/nvos/a01-switch1");
}

TEST(RackParts, MayBeNamedByTheirNodes) {
  const auto loaded =
      parsed("  a01: {kind: gb300-nvl72, compute: {nodes: 'a01-n[01-18]', slots: '[1-18]'}}\n");

  ASSERT_EQ(loaded.racks.size(), 1) << to_string(loaded.problems);
  const auto& tray = loaded.racks[0].compute.at(17);
  EXPECT_EQ(tray.node, "a01-n18");
  EXPECT_EQ(tray.slot, 18);
  EXPECT_EQ(tray.bmc.endpoint.host, "10.0.1.18");
  EXPECT_EQ(tray.bmc.user, "admin");
}

TEST(RackParts, AreReadOfAListOfRacksAsOfAMap) {
  const auto loaded = parsed(
      "  - {name: a01, kind: gb200-nvl72, units: 48, compute: {bmc: [10.0.1.1]}}\n"
      "  - {name: a02, units: 42}\n");

  ASSERT_TRUE(loaded.inventory) << to_string(loaded.problems);
  EXPECT_EQ(loaded.inventory->racks.size(), 2);
  ASSERT_EQ(loaded.racks.size(), 1) << "the other one is a rack of servers";
  EXPECT_EQ(loaded.racks[0].compute.size(), 1);
}

TEST(RackParts, TellAllTheirErrorsAtOnceEachAtItsPlace) {
  const auto problems = reported(R"(  a01:
    kind: gb20-nvl72
    compute: {bmc: ["10.0.1.[1-18]"], slots: "[1-17]"}
    switches: {nvos: [10.0.4.1, 10.0.4.2, 10.0.4.3], bmc: [10.0.3.1, 10.0.3.2], slot: 9}
    power_shelves: 10.0.6.1
    cdu: {address: 10.0.7.300, user: ops}
)");

  EXPECT_THAT(problems, AllOf(HasSubstr("site.yaml:4:11: there is no kind of rack 'gb20-nvl72' "
                                        "(did you mean 'gb200-nvl72'?)"),
                              HasSubstr("site.yaml:5:46: rack 'a01': 17 slots for 18 trays")));
  EXPECT_THAT(problems, HasSubstr("nvos has 3 addresses for 2 switches"));
  EXPECT_THAT(problems, HasSubstr("unknown key 'slot' in switches (did you mean 'slots'?)"));
  EXPECT_THAT(problems, HasSubstr("site.yaml:7:20: rack 'a01': power_shelves must be a list"));
  EXPECT_THAT(problems, HasSubstr("site.yaml:8:20: '10.0.7.300'"));
}

TEST(RackParts, HaveNoAddressNoMacAndNoSlotTwice) {
  EXPECT_THAT(
      reported("  a01: {kind: gb200-nvl72, compute: {bmc: [10.0.9.1, 10.0.9.2], slots: '3,3'}}\n"),
      HasSubstr("slot 3 of a01/compute2 is already that of a01/compute1"));
  EXPECT_THAT(reported("  a01: {kind: gb200-nvl72, compute: {bmc: [10.0.9.1], slots: 4},\n"
                       "        switches: {bmc: [10.0.9.3], slots: 4}}\n"),
              HasSubstr("slot 4 of a01/switch1 is already that of a01/compute1"));
  EXPECT_THAT(
      reported("  a01: {kind: gb200-nvl72, power_shelves: [10.0.9.1, '[::ffff:10.0.9.1]:443']}\n"),
      HasSubstr("is already that of a01/shelf1"));
  EXPECT_THAT(reported("  a01: {kind: gb200-nvl72, power_shelves: [10.0.1.7]}\n"),
              HasSubstr("address 10.0.1.7:443 of a01/shelf1 is already that of a01-n07"));
  EXPECT_THAT(reported("  a01: {kind: gb200-nvl72, power_shelves: {address: '10.0.9.[1-2]', mac: "
                       "['AA-BB-CC-00-11-22', 'aa:bb:cc:00:11:22']}}\n"),
              HasSubstr("MAC aa:bb:cc:00:11:22 of a01/shelf2 is already that of a01/shelf1"));
  EXPECT_THAT(reported("  a01: {kind: gb200-nvl72, compute: {nodes: a01-n01}}\n"
                       "  a02: {kind: gb200-nvl72, compute: {nodes: a01-n01}}\n"),
              HasSubstr("node a01-n01 of a02/compute1 is already that of a01/compute1"));
}

TEST(RackParts, AreRefusedWhereTheyAreNoneEmptyOrTooMany) {
  EXPECT_THAT(reported("  a01: {kind: gb200-nvl72, compute: {}}\n"),
              HasSubstr("compute needs one of bmc: [addresses] and nodes:"));
  EXPECT_THAT(reported("  a01: {kind: gb200-nvl72, compute: {bmc: []}}\n"),
              HasSubstr("bmc needs addresses"));
  EXPECT_THAT(reported("  a01: {kind: gb200-nvl72, compute: {bmc: [[10.0.9.1]]}}\n"),
              HasSubstr("each of bmc must be a text"));
  EXPECT_THAT(reported("  a01: {kind: gb200-nvl72, compute: {bmc: ['10.0.[1-200].[1-200]']}}\n"),
              HasSubstr("more than 256"));
  EXPECT_THAT(reported("  a01: {kind: gb200-nvl72, power_shelves: ['10.0.9.[1-9]']}\n"),
              HasSubstr("rack 'a01' has 9 power shelves, and a gb200-nvl72 has 8 at most"));
  EXPECT_THAT(reported("  a01: {kind: gb200-nvl72, compute: {bmc: [10.0.9.1], slots: 0}}\n"),
              HasSubstr("slot must be a whole number from 1 to 255, not '0'"));
  EXPECT_THAT(reported("  a01: {compute: {bmc: [10.0.9.1]}}\n"), HasSubstr("needs a kind"));
  EXPECT_THAT(reported("  a01: {kind: gb200-nvl72, compute: {nodes: a01-n99}}\n"),
              HasSubstr("there is no node 'a01-n99'"));
  EXPECT_THAT(
      reported("  a01: {kind: gb200-nvl72, switches: {nvos: {address: 10.0.9.1, certificate: "
               "/dev/null}}}\n"),
      HasSubstr("certificate and key belong together"));
}

TEST(RackParts, NameNoPrivateKeyThatOthersMayRead) {
  const test::TemporaryFolder folder;
  const auto at = [&](const char* name) { return folder.path() / name; };
  ASSERT_TRUE(write_file(at("own.pem"), "certificate", 0644));
  ASSERT_TRUE(write_file(at("own.key"), "key", 0644));
  ASSERT_TRUE(write_file(at("site.yaml"),
                         site("  a01: {kind: gb200-nvl72, switches: {nvos: {address: 10.0.9.1, "
                              "certificate: own.pem, key: own.key}}}\n"),
                         0600));

  const auto open_to_all = load_racks(at("site.yaml"));
  ASSERT_TRUE(write_file(at("own.key"), "key", 0600));
  const auto closed = load_racks(at("site.yaml"));

  EXPECT_THAT(to_string(open_to_all.problems), HasSubstr("own.key may be read by others"));
  EXPECT_FALSE(open_to_all.inventory);
  ASSERT_TRUE(closed.inventory) << to_string(closed.problems);
  EXPECT_EQ(closed.racks.at(0).switches.at(0).nvos.at(0).key, at("own.key").string());
}

TEST(RackParts, OfARackByKeyHaveNoOtherName) {
  EXPECT_THAT(reported("  a01: {name: a02, kind: gb200-nvl72}\n"), HasSubstr("unknown key 'name'"));
  EXPECT_THAT(reported("  'a 1': {units: 42}\n"), HasSubstr("site.yaml:3:3: "));
}

}  // namespace
}  // namespace cupel::inventory
