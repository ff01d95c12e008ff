#include "inventory/load.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "inventory/load_profile.h"
#include "inventory/read_security_floor.h"
#include "tests/support/captures.h"

namespace cupel::inventory {
namespace {
using ::testing::HasSubstr;

constexpr std::string_view kGood = R"(site: lab
rooms: [{name: hall, watts: 100000}]
racks:
  - name: a01
    room: hall
    watts: 90000
    units: 64
    pdus:
      - name: p1
        watts: 90000
        breakers: [{name: "b[1-4]", watts: 22000}]
defaults:
  profile: dgx-h100
  bmc: {user: admin, password: "env:BMC_PASSWORD", tls: {trust: first-use}}
  ssh: {user: root, key: agent}
nodes:
  - name: a01-n[01-08]
    rack: a01
    unit: "[1-57/8]"
    breaker: p1/b[1-4]
    bmc: {address: "10.0.1.[11-18]"}
    ssh: {address: "10.0.2.[11-18]"}
)";

Loaded loaded(std::string_view text) { return parse_inventory(text, "site.yaml", "/nowhere"); }

TEST(LoadInventory, ZipsNamesWithAddressesUnitsAndBreakers) {
  const auto result = loaded(kGood);

  ASSERT_TRUE(result.inventory) << to_string(result.problems);
  const auto& nodes = result.inventory->nodes;
  ASSERT_EQ(nodes.size(), 8);
  EXPECT_EQ(nodes[2].name, "a01-n03");
  EXPECT_EQ(nodes[2].unit, 17);
  EXPECT_EQ(nodes[2].bmc.endpoint, (Endpoint{"10.0.1.13", 443}));
  EXPECT_EQ(nodes[2].ssh.endpoint, (Endpoint{"10.0.2.13", 22}));
  EXPECT_EQ(nodes[2].feeds, std::vector<std::string>{"a01/p1/b2"});
  EXPECT_EQ(nodes[2].bmc.password, (SecretRef{SecretRef::Kind::env, "BMC_PASSWORD"}));
  EXPECT_EQ(result.inventory->profile_of(nodes[2]).parts.size(), 6);
}

TEST(LoadInventory, APathThatCannotBeLookedAtIsAProblemOfItsLine) {
  const auto name = "/" + std::string(300, 'a');
  for (const auto& [keys, place] : std::vector<std::pair<std::string, std::string>>{
           {"defaults: {ssh: {key: " + name + "}}\n", "site.yaml:2:"},
           {"defaults: {bmc: {tls: {ca: " + name + "}}}\n", "site.yaml:2:"},
           {"slurm: {rest: {url: 'https://s:1', user: slurm, token: 'env:T', ca: " + name + "}}\n",
            "site.yaml:2:"},
           {"boot: {serve: '10.0.0.1:1', tls: {certificate: " + name + ", key: " + name +
                ", ca: " + name + "}}\n",
            "site.yaml:2:"}}) {
    const auto problems =
        to_string(loaded("site: lab\n" + keys +
                         "nodes:\n  - {name: n1, profile: dgx-h100, bmc: {address: 10.0.1.1, "
                         "user: u, password: 'env:P'}, ssh: {address: 10.0.2.1}}\n")
                      .problems);

    EXPECT_THAT(problems, HasSubstr(place)) << keys;
    EXPECT_THAT(problems, HasSubstr("cannot be looked at: File name too long")) << keys;
  }
}

constexpr std::string_view kSwitched = R"(site: lab
racks:
  - name: a[01-02]
    pdus:
      - name: p[1-2]
        watts: 90000
        breakers: [{name: "b[1-2]", watts: 22000}]
        redfish: {address: "10.0.9.[1-4]", user: ops, password: "env:PDU", tls: {trust: first-use}}
nodes:
  - name: a02-n[1-2]
    profile: dgx-h100
    rack: a02
    breaker: p1/b[1-2]
    outlet: [A1+A2+A3, A4+A5+A6]
    second_breaker: p2/b[1-2]
    second_outlet: feed[1-2]
    bmc: {address: "10.0.1.[1-2]", user: admin, password: "env:BMC"}
    ssh: {address: "10.0.2.[1-2]"}
)";

