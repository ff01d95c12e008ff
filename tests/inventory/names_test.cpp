// Names that a site may give, and those that would mean something else to Slurm, a shell, a path or
// a terminal.
#include "inventory/names.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "inventory/load.h"

namespace cupel::inventory {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Names, TakeWhatHostsRacksAndUsersAreCalled) {
  for (const auto* name : {"a01-n01", "gpu7", "10", "node_3", "n1.rack2.example.org", "Allegro"})
    EXPECT_EQ(fault_in_name(Named::node, name), std::nullopt) << name;
  EXPECT_EQ(fault_in_name(Named::node, std::string(63, 'a') + "." + std::string(63, 'b')),
            std::nullopt);
  EXPECT_EQ(fault_in_name(Named::rack, "all"), std::nullopt) << "no command reads a rack alone";
  for (const auto* user : {"admin", "_svc", "ops@example.org", "LAB\\admin"})
    EXPECT_EQ(fault_in_name(Named::user, user), std::nullopt) << user;
}

TEST(Names, RefuseWordsThatMeanSeveralNodesOrNone) {
  for (const auto what : {Named::node, Named::slurm_node, Named::partition, Named::feature})
    for (const auto* word : {"ALL", "all", "All", "DEFAULT", "default", "NONE", "any", "null"})
      EXPECT_THAT(fault_in_name(what, word).value_or("none"), HasSubstr("choose another")) << word;
}

TEST(Names, RefuseWhatAnotherProgramWouldReadOtherwise) {
  const std::vector<std::pair<std::string, std::string>> faults{
      {"", "node name '' is empty"},
      {"-rf", "node name '-rf' must begin with a letter or a digit"},
      {"../../etc", "node name '../../etc' may have letters, digits, '-', '.' and '_' only"},
      {"..", "node name '..' must begin with a letter or a digit"},
      {"a..b", "node name 'a..b' has an empty part between dots"},
      {"a b", "node name 'a b' may have letters, digits, '-', '.' and '_' only"},
      {"a;rm", "node name 'a;rm' may have letters, digits, '-', '.' and '_' only"},
      {"rack:x", "node name 'rack:x' may have letters, digits, '-', '.' and '_' only"},
      {"$(id)", "node name '$(id)' may have letters, digits, '-', '.' and '_' only"},
      {"a,b", "node name 'a,b' may have letters, digits, '-', '.' and '_' only"},
      {"n[1-2]", "node name 'n[1-2]' may have letters, digits, '-', '.' and '_' only"},
      {"a\x1b[31m\n", "node name 'a[31m' may have letters, digits, '-', '.' and '_' only"},
      {"n\xc3\xa4", "node name 'n\xc3\xa4' may have letters, digits, '-', '.' and '_' only"},
      {std::string(64, 'a'),
       fmt::format("node name '{}' has a part of 64 characters: at most 63", std::string(64, 'a'))},
      {"a." + std::string(300, 'b'), "302 characters: at most 253"},
  };
  for (const auto& [name, why] : faults)
    EXPECT_THAT(fault_in_name(Named::node, name).value_or("none"), HasSubstr(why));
}

/// One node, with one place in the text for each kind of name.
std::string site(const std::string& name, const std::string& more = {},
                 const std::string& slurm = "{partition: gpu}") {
  return "site: lab\nslurm: " + slurm +
         "\ndefaults:\n  profile: dgx-h100\n  bmc: {user: admin, password: \"env:P\"}\n"
         "nodes:\n  - {name: " +
         name + ", bmc: {address: 10.0.1.1}, ssh: {address: 10.0.2.1}" + more + "}\n";
}

std::string reported(const std::string& text) {
  const auto loaded = parse_inventory(text, "site.yaml", "/nowhere");
  EXPECT_EQ(loaded.inventory.has_value(), loaded.problems.empty());
  return to_string(loaded.problems);
}

TEST(LoadInventory, RefusesNamesThatSlurmTakesForAllNodes) {
  EXPECT_EQ(reported(site("n1")), "");
  EXPECT_THAT(reported(site("ALL")), HasSubstr("site.yaml:7:12: node name 'ALL' is a word"));
  EXPECT_THAT(reported(site("n1", ", slurm_name: ALL")),
              HasSubstr("site.yaml:7:80: Slurm name 'ALL' is a word"));
  EXPECT_THAT(reported(site("n1", "", "{partition: DEFAULT}")),
              HasSubstr("site.yaml:2:20: partition 'DEFAULT' is a word"));
  EXPECT_THAT(reported(site("n1", "", "{features: [ok, 'a,b']}")),
              HasSubstr("feature 'a,b' may have"));
  const std::string long_name = std::string(40, 'a') + "." + std::string(40, 'b');
  EXPECT_THAT(reported(site(long_name)), HasSubstr("(slurm_name gives another)"));
  EXPECT_EQ(reported(site(long_name, ", slurm_name: n1")), "");
}

