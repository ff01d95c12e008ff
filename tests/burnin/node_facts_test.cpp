#include <gmock/gmock.h>

#include "burnin/criteria/judge.h"
#include "burnin/node/dimms.h"
#include "burnin/node/printed_tree.h"
#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/node_text.h"
#include "tests/burnin/stages.h"
#include "tests/support/real_part.h"
#include "tests/support/samples.h"

namespace cupel::burnin {
namespace {
using inventory::Part;
using inventory::PartKind;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

const Part* part_named(const Findings& findings, std::string_view name) {
  for (const auto& part : findings.parts)
    if (part.name == name) return &part;
  return nullptr;
}

// What a shell script of an earlier version printed is read as a tree of files, by what cupel-node
// itself reads a node with: tests/agent/facts_stages_test.cpp.
TEST(NodeFacts, ReadsWhatAKernelTellsOfItsNode) {
  const auto found = parsed("node-facts", std::string{kNodeText});

  ASSERT_TRUE(found) << found.error().what;
  const auto& findings = *found;
  EXPECT_NEAR(value_of(findings, "memory.total").value(), 2015.5, 0.1);
  EXPECT_EQ(value_of(findings, "cpu.count"), 2);
  EXPECT_EQ(value_of(findings, "cpu.threads"), 4);
  EXPECT_EQ(value_of(findings, "edac.uncorrected"), 2);
  EXPECT_EQ(value_of(findings, "edac.corrected"), 7);
  EXPECT_EQ(value_of(findings, "edac.uncorrected", "dimm CPU_SrcID#0_MC#0_Chan#1_DIMM#0"), 2);
  EXPECT_EQ(value_of(findings, "dimm.speed", "dimm A1"), 4800);
  EXPECT_EQ(value_of(findings, "nvme.pcie.width", "nvme0"), 4);
  EXPECT_EQ(value_of(findings, "nic.rate", "eno1"), 10);
  EXPECT_EQ(part_named(findings, "cpu1")->model, "Intel(R) Xeon(R) Platinum 8480C");
  EXPECT_EQ(part_named(findings, "cpu1")->count, 56);
  EXPECT_EQ(part_named(findings, "bios")->firmware, "01.01.03");
  EXPECT_EQ(part_named(findings, "system")->model, "DGXH100");
  EXPECT_EQ(part_named(findings, "nvme0")->size_bytes, 3840755982336);
  EXPECT_EQ(part_named(findings, "nvme0")->slot, "0000:ab:00.0");
  EXPECT_THAT(names_of(findings, PartKind::nic), ElementsAre("eno1"))
      << "IPoIB, loopback and bridges are no NICs";
}

std::vector<std::string> not_met(const std::string& text) {
  std::vector<std::string> all;
  const auto found = parsed("node-facts", text);
  if (!found) return {found.error().what};
  for (const auto& each : judge(profile(), {"node-facts"}, {{"node-facts", *found}}))
    if (each.met != Met::met && !each.part.empty()) all.push_back(each.part + " " + each.measure);
  return all;
}

TEST(NodeFacts, AreInconclusiveForADriveWithoutAHealthLog) {
  const std::string text{kNodeText};

  EXPECT_THAT(not_met(text), Contains("nvme0 nvme.health_read"));
  EXPECT_THAT(not_met(std::string{kSmart} + text), Not(Contains("nvme0 nvme.health_read")));
}

TEST(NodeFacts, FailAPortThatSettledForAHundredMegabits) {
  const auto slow = replaced(std::string{kNodeText}, "eno1/speed:10000", "eno1/speed:100");
  const auto down = replaced(std::string{kNodeText}, "eno1/speed:10000", "eno1/speed:-1");
  const auto usb = replaced(slow, "PCI_SLOT_NAME=0000:0b:00.0", "PRODUCT=46b/ffb0/100");

  EXPECT_THAT(not_met(slow), Contains("eno1 nic.slow"));
  for (const auto& text : {std::string{kNodeText}, down, usb})
    EXPECT_THAT(not_met(text), Not(Contains("eno1 nic.slow")));
}

TEST(NodeFacts, FailADimmThatIsSlowerThanTheOthers) {
  Findings alone;
  alone.measurements = {{"dimm.speed", "dimm A1", 4800, "MT/s"},
                        {"dimm.speed", "dimm B1", 3600, "MT/s"}};

  compare_dimm_speeds(alone);

  EXPECT_EQ(value_of(alone, "dimm.speed.below_fastest", "dimm A1"), 0);
  EXPECT_EQ(value_of(alone, "dimm.speed.below_fastest", "dimm B1"), 25);
}

TEST(NodeFacts, NamesDimmsAsTheBmcDoesAndLeavesEmptySlotsAside) {
  const auto found = parsed("node-facts", std::string{kNodeText});

  EXPECT_THAT(names_of(*found, PartKind::dimm), ElementsAre("dimm A1", "dimm B1"));
  const auto* dimm = part_named(*found, "dimm A1");
  EXPECT_EQ(dimm->size_bytes, 64.0 * (1 << 30));
  EXPECT_EQ(dimm->serial, "80CE012345");
  EXPECT_EQ(dimm->manufacturer, "Samsung");
  EXPECT_EQ(part_named(*found, "dimm B1")->serial, "") << "'Not Specified' is none";
}

/// As AMD boards report their slots: locators repeat, and the bank names the channel.
std::string amd_slot(const std::string& bank, const std::string& size, const std::string& serial) {
  return "Handle 0x0030, DMI type 17, 92 bytes\nMemory Device\n\tSize: " + size +
         "\n\tLocator: DIMM 0\n\tBank Locator: " + bank + "\n\tSerial Number: " + serial + "\n\n";
}

TEST(NodeFacts, NamesDimmsThatABoardCallsAllAlikeByTheirBank) {
  Findings findings, alike;

  add_dimms(amd_slot("P0 CHANNEL A", "64 GB", "<BAD INDEX>") +
                amd_slot("P0 CHANNEL B", "No Module Installed", "") +
                amd_slot("P1 CHANNEL A", "64 GB", "80CE012345"),
            findings);
  add_dimms(amd_slot("BANK 0", "64 GB", "1") + amd_slot("BANK 0", "64 GB", "2"), alike);

  EXPECT_THAT(names_of(findings, PartKind::dimm),
              ElementsAre("dimm P0 CHANNEL A DIMM 0", "dimm P1 CHANNEL A DIMM 0"));
  EXPECT_EQ(part_named(findings, "dimm P0 CHANNEL A DIMM 0")->serial, "");
  EXPECT_EQ(part_named(findings, "dimm P1 CHANNEL A DIMM 0")->serial, "80CE012345");
  EXPECT_THAT(names_of(alike, PartKind::dimm),
              ElementsAre("dimm BANK 0 DIMM 0", "dimm BANK 0 DIMM 0 #2"));
}

TEST(NodeFacts, ReportsNoErrorCountWithoutACounter) {
  std::string text;
  for (const auto line : lines(kNodeText))
    if (!line.contains("/edac/")) text += std::string{line} + "\n";
  const auto half = replaced(std::string{kNodeText}, "mc1/ue_count:0", "mc1/ue_count:-");

  const auto none = parsed("node-facts", text), one = parsed("node-facts", half);

  EXPECT_EQ(value_of(*none, "edac.uncorrected"), std::nullopt);
  EXPECT_TRUE(says_unknown(*none, "memory errors"));
  EXPECT_EQ(value_of(*one, "edac.uncorrected"), std::nullopt) << "half of the counters is no sum";
}

TEST(NodeFacts, ReadsPrintedLinesAsATreeOfFiles) {
  const PrintedTree tree{
      "/sys/class/nvme/nvme10/model:A\n/sys/class/nvme/nvme2-x/model:B\n"
      "/sys/class/nvme/nvme2/device/uevent:DRIVER=nvme\n"
      "/sys/class/nvme/nvme2/device/uevent:PCI_SLOT_NAME=0000:ab:00.0\n"
      "/proc/version\n/etc/passwd:root\ncupel-vpd: mlx5_0 8215\ncupel-vpd: ../../a 8215\n"
      "cupel-vpd: mlx5_1 821\n"};

  EXPECT_THAT(tree.names("/sys/class/nvme"), ElementsAre("nvme2", "nvme2-x", "nvme10"));
  EXPECT_THAT(tree.names("/sys/class"), ElementsAre("infiniband", "nvme"));
  EXPECT_THAT(tree.names("/sys/class/infiniband"), ElementsAre("mlx5_0"));
  EXPECT_EQ(tree.text("/sys/class/nvme/nvme2/device/uevent"),
            "DRIVER=nvme\nPCI_SLOT_NAME=0000:ab:00.0");
  EXPECT_EQ(tree.bytes("/sys/class/infiniband/mlx5_0/device/vpd"), "\x82\x15");
  EXPECT_TRUE(tree.exists("/sys/class"));
  EXPECT_FALSE(tree.exists("/sys/class/nv"));
  EXPECT_FALSE(tree.exists("/etc/passwd"));
  EXPECT_FALSE(tree.exists("/proc/version"));
}

TEST(NodeFacts, SaysThatItsAnswerWasCutShort) {
  const auto text = std::string{kNodeText.substr(0, kNodeText.size() / 2)};

  EXPECT_EQ(parsed("node-facts", text).error().code, Code::kMalformed);
  EXPECT_EQ(parsed("node-facts", "sh: grep: not found\n").error().code, Code::kNoMeasurement);
}

/// As the script would have printed it.
std::string reported_by(const std::filesystem::path& tree) {
  std::string text;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{tree}) {
    if (!entry.is_regular_file()) continue;
    const auto below = std::filesystem::relative(entry.path(), tree).string();
    const auto content = read_file(entry.path(), 1u << 20);
    if (content) text += "/sys/class/infiniband/" + below + ":" + *content + "\n";
  }
  return text + "cupel-all-told\n";
}

TEST(NodeFacts, ReadsTheLinksOfARealH100Node) {
  const auto archive = ::cupel::testing::samples() / "sys-class-infiniband-h100.tar.zst";
  CUPEL_NEEDS_REAL_PART(std::filesystem::exists(archive), "no " << archive);
  const test::TemporaryFolder folder;
  const auto command = "tar --zstd -xf " + shell_quoted(archive.string()) + " -C " +
                       shell_quoted(folder.path().string());
  ASSERT_EQ(std::system(command.c_str()), 0);

  const auto found =
      parsed("node-facts", reported_by(folder.path() / "sys-class-infiniband-h100.0"));

  ASSERT_TRUE(found) << found.error().what;
  const auto& findings = *found;
  EXPECT_THAT(
      names_of(findings, PartKind::hca),
      ElementsAre("mlx5_0", "mlx5_1", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_7", "mlx5_8", "mlx5_9"))
      << "a bond is no HCA";
  for (const auto& name : names_of(findings, PartKind::hca)) {
    EXPECT_EQ(value_of(findings, "ib.port.rate", name), 400);
    EXPECT_EQ(value_of(findings, "ib.port.active", name), 1);
    EXPECT_EQ(part_named(findings, name)->model, "MT4129");
    EXPECT_EQ(part_named(findings, name)->firmware, "28.41.1000");
  }
}

TEST(NodeFacts, ReadWhatAnHcaCountsOfItsLinkAndOfRdma) {
  const auto found = parsed("node-facts",
                            "/sys/class/infiniband/mlx5_3/ports/1/state:4: ACTIVE\n"
                            "/sys/class/infiniband/mlx5_3/ports/1/phys_state:5: LinkUp\n"
                            "/sys/class/infiniband/mlx5_3/ports/1/rate:400 Gb/sec (4X NDR)\n"
                            "/sys/class/infiniband/mlx5_3/ports/1/counters/port_rcv_errors:12\n"
                            "/sys/class/infiniband/mlx5_3/ports/1/counters/link_error_recovery:2\n"
                            "/sys/class/infiniband/mlx5_3/ports/1/hw_counters/out_of_sequence:7\n"
                            "/sys/class/infiniband/mlx5_3/ports/1/hw_counters/np_cnp_sent:90\n"
                            "cupel-begin: pauses mlx5_3\n"
                            "     rx_prio0_pause: 4\n"
                            "     rx_prio3_pause: 40\n"
                            "     tx_prio3_pause: 1000\n"
                            "     rx_prio3_pause_duration: 99\n"
                            "cupel-end\n"
                            "cupel-all-told\n");

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "ib.port.receive_errors", "mlx5_3"), 12);
  EXPECT_EQ(value_of(*found, "ib.port.recovered", "mlx5_3"), 2);
  EXPECT_EQ(value_of(*found, "rdma.out_of_sequence", "mlx5_3"), 7);
  EXPECT_EQ(value_of(*found, "rdma.np_cnp_sent", "mlx5_3"), 90);
  EXPECT_EQ(value_of(*found, "rdma.pauses", "mlx5_3"), 44);
  EXPECT_EQ(value_of(*found, "rdma.packet_seq_err", "mlx5_3"), std::nullopt)
      << "what is not reported is no zero";
}

TEST(NodeFacts, TakesARateThatADownPortDreamsOfForNothing) {
  const auto found = parsed("node-facts",
                            "/sys/class/infiniband/mlx5_3/ports/1/state:1: DOWN\n"
                            "/sys/class/infiniband/mlx5_3/ports/1/phys_state:3: Disabled\n"
                            "/sys/class/infiniband/mlx5_3/ports/1/rate:400 Gb/sec (4X NDR)\n"
                            "/sys/class/infiniband/mlx5_4/ports/1/rate:400 Gb/sec (4X NDR)\n"
                            "cupel-all-told\n");

  EXPECT_EQ(value_of(*found, "ib.port.rate", "mlx5_3"), 0);
  EXPECT_EQ(value_of(*found, "ib.port.rate", "mlx5_4"), std::nullopt)
      << "a port whose state is not reported";
}

std::string why_no_dimms(const Findings& findings) {
  for (const auto& each : findings.unknown)
    if (each.fact == "DIMMs") return each.why;
  return {};
}

TEST(NodeFacts, ReportsAnUnreadableTableAsNotReadable) {
  // Of dmidecode 3.4 on a virtual machine that has no /dev/mem.
  const auto found = parsed("node-facts",
                            "/proc/meminfo:MemTotal: 1024 kB\n"
                            "# dmidecode 3.4\n"
                            "Scanning /dev/mem for entry point.\n"
                            "/dev/mem: No such file or directory\n"
                            "cupel-dimms: not readable\n"
                            "cupel-all-told\n");

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(why_no_dimms(*found), "not readable: /dev/mem: No such file or directory");
}

TEST(NodeFacts, SaysThatDmidecodeIsNotInstalled) {
  const auto found = parsed("node-facts",
                            "/proc/meminfo:MemTotal: 1024 kB\n"
                            "cupel-dimms: dmidecode is not installed\n"
                            "cupel-all-told\n");

  EXPECT_EQ(why_no_dimms(*found), "dmidecode is not installed");
}

}  // namespace
}  // namespace cupel::burnin