TEST(LoadInventory, KnowsTheOutletsOfEachFeedAndWhereTheirPduIs) {
  const auto result = loaded(kSwitched);

  ASSERT_TRUE(result.inventory) << to_string(result.problems);
  const auto& node = result.inventory->nodes[1];
  EXPECT_EQ(node.feeds, (std::vector<std::string>{"a02/p1/b2", "a02/p2/b2"}));
  EXPECT_EQ(node.outlets, (std::vector<std::string>{"A4+A5+A6", "feed2"}));
  EXPECT_THAT(outlet_names(node.outlets[0]), ::testing::ElementsAre("A4", "A5", "A6"));
  const auto* pdu = result.inventory->pdu_of(node.feeds[1]);
  ASSERT_NE(pdu, nullptr);
  EXPECT_EQ(pdu->name, "a02/p2");
  EXPECT_EQ(pdu->endpoint, (Endpoint{"10.0.9.4", 443}));
  EXPECT_EQ(pdu->user, "ops");
  EXPECT_EQ(pdu->password, (SecretRef{SecretRef::Kind::env, "PDU"}));
}

TEST(LoadInventory, RefusesUnknownOrSharedOutlets) {
  std::string text{kSwitched};
  text.replace(text.find("        redfish:"), text.find("nodes:") - text.find("        redfish:"),
               "");
  EXPECT_THAT(to_string(loaded(text).problems),
              HasSubstr("node 'a02-n1': the PDU of breaker 'a02/p1/b1' has no redfish: by which "
                        "outlet A1+A2+A3 could be switched"));
  text = kSwitched;
  text.replace(text.find("A4+A5"), 5, "A4+A3");
  EXPECT_THAT(to_string(loaded(text).problems),
              HasSubstr("outlet A3 of PDU a02/p1 of node 'a02-n2' is already that of 'a02-n1'"));
  text = kSwitched;
  text.replace(text.find("A4+A5"), 5, "B1+B2+B3+B4+B5+B6+B7+B8+B9+C1+C2+C3");
  EXPECT_THAT(to_string(loaded(text).problems),
              HasSubstr("node 'a02-n2': 13 outlets of one feed, and 12 are possible"));
  text = kSwitched;
  text.replace(text.find("    second_breaker"),
               text.find("    second_outlet") - text.find("    second_breaker"), "");
  text.replace(text.find("[1-4]"), 5, "[1-3]");
  text.replace(text.find("user: ops, "), 11, "");
  const auto reported = to_string(loaded(text).problems);
  EXPECT_THAT(reported, HasSubstr("second_outlet needs second_breaker"));
  EXPECT_THAT(reported, HasSubstr("3 addresses for 4 PDUs: give one for each"));
  EXPECT_THAT(reported, HasSubstr("PDU needs redfish: {user: ...}\n"));
}

TEST(LoadInventory, TakesAHostNameForEachNodeAndOnlyAnyForAll) {
  std::string text{kGood};
  text.replace(text.find("ssh: {user"), 0, "host_name: any\n  ");
  const auto any = loaded(text);
  const auto own = loaded(std::string{kGood} + "    host_name: gpu[1-8]\n");
  text.replace(text.find("host_name: any"), 14, "host_name: gpu1");
  const auto same = loaded(text);

  ASSERT_TRUE(any.inventory) << to_string(any.problems);
  EXPECT_EQ(any.inventory->nodes[2].host_name, kAnyHostName);
  ASSERT_TRUE(own.inventory) << to_string(own.problems);
  EXPECT_EQ(own.inventory->nodes[2].host_name, "gpu3");
  EXPECT_THAT(to_string(same.problems), HasSubstr("site.yaml:15:14: host_name in defaults"));
}

