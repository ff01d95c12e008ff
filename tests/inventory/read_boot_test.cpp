// How machines get their operating system: read from an inventory and a profile, and every mistake
// with its place.
#include "inventory/read_boot.h"

#include <gmock/gmock.h>

#include "inventory/load.h"
#include "inventory/load_profile.h"

namespace cupel::inventory {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kNodes =
    "defaults:\n"
    "  profile: cpu-server\n"
    "  bmc: {user: admin, password: \"env:P\", tls: {trust: first-use}}\n"
    "nodes:\n"
    "  - name: n[1-2]\n"
    "    bmc: {address: \"10.0.1.[1-2]\"}\n"
    "    ssh: {address: \"10.0.2.[1-2]\"}\n";

Loaded load(const std::string& boot, const std::string& of_nodes = "") {
  return parse_inventory("site: s\n" + boot + std::string{kNodes} + of_nodes, "i.yaml", "/tmp");
}

std::vector<std::string> problem_texts(const std::vector<Problem>& problems) {
  std::vector<std::string> lines;
  for (const auto& problem : problems)
    lines.push_back(to_string(problem.where) + ": " + problem.what);
  return lines;
}

TEST(BootOfASite, IsReadWithItsDhcpItsWaysAndItsRates) {
  const auto loaded = load(
      "boot:\n"
      "  serve: 10.0.0.1:8081\n"
      "  images: images\n"
      "  dhcp: {mode: full, interface: eth1, range: 10.0.2.100-10.0.2.200}\n"
      "  ways: [http, pxe]\n"
      "  uplink: 10Gbit/s\n"
      "  rack_uplink: 1.2GB/s\n"
      "  gateway: 10.0.2.254\n"
      "  dns: [10.0.0.2]\n");

  ASSERT_THAT(problem_texts(loaded.problems), IsEmpty());
  const auto& boot = *loaded.inventory->boot;
  EXPECT_EQ(boot.host, "10.0.0.1");
  EXPECT_EQ(boot.port, 8081);
  EXPECT_EQ(boot.images, "/tmp/images");
  EXPECT_EQ(boot.dhcp, (BootDhcp{DhcpMode::full, "eth1", "10.0.2.100", "10.0.2.200"}));
  EXPECT_THAT(boot.ways, ElementsAre(BootWay::uefi_http, BootWay::pxe));
  EXPECT_DOUBLE_EQ(boot.uplink, 1.25e9);
  EXPECT_DOUBLE_EQ(boot.rack_uplink, 1.2e9);
}

TEST(BootOfASite, NamesTheMirrorOfARack) {
  const auto loaded = load(
      "boot:\n"
      "  serve: 10.0.0.1:8081\n"
      "  mirrors: [{rack: a01, url: \"http://10.1.0.2:8080/images/\"}]\n"
      "racks: [{name: a01, units: 42}]\n");

  ASSERT_THAT(problem_texts(loaded.problems), IsEmpty());
  EXPECT_EQ(loaded.inventory->boot->mirror_of("a01"), "http://10.1.0.2:8080/images");
  EXPECT_EQ(loaded.inventory->boot->mirror_of("a02"), "");
}

TEST(BootOfASite, AMirrorIsOneOfARackAndAPlainUrl) {
  const auto loaded = load(
      "boot:\n"
      "  serve: 10.0.0.1:8081\n"
      "  mirrors:\n"
      "    - {rack: a01, url: \"ftp://10.1.0.2/images\"}\n"
      "    - {rack: a01, url: \"http://user@10.1.0.2/images\"}\n"
      "    - {rack: b01, url: \"http://10.1.0.2/images?x\"}\n"
      "racks: [{name: a01, units: 42}]\n");

  EXPECT_THAT(problem_texts(loaded.problems),
              ::testing::UnorderedElementsAre(
                  HasSubstr("i.yaml:5:24: url of a mirror"), HasSubstr("i.yaml:6:24: url of a"),
                  HasSubstr("i.yaml:7:24: url of a"), HasSubstr("'a01' has two mirrors"),
                  HasSubstr("there is no rack 'b01'")));
}

TEST(BootOfASite, FullDhcpWithoutARangeIsForNodesWithAnAddress) {
  const auto loaded =
      load("boot: {serve: \"10.0.0.1:8081\", dhcp: {mode: full, interface: eth1}}\n");

  ASSERT_THAT(problem_texts(loaded.problems), IsEmpty());
  EXPECT_EQ(loaded.inventory->boot->dhcp, (BootDhcp{DhcpMode::full, "eth1", "", ""}));
}

TEST(BootOfASite, ARangeIsTwoAddressesInOrder) {
  for (const auto* range : {"10.0.2.200-10.0.2.100", "10.0.2.100", "10.0.2.100-x"}) {
    const auto loaded =
        load(std::string{
                 "boot: {serve: \"10.0.0.1:8081\", dhcp: {mode: full, interface: eth1, range: "} +
             range + "}}\n");

    EXPECT_THAT(problem_texts(loaded.problems),
                ElementsAre(HasSubstr("range is two IPv4 addresses")));
  }
}

TEST(BootOfASite, IsNothingWhereTheInventoryHasNone) {
  const auto loaded = load("");

  ASSERT_THAT(problem_texts(loaded.problems), IsEmpty());
  EXPECT_FALSE(loaded.inventory->boot);
  EXPECT_EQ(loaded.inventory->nodes[0].boot, NodeBoot{});
}

TEST(BootOfASite, ReportsEveryMistakeWithItsPlace) {
  const auto loaded = load(
      "boot:\n"
      "  serve: admin-node\n"
      "  dhcp: {mode: proxy, range: 10.0.2.1-10.0.2.9}\n"
      "  ways: [htp, pxe, pxe]\n"
      "  uplink: fast\n"
      "  gateway: there\n"
      "  tls: {certificate: none.pem}\n"
      "  imges: x\n");

  EXPECT_THAT(
      problem_texts(loaded.problems),
      ::testing::UnorderedElementsAre(
          "i.yaml:3:10: serve must be an address of this machine with a port: 10.0.0.1:8081",
          "i.yaml:4:9: dhcp needs interface: the one of this machine that the nodes are behind",
          "i.yaml:4:30: only dhcp mode full gives out addresses: no range",
          "i.yaml:5:9: ways is a list of http, dhcp-http, pxe, media, not 'htp' (did you mean "
          "'http'?)",
          "i.yaml:5:9: ways names pxe twice",
          "i.yaml:6:11: uplink must be a rate such as 10Gbit/s or 1.2GB/s, not 'fast'",
          "i.yaml:7:12: gateway must be an address", "i.yaml:8:22: there is no file /tmp/none.pem",
          HasSubstr("key"), HasSubstr("ca"), HasSubstr("(did you mean 'images'?)")));
}

TEST(BootOfASite, CallsNoListOfWaysEmptyThatNamesAWrongOne) {
  const auto wrong = load("boot: {serve: \"10.0.0.1:8081\", ways: [htp]}\n");
  const auto empty = load("boot: {serve: \"10.0.0.1:8081\", ways: []}\n");

  EXPECT_THAT(problem_texts(wrong.problems), ElementsAre(HasSubstr("not 'htp'")));
  EXPECT_THAT(problem_texts(empty.problems),
              ElementsAre(HasSubstr("ways is empty: name at least one")));
}

TEST(BootOfNodes, IsOneForEachAndTheFirstMacIsTheOneThatBoots) {
  const auto loaded = load("",
                           "    boot:\n"
                           "      macs: [\"52:54:00:00:00:01+52:54:00:00:01:01\", "
                           "\"52-54-00-00-00-02\"]\n"
                           "      address: \"10.0.2.[11-12]/24\"\n"
                           "      disk: [S4YNNE0N800001, S4YNNE0N800002]\n");

  ASSERT_THAT(problem_texts(loaded.problems), IsEmpty());
  const auto& nodes = loaded.inventory->nodes;
  EXPECT_EQ(
      nodes[0].boot,
      (NodeBoot{{"52:54:00:00:00:01", "52:54:00:00:01:01"}, "10.0.2.11/24", "S4YNNE0N800001"}));
  EXPECT_EQ(nodes[1].boot, (NodeBoot{{"52:54:00:00:00:02"}, "10.0.2.12/24", "S4YNNE0N800002"}));
}

TEST(BootOfNodes, HaveTheWwnsOfTheirDisksInOneForm) {
  const auto loaded = load("",
                           "    boot: {disk_wwn: [\"0x5000CCA27A1B2C3D\", "
                           "eui.0025385b21404321]}\n");

  ASSERT_THAT(problem_texts(loaded.problems), IsEmpty());
  EXPECT_EQ(loaded.inventory->nodes[0].boot.disk_wwn, "5000cca27a1b2c3d");
  EXPECT_EQ(loaded.inventory->nodes[1].boot.disk_wwn, "0025385b21404321");

  const auto wrong = load("", "    boot: {disk_wwn: [\"0x5000\", \"0x5000\"]}\n");
  EXPECT_THAT(problem_texts(wrong.problems),
              ::testing::Each(HasSubstr("'0x5000' is not a disk's WWN")));
  EXPECT_FALSE(wrong.problems.empty());
  const auto same =
      load("", "    boot: {disk_wwn: [\"0x5000cca27a1b2c3d\", naa.5000CCA27A1B2C3D]}\n");
  EXPECT_THAT(problem_texts(same.problems), ElementsAre(HasSubstr("is already that of 'n1'")));
}

TEST(BootOfNodes, RefusesOneMacOrOneDiskForTwoNodes) {
  const auto loaded = load("",
                           "    boot: {macs: [\"52:54:00:00:00:01\", \"52:54:00:00:00:01\"], "
                           "disk: [A, A]}\n");

  EXPECT_THAT(problem_texts(loaded.problems),
              ElementsAre(HasSubstr("boot MAC 52:54:00:00:00:01 of node 'n2' is already that of"),
                          HasSubstr("disk A of node 'n2' is already that of 'n1'")));
}

TEST(BootOfNodes, RefusesOneAddressForTwoMachines) {
  const auto same = load("", "    boot: {address: [\"fd00::2/64\", \"FD00:0::02/48\"]}\n");
  const auto bmc = load("", "    boot: {address: [\"10.0.2.1/24\", \"10.0.1.1/24\"]}\n");

  EXPECT_THAT(problem_texts(same.problems),
              ElementsAre(HasSubstr("network address FD00:0::02/48 of node 'n2' is already that of "
                                    "'n1'")));
  EXPECT_THAT(problem_texts(bmc.problems),
              ElementsAre(HasSubstr("boot address 10.0.1.1/24 of node 'n2' is the BMC address of "
                                    "'n1'")));
}

TEST(BootOfNodes, RefusesABmcThatHasTheMacOfAPortAndADiskInTwoSpellings) {
  const auto bmc = load("",
                        "    boot: {macs: [\"52:54:00:00:00:01\", \"52:54:00:00:00:02\"]}\n"
                        "  - name: n3\n"
                        "    bmc: {address: 10.0.1.3, mac: \"52:54:00:00:00:02\"}\n"
                        "    ssh: {address: 10.0.2.3}\n");
  const auto disk = load("", "    boot: {disk: [s4y1, S4Y1]}\n");

  EXPECT_THAT(
      problem_texts(bmc.problems),
      ElementsAre(HasSubstr("BMC MAC 52:54:00:00:00:02 of node 'n3' is a boot MAC of 'n2'")));
  EXPECT_THAT(problem_texts(disk.problems),
              ElementsAre(HasSubstr("disk S4Y1 of node 'n2' is already that of 'n1'")));
}

TEST(BootOfNodes, RefusesAddressesThatStandForNoMachineOrMany) {
  for (const auto& [address, of] : {std::pair{"0.0.0.0", "none"}, std::pair{"239.1.2.3", "many"},
                                    std::pair{"ff02::1", "many"}, std::pair{"::", "none"}}) {
    const auto loaded = load("", std::string{"  - name: n3\n    bmc: {address: \""} + address +
                                     "\"}\n    ssh: {address: 10.0.2.3}\n");
    EXPECT_THAT(problem_texts(loaded.problems),
                ElementsAre(HasSubstr(std::string{"is no machine's: it stands for "} + of)));
  }
}

TEST(BootOfNodes, NamesTheLinesOfBothNodesThatHaveOneMac) {
  const auto loaded = load("",
                           "    boot: {macs: [\"52:54:00:00:00:01\", \"52:54:00:00:00:02\"]}\n"
                           "  - name: n3\n"
                           "    bmc: {address: 10.0.1.3}\n"
                           "    ssh: {address: 10.0.2.3}\n"
                           "    boot: {macs: [\"52-54-00-00-00-02\"]}\n");

  EXPECT_THAT(
      problem_texts(loaded.problems),
      ElementsAre("i.yaml:10:11: boot MAC 52:54:00:00:00:02 of node 'n3' is already that of "
                  "'n2' (i.yaml:6:11)"));
}

TEST(BootOfNodes, ReportsEveryMistakeWithItsPlace) {
  const auto loaded = load("",
                           "    boot:\n"
                           "      macs: [\"52:54:00:00:00:zz\", \"ff:ff:ff:ff:ff:ff\"]\n"
                           "      address: \"10.0.2.[11-12]\"\n"
                           "      disk: [one]\n");

  EXPECT_THAT(problem_texts(loaded.problems),
              ::testing::UnorderedElementsAre(HasSubstr("i.yaml:10:13: '52:54:00:00:00:zz'"),
                                              HasSubstr("i.yaml:10:13: 'ff:ff:ff:ff:ff:ff'"),
                                              HasSubstr("i.yaml:11:16: '10.0.2.11' is not"),
                                              HasSubstr("i.yaml:11:16: '10.0.2.12' is not"),
                                              HasSubstr("i.yaml:12:13: 1 disk for 2 nodes")));
}

std::pair<std::optional<Profile>, std::vector<std::string>> profile(const std::string& text) {
  std::vector<Problem> problems;
  auto read = parse_profile("profile: mine\npower: {idle: 100, loaded: 200}\n" + text, "p.yaml",
                            ProfileSource{"/nonexistent"}, problems);
  return {std::move(read), problem_texts(problems)};
}

TEST(OsOfAProfile, SaysByModelAndSizeWhichDiskIsTheMachines) {
  const auto [read, problems] = profile(
      "os:\n"
      "  disk: {model: SAMSUNG MZ1L2960, size_min: 900GB, size_max: 1TB}\n"
      "  ways: [media]\n");

  ASSERT_THAT(problems, IsEmpty());
  EXPECT_EQ(read->os.disk_model, "SAMSUNG MZ1L2960");
  EXPECT_DOUBLE_EQ(read->os.disk_size_min, 900e9);
  EXPECT_DOUBLE_EQ(read->os.disk_size_max, 1e12);
  EXPECT_THAT(read->os.ways, ElementsAre(BootWay::media));
}

TEST(OsOfAProfile, NamesItsImageWithTheDigest) {
  const auto [read, problems] =
      profile("os: {image: debian-12, sha256: " + std::string(64, 'a') + ", ram: ram-3}\n");

  ASSERT_THAT(problems, IsEmpty());
  EXPECT_EQ(read->os.image, "debian-12");
  EXPECT_EQ(read->os.sha256, std::string(64, 'a'));
  EXPECT_EQ(read->os.ram, "ram-3");
}

TEST(OsOfAProfile, RefusesAnImageWithoutItsDigestAndANameThatIsAPath) {
  const auto [read, problems] = profile("os: {image: ../debian}\n");

  EXPECT_THAT(problems, ::testing::UnorderedElementsAre(
                            HasSubstr("p.yaml:3:13: image is the name of an image"),
                            HasSubstr("p.yaml:3:5: an image needs sha256: 64")));
}

TEST(OsOfAProfile, SaysThatItsImageGetsNoSeedAndIsNotGrown) {
  const auto [read, problems] = profile("os: {seed: no, grow: no}\n");
  const auto [plain, none] = profile("os: {ram: ram-3}\n");

  ASSERT_THAT(problems, IsEmpty());
  EXPECT_FALSE(read->os.seed);
  EXPECT_FALSE(read->os.grow);
  ASSERT_THAT(none, IsEmpty());
  EXPECT_TRUE(plain->os.seed);
  EXPECT_TRUE(plain->os.grow);
}

TEST(OsOfAProfile, NamesThePlaceOfAnotherWordForSeedAndGrow) {
  const auto [read, problems] = profile("os:\n  seed: none\n  grow: [no]\n  sed: no\n");

  EXPECT_THAT(problems, ::testing::UnorderedElementsAre(
                            HasSubstr("p.yaml:4:9: seed must be true or false, not 'none'"),
                            HasSubstr("p.yaml:5:9: "), HasSubstr("p.yaml:6:3: unknown key 'sed'")));
}

TEST(OsOfAProfile, RefusesADiskByItsModelWithoutItsSize) {
  const auto [read, problems] = profile("os:\n  disk: {model: SAMSUNG}\n");

  EXPECT_THAT(problems, ElementsAre(HasSubstr("p.yaml:4:9: a disk by its model needs size_min")));
}

}  // namespace
}  // namespace cupel::inventory