TEST(LoadInventory, RefusesNamesOfRacksBreakersUsersAndProfilesWithTheirPlace) {
  EXPECT_THAT(reported("site: l\nracks: [{name: 'a 1'}]\n"),
              HasSubstr("site.yaml:2:16: rack name 'a 1' may have"));
  EXPECT_THAT(reported("site: l\nrooms: [{name: ../x, watts: 5}]\n"),
              HasSubstr("room name '../x'"));
  EXPECT_THAT(reported("site: l\nracks: [{name: a, pdus: [{name: p/1, watts: 5}]}]\n"),
              HasSubstr("PDU name 'p/1'"));
  EXPECT_THAT(reported(site("n1", ", profile: ../../etc/x")),
              HasSubstr("profile name '../../etc/x'"));
  auto user = site("n1");
  user.replace(user.find("admin"), 5, "'a\"b'");
  EXPECT_THAT(reported(user), HasSubstr("user 'a\"b' may have"));
  EXPECT_THAT(reported(site("n1", ", host_name: 'x y'")), HasSubstr("host name 'x y'"));
}

TEST(LoadInventory, LetsNoControlCharacterReachATerminal) {
  for (const auto* hostile : {R"("a\x1b[31mb")", R"("a\nPrologue=/x")", R"("a\u009b2Jb")",
                              R"("a\u202eb")", R"("a\u2028b")", R"("a\rb")", R"("a\x7fb")"}) {
    const auto text = reported(site(hostile));
    EXPECT_NE(text, "") << hostile;
    for (const auto line : {"\x1b", "\r", "\xc2\x9b", "\xe2\x80\xae", "\x7f"})
      EXPECT_THAT(text, Not(HasSubstr(line))) << hostile;
    EXPECT_EQ(std::ranges::count(text, '\n'), 1) << hostile;
  }
  EXPECT_THAT(reported("site: \"x\\x1by\"\n"),
              HasSubstr("site.yaml:1:7: a text with the control character U+001B"));
  EXPECT_THAT(reported("site: l\n\"k\\x1b\": 1\n"), HasSubstr("control character U+001B"));
  EXPECT_EQ(reported("site: l\xff\n"), "site.yaml:1:8: the file is not UTF-8\n");
}

TEST(Problems, AreSafeForATerminalWhateverTheyQuote) {
  EXPECT_EQ(to_string({{{"a\x1b[2J.yaml", 1, 2}, "unknown key 'x\x1b]0;y\x07\n'"}}),
            "a[2J.yaml:1:2: unknown key 'x]0;y'\n");
  EXPECT_LT(to_string({{{"a", 1, 2}, std::string(100'000, 'x')}}).size(), 3000);
}

TEST(LoadInventory, RefusesAddressesThatCannotBe) {
  const auto with = [](const std::string& bmc, const std::string& ssh) {
    auto text = site("n1");
    text.replace(text.find("10.0.2.1"), 8, "\"" + ssh + "\"");
    return reported(text.replace(text.find("10.0.1.1"), 8, "\"" + bmc + "\""));
  };
  EXPECT_EQ(with("10.0.1.1", "10.0.1.2"), "");
  EXPECT_EQ(with("[fe80::1%eth0]:8443", "n1-ssh.example.org:2222"), "");
  EXPECT_EQ(with("10.0.1.1:8443", "10.0.1.1:2222"), "") << "two ports of one gateway";
  for (const auto* wrong : {"10.0.1.300", "10.0.1", "10.0.1.01", "1.2.3.4.5", "fe80::1::2", "-n1"})
    EXPECT_THAT(with(wrong, "10.0.1.2"),
                HasSubstr(fmt::format("'{}' is not a host or host:port", wrong)));
  EXPECT_THAT(with("10.0.1.1", "10.0.1.1"),
              HasSubstr("BMC address 10.0.1.1 of node 'n1' is the SSH address of 'n1'"));
}

TEST(LoadInventory, RefusesAUnitWithoutARack) {
  EXPECT_THAT(reported(site("n1", ", unit: 3")),
              HasSubstr("node 'n1' has a unit and no rack: a unit is a rack's"));
}

TEST(LoadInventory, SaysOfABrokenRangeOfNamesThatAlone) {
  EXPECT_EQ(reported(site("'n[1-'")), "site.yaml:7:12: 'n[1-': '[' without ']' at character 2\n");
  EXPECT_THAT(reported(site("'n[1-'", ", bcm: 1")), HasSubstr("unknown key 'bcm' in node"));
}

}  // namespace
}  // namespace cupel::inventory