TEST(LoadInventory, SaysAllErrorsAtOnceWithTheirPlaceAndTheNearestWord) {
  const auto result = loaded(R"(site: lab
rooms: [{name: hall, wats: 100000}]
racks:
  - name: a01
    room: hal
    units: 48
defaults:
  profile: dgx-h100
  bmc: {user: admin, password: hunter2, tls: {trust: none}}
nodes:
  - name: a01-n[01-02]
    rack: a02
    bmc: {address: "10.0.1.[11-13]"}
    ssh: {adress: 10.0.2.11}
  - name: a01-n03
    profile: dgx-h10
    bmc: {address: 10.0.1.14, protocol: redfsh}
    ssh: {address: "10.0.2.14:99999"}
  - name: a01-n03
    unit: eleven
    bmc: {address: 10.0.1.14}
    ssh: {address: 10.0.2.15, key: none-such}
)");

  EXPECT_FALSE(result.inventory);
  const auto text = to_string(result.problems);
  for (const auto line : {
           "site.yaml:2:22: unknown key 'wats' in room (did you mean 'watts'?)",
           "site.yaml:2:9: room needs watts",
           "site.yaml:5:11: there is no room 'hal' (did you mean 'hall'?)",
           "site.yaml:9:32: password must say where the secret is: env:NAME, file:PATH or "
           "cmd:COMMAND",
           "site.yaml:9:54: tls trust must be first-use or known, not 'none'",
           "site.yaml:13:20: 3 addresses for 2 nodes: give one for each",
           "site.yaml:14:11: unknown key 'adress' in ssh (did you mean 'address'?)",
           "site.yaml:17:41: bmc protocol must be redfish or ipmi, not 'redfsh' (did you mean "
           "'redfish'?)",
           "site.yaml:18:20: '10.0.2.14:99999' is not a host or host:port",
           "there is no profile 'dgx-h10' (did you mean 'dgx-h100'?)",
           "site.yaml:20:11: unit must be a whole number from 1 to 100, not 'eleven'",
           "site.yaml:22:36: key: there is no file /nowhere/none-such. Make one with ssh-keygen",
           "there is no rack 'a02' (did you mean 'a01'?)",
           "name a01-n03 of node 'a01-n03' is already that of 'a01-n03' (site.yaml:15:11)",
           "BMC address 10.0.1.14:443 of node 'a01-n03' is already that of 'a01-n03'",
       })
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("hunter2")));
}

TEST(LoadInventory, TakesABreakerThatCarriesOneOfItsNodesLoaded) {
  std::string text{kGood};
  text.replace(text.find("22000"), 5, "13000");

  EXPECT_TRUE(loaded(text).inventory);
}

TEST(LoadInventory, RefusesABreakerThatEvenIdleNodesOverdraw) {
  std::string text{kGood};
  text.replace(text.find("22000"), 5, "04000");

  const auto result = loaded(text);

  ASSERT_EQ(result.problems.size(), 4) << to_string(result.problems);
  EXPECT_THAT(to_string(result.problems),
              HasSubstr("site.yaml:11:20: breaker 'a01/p1/b1' is overfilled: 2 nodes draw 4600 W "
                        "though they only idle, and it carries 4000 W"));
}

TEST(LoadInventory, RefusesTwoNodesInOneUnit) {
  std::string text{kGood};
  text.replace(text.find("[1-57/8]"), 8, "[1-50/7]");

  const auto result = loaded(text);

  EXPECT_THAT(to_string(result.problems),
              HasSubstr("unit 8 of rack a01 of node 'a01-n02' is already that of 'a01-n01'"));
}

TEST(LoadInventory, RefusesHostileYaml) {
  const std::string deep(100'000, '[');
  std::string bomb = "site: x\na0: &a0 [x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 9; ++j) bomb += (j > 0 ? ",*a" : "*a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  for (const std::string& text : {std::string{}, deep, bomb, std::string{"site: [\n"},
                                  std::string{"a: 1\na: 2\n"}, std::string{"? [a]\n: b\n"}}) {
    const auto result = loaded(text);
    EXPECT_FALSE(result.inventory);
    EXPECT_FALSE(result.problems.empty()) << text.substr(0, 40);
  }
}

TEST(LoadInventory, NamesTheTabThatIndentsALine) {
  const auto tab = loaded("site: x\nnodes:\n\t- name: a\n");
  const auto none = loaded("site: x\nnodes: [\n");

  EXPECT_THAT(to_string(tab.problems), HasSubstr("a tab indents this line, use spaces"));
  EXPECT_THAT(to_string(none.problems), HasSubstr("not YAML"));
  EXPECT_THAT(to_string(none.problems), ::testing::Not(HasSubstr("a tab")));
  EXPECT_THAT(to_string(loaded("just words\n").problems),
              HasSubstr("site.yaml:1:1: inventory must be a map"));
}

TEST(LoadInventory, SaysWhereAFileIsNoText) {
  using namespace std::string_view_literals;

  EXPECT_EQ(to_string(loaded("site: x\nno\xe9: 1\n").problems),
            "site.yaml:2:3: the file is not UTF-8\n");
  EXPECT_EQ(to_string(loaded("\xff"sv).problems), "site.yaml:1:1: the file is not UTF-8\n");
  EXPECT_EQ(to_string(loaded("site: x\0y\n"sv).problems),
            "site.yaml:1:8: the file is no text: it has a zero byte\n");
}

TEST(LoadInventory, TellsSoManyErrorsAndCountsTheRest) {
  std::string text = "site: lab\nnodes:\n";
  for (int i = 0; i < 1500; ++i)
    text += "  - {name: n" + std::to_string(i) +
            ", profile: dgx-h100, bmc: {address: 10.0.0.1, user: u, password: 'env:P'}, "
            "ssh: {address: 11.0." +
            std::to_string(i / 250) + "." + std::to_string(i % 250) + "}}\n";

  const auto result = loaded(text);

  ASSERT_EQ(result.problems.size(), kMostProblems + 1);
  EXPECT_EQ(result.problems.back().what, "499 more errors are not listed");
  EXPECT_THAT(to_string(result.problems), ::testing::EndsWith("499 more errors are not listed\n"));
}

TEST(Profiles, EveryShippedOneIsSound) {
  const ProfileSource source{"/nowhere"};
  for (const auto& name : source.names()) {
    std::vector<Problem> problems;
    const auto profile = source.load(name, problems);
    ASSERT_TRUE(profile) << name;
    EXPECT_TRUE(problems.empty()) << to_string(problems);
    EXPECT_FALSE(profile->criteria.empty()) << name;
  }
  EXPECT_THAT(source.names(), testing::IsSupersetOf({"a100-8", "dgx-h100", "hgx-h100-8"}));
}

TEST(Profiles, ASitesOwnOneExtendsAShippedOne) {
  std::vector<Problem> problems;
  const auto profile = parse_profile(
      "profile: mine\nextends: dgx-h100\nfirmware: [{component: HostBMC_0, version: 24.1}]\n",
      "mine.yaml", ProfileSource{"/nowhere"}, problems);

  ASSERT_TRUE(profile) << to_string(problems);
  EXPECT_EQ(profile->name, "mine");
  EXPECT_EQ(profile->draw.loaded_watts, 10200);
  ASSERT_EQ(profile->firmware.size(), 2);
  EXPECT_EQ(profile->firmware[1].version, "24.1");
}

/// It would judge by other limits.
TEST(Profiles, NoShippedOneStandsInForASitesOwnThatCannotBeRead) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "dgx-h100.yaml";
  std::filesystem::create_directory(file);
  const ProfileSource source{folder.path()};
  std::vector<Problem> of_itself, of_another;

  const auto own = source.load("dgx-h100", of_itself);
  [[maybe_unused]] const auto other =
      parse_profile("profile: mine\nextends: dgx-h100\npower: {idle: 1, loaded: 2}\n", "mine.yaml",
                    source, of_another);

  EXPECT_FALSE(own);
  EXPECT_THAT(to_string(of_itself), HasSubstr(file.string()));
  EXPECT_EQ(source.text("dgx-h100"), "");
  EXPECT_THAT(to_string(of_another), HasSubstr("mine.yaml:2:"));
  EXPECT_THAT(to_string(of_another), HasSubstr(file.string()));
}

TEST(LoadInventory, HasTheShippedSecurityFloorWhereItNamesNone) {
  const auto none = loaded(kGood);
  const auto strict = loaded(std::string{kGood} + "security_floor: {policy: fail}\n");
  const auto wrong = loaded(std::string{kGood} + "security_floor: {policy: no, fil: x}\n");

  ASSERT_TRUE(none.inventory && strict.inventory) << to_string(strict.problems);
  EXPECT_EQ(none.inventory->floor.rows.size(), shipped_floor().rows.size());
  EXPECT_FALSE(none.inventory->floor.fails);
  EXPECT_EQ(strict.inventory->floor.rows.size(), shipped_floor().rows.size());
  EXPECT_TRUE(strict.inventory->floor.fails);
  EXPECT_EQ(to_string(wrong.problems),
            "site.yaml:23:26: policy 'no' is none of warn, fail\n"
            "site.yaml:23:30: unknown key 'fil' in security_floor (did you mean 'file'?)\n");
}

TEST(LoadInventory, ReadsTheSecurityFloorThatItNames) {
  const test::TemporaryFolder folder;
  const auto load = [&](const std::string& rows) {
    std::ofstream{folder.path() / "floor.yaml"} << "floor: ours\nrows:\n" << rows;
    return parse_inventory(std::string{kGood} + "security_floor: {file: floor.yaml}\n", "site.yaml",
                           folder.path());
  };

  const auto good = load("  - {component: cuda, at_least: 13.1, advisory: A, date: 2026-01-01}\n");
  const auto later = load("  - {component: cuda, at_least: 13.2, advisory: A, date: 2026-01-01}\n");
  const auto wrong = load("  - {component: cuda}\n");

  ASSERT_TRUE(good.inventory && later.inventory) << to_string(good.problems);
  ASSERT_EQ(good.inventory->floor.rows.size(), 1u);
  EXPECT_EQ(good.inventory->floor.rows[0].at_least, "13.1");
  EXPECT_NE(good.inventory->digest, later.inventory->digest);
  EXPECT_FALSE(wrong.inventory);
  EXPECT_THAT(to_string(wrong.problems), HasSubstr("floor.yaml:3:5: row needs at_least"));
}

TEST(LoadProfile, SharesCriteriaBetweenStagesByAnAnchorAndTellsAFaultInThemOnce) {
  const auto shared = [](const std::string& limit) {
    return "profile: mine\npower: {idle: 1, loaded: 2}\ncriteria:\n  gemm:\n    - &begun\n"
           "      - {measure: burn.complete, " +
           limit +
           ", source: ours}\n"
           "      - {measure: gpu.hang, at_most: 0, source: ours}\n"
           "    - {measure: gemm.errors, at_most: 0, source: ours}\n"
           "  hbm:\n    - *begun\n    - {measure: hbm.errors, at_most: 0, source: ours}\n";
  };
  std::vector<Problem> none, once;

  const auto good =
      parse_profile(shared("at_least: 1"), "mine.yaml", ProfileSource{"/nowhere"}, none);
  parse_profile(shared("at_laest: 1"), "mine.yaml", ProfileSource{"/nowhere"}, once);

  ASSERT_TRUE(good) << to_string(none);
  std::string reported;
  for (const auto& each : good->criteria) reported += each.stage + " " + each.measure + "\n";
  EXPECT_EQ(reported,
            "gemm burn.complete\ngemm gpu.hang\ngemm gemm.errors\n"
            "hbm burn.complete\nhbm gpu.hang\nhbm hbm.errors\n");
  EXPECT_EQ(to_string(once),
            "mine.yaml:6:9: criterion 'burn.complete' needs at_least or at_most\n"
            "mine.yaml:6:34: unknown key 'at_laest' in criterion (did you mean 'at_least'?)\n");
}

TEST(LoadProfile, LetsGoOfInheritedFirmwareWhereItSaysNone) {
  std::vector<Problem> problems;

  const auto profile = ProfileSource{"/nowhere"}.load("hgx-h100-8", problems);

  ASSERT_TRUE(profile) << to_string(problems);
  EXPECT_TRUE(profile->firmware.empty()) << "each server vendor names its components differently";
  EXPECT_FALSE(profile->criteria.empty());
}

}  // namespace
}  // namespace cupel::inventory
