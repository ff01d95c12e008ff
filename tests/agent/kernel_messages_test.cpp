#include "burnin/agent/node/kernel_messages.h"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/text.h"
#include "tests/support/samples.h"

namespace cupel::agent {
namespace {

using enum MessageKind;
using ::testing::HasSubstr;

struct Case {
  std::string_view line;
  MessageKind kind;
  Weight weight;
  std::string_view pci;
  std::string_view part;
  std::optional<int> code{};
};

/// As the kernel and its drivers word them.
constexpr Case kCases[]{
    {"NVRM: Xid (PCI:0000:91:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
     xid, Weight::error, "0000:91:00.0", "", 79},
    {"NVRM: Xid (PCI:0000:38:00): 43, pid=2924364, name=pt_main_thread, Ch 00000008", xid,
     Weight::information, "0000:38:00.0", "", 43},
    {"NVRM: Xid (0000:03:00): 14, Channel 00000001", xid, Weight::information, "0000:03:00.0", "",
     14},
    {"NVRM: Xid (PCI:0008:01:00): 145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 12 (0x040988e2 0x8)", xid,
     Weight::corrected, "0008:01:00.0", "", 145},
    {"NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x0)",
     xid, Weight::error, "0009:01:00.0", "", 149},
    {"nvidia-nvswitch2: SXid (PCI:0000:85:00.0): 12028, Non-fatal, Link 61 egress non-posted PRIV",
     sxid, Weight::information, "0000:85:00.0", "nvswitch2", 12028},
    {"nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 63 LTSSM Fault Up", sxid,
     Weight::error, "0000:05:00.0", "nvswitch0", 20034},
    {"NVRM: Xid (PCI:0000:9b:00 GPU-I:05): 94, pid=7, name=x, Contained: SM (0x1).", xid,
     Weight::error, "0000:9b:00.0", "", 94},
    {"NVRM: Xid (PCI:0000:9b:00): 92, High single-bit ECC error rate", xid, Weight::error,
     "0000:9b:00.0", "", 92},
    {"NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node "
     "Reboot Required)",
     xid, Weight::error, "0000:9b:00.0", "", 154},
    {"NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed from 0x1 (GPU Reset Required) "
     "to 0x0 (None)",
     xid, Weight::information, "0000:9b:00.0", "", 154},
    {"NVRM: GPU 0000:61:00.0: RmInitAdapter failed! (0x62:0xffff:2477)", gpu, Weight::error,
     "0000:61:00.0", ""},
    {"NVRM: GPU 0000:61:00.0: GPU has fallen off the bus.", gpu, Weight::error, "0000:61:00.0", ""},
    {"mce: Uncorrected hardware memory error in user-access at 3f2a1c0040", mce, Weight::error, "",
     ""},
    {"Memory failure: 0x3f2a1c0: recovery action for dirty LRU page: Failed", mce, Weight::error,
     "", ""},
    {"{1}[Hardware Error]: event severity: fatal", mce, Weight::error, "", ""},
    {"{7}[Hardware Error]: event severity: recoverable", mce, Weight::error, "", ""},
    {"{7}[Hardware Error]: event severity: corrected", mce, Weight::corrected, "", ""},
    {"[Hardware Error]: Deferred error, no action required.", mce, Weight::error, "", ""},
    {"pcieport 0000:15:01.0: DPC: containment event, status:0x1f01 source:0x0000", aer,
     Weight::error, "0000:15:01.0", ""},
    {"pcieport 0000:15:01.0: AER: device recovery failed", aer, Weight::error, "0000:15:01.0", ""},
    {"blk_update_request: I/O error, dev sdb, sector 2048 op 0x0:(READ) flags 0x0", disk,
     Weight::error, "", "sdb"},
    {"I/O error, dev nvme4n1, sector 2048 op 0x0:(READ) flags 0x0 phys_seg 1", nvme, Weight::error,
     "", "nvme4"},
    {"EXT4-fs error (device sda2): ext4_find_entry:1455: inode #2: comm ls: reading directory",
     disk, Weight::error, "", "sda2"},
    {"EXT4-fs error (device nvme1n1p2): ext4_lookup:1785: inode #2: comm ls: deleted inode", disk,
     Weight::error, "", "nvme1"},
    {"XFS (dm-0): metadata I/O error in \"xfs_imap_to_bp+0x5d\" at daddr 0x40", disk, Weight::error,
     "", "dm-0"},
    {"nvme nvme0: frozen state error detected, reset controller", nvme, Weight::error, "", "nvme0"},
    {"pciehp 0000:15:01.0:pcie004: Slot(8): Link Down", pcie, Weight::error, "0000:15:01.0", ""},
    {"mce: [Hardware Error]: Machine check events logged", mce, Weight::information, "", ""},
    {"mce: [Hardware Error]: CPU 5: Machine Check Exception: 5 Bank 7: be00000000800400", mce,
     Weight::error, "", "CPU5"},
    {"[Hardware Error]: Corrected error, no action required.", mce, Weight::corrected, "", ""},
    {"mce: CPU3: Package temperature is above threshold, cpu clock is throttled (total events = 7)",
     thermal, Weight::information, "", "CPU3"},
    {"CPU7: Core temperature is above threshold, cpu clock is throttled (total events = 219)",
     thermal, Weight::information, "", "CPU7"},
    {"mce: CPU12: Core temperature above threshold, cpu clock throttled (total events = 1)",
     thermal, Weight::information, "", "CPU12"},
    {"EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0 (channel:0 slot:0)", edac,
     Weight::corrected, "", "dimm CPU_SrcID#0_MC#0_Chan#0_DIMM#0"},
    {"EDAC MC3: 1 UE memory scrubbing error on A7 (channel:3 slot:0 page:0x0)", edac, Weight::error,
     "", "dimm A7"},
    {"nvidia 0000:1b:00.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Receiver ID)",
     aer, Weight::corrected, "0000:1b:00.0", ""},
    {"mlx5_core 0000:18:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer",
     aer, Weight::error, "0000:18:00.0", ""},
    {"nvme 0000:04:00.0: PCIe Bus Error: severity=Correctable, type=Physical Layer, (Receiver ID)",
     aer, Weight::corrected, "0000:04:00.0", ""},
    {"nvme 0000:04:00.0: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), type=Transaction "
     "Layer, (Requester ID)",
     aer, Weight::error, "0000:04:00.0", ""},
    {"mce: [Hardware Error]: CPU 2: Machine Check: 0 Bank 7: 8c00004000010091", mce,
     Weight::corrected, "", "CPU2"},
    {"mce: [Hardware Error]: CPU 2: Machine Check: 0 Bank 7: ac00004000010091", mce, Weight::error,
     "", "CPU2"},
    {"mlx5_core 0000:18:00.0: wait_fw_init:201:(pid 7): Waiting for FW initialization, timeout "
     "abort in 100s (0x0)",
     mlx5, Weight::information, "0000:18:00.0", ""},
    {"pcieport 0000:15:01.0: pciehp: Slot(8): Link Down", pcie, Weight::error, "0000:15:01.0", ""},
    {"pci 0000:1b:00.0: 252.048 Gb/s available PCIe bandwidth, limited by 32.0 GT/s PCIe x8 link "
     "at "
     "0000:19:01.0 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 link)",
     pcie, Weight::information, "0000:1b:00.0", ""},
    {"nvme nvme3: I/O 12 QID 4 timeout, aborting", nvme, Weight::error, "", "nvme3"},
    {"nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10", nvme,
     Weight::error, "", "nvme0"},
    {"critical medium error, dev nvme2n1, sector 2048 op 0x0:(READ) flags 0x0 phys_seg 1", nvme,
     Weight::error, "", "nvme2"},
    {"mlx5_core 0000:18:00.0: mlx5_cmd_out_err:838:(pid 1): ACCESS_REG(0x805) op_mod(0x1) failed, "
     "status bad operation(0x2), syndrome (0x305684), err(-22)",
     mlx5, Weight::harmless, "0000:18:00.0", ""},
    {"mlx5_core 0000:18:00.0: mlx5_cmd_out_err:838:(pid 1): CREATE_MKEY(0x200) op_mod(0x0) failed, "
     "status bad parameter(0x3), syndrome (0x6231e4), err(-22)",
     mlx5, Weight::error, "0000:18:00.0", ""},
    {"mlx5_core 0000:9a:00.0: poll_health:825:(pid 0): device's health compromised - reached miss "
     "count",
     mlx5, Weight::error, "0000:9a:00.0", ""},
    {"mlx5_core 0000:9a:00.0 ibp154s0: Link down", link, Weight::error, "0000:9a:00.0", ""},
    {"systemd-networkd[5398]: ib6: lost carrier", link, Weight::error, "", "ib6"},
    {"IPv6: ADDRCONF(NETDEV_CHANGE): ib3: link becomes ready", link, Weight::information, "",
     "ib3"},
    {"Out of memory: Killed process 123, UID 48, (httpd).", oom, Weight::error, "", ""},
    {"Memory cgroup out of memory: Killed process 77 (python3)", oom, Weight::error, "", ""},
    {"watchdog: BUG: soft lockup - CPU#12 stuck for 22s! [cuda:4711]", hang, Weight::error, "", ""},
    {"INFO: task kworker/u:3:77 blocked for more than 120 seconds.", hang, Weight::error, "", ""},
    {"rcu: INFO: rcu_preempt self-detected stall on CPU", hang, Weight::error, "", ""},
    {"rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 9-... } 21 jiffies", hang,
     Weight::error, "", ""},
    {"general protection fault, probably for non-canonical address 0xdead0000: 0000 [#1] SMP NOPTI",
     hang, Weight::error, "", ""},
    {"kernel BUG at mm/slub.c:379!", hang, Weight::error, "", ""},
};

TEST(KernelMessages, AreKnownByKindWeightAndPart) {
  for (const auto& each : kCases) {
    const auto found = recognise(each.line);

    ASSERT_TRUE(found) << each.line;
    EXPECT_EQ(to_string(found->kind), to_string(each.kind)) << each.line;
    EXPECT_EQ(to_string(found->weight), to_string(each.weight)) << each.line;
    EXPECT_EQ(found->pci, each.pci) << each.line;
    EXPECT_EQ(found->part, each.part) << each.line;
    EXPECT_EQ(found->code, each.code) << each.line;
  }
}

TEST(KernelMessages, AreTheSameBehindTheStampsOfEveryTool) {
  constexpr std::string_view kStamps[]{"",
                                       "[6781741.548779] ",
                                       "[Sun Feb 23 16:24:18 2025] ",
                                       "<4>[  201.713 ] ",
                                       "kern  :warn  : 2025-01-21T04:41:44,283302+00:00 ",
                                       "Aug 17 06:18:01 node-7 kernel: "};
  for (const auto& each : kCases)
    for (const auto stamp : kStamps) {
      const auto found = recognise(std::string{stamp} + std::string{each.line});

      EXPECT_EQ(found, recognise(each.line)) << stamp << each.line;
    }
}

TEST(KernelMessages, ThatSayNothingOfAPartAreNone) {
  for (const std::string_view line :
       {"",
        "IPv6: ADDRCONF(NETDEV_CHANGE): calia3f11b97c70: link becomes ready",
        "perf: interrupt took too long (2509 > 2500), lowering",
        "nvidia-nvswitch2: open (major=510)",
        "nvme nvme0: pci function 0000:c3:00.0",
        "nvme nvme0: 63/0/0 default/read/poll queues",
        "nvme nvme0: Shutdown timeout set to 10 seconds",
        "mlx5_core 0000:18:00.0: firmware version: 28.41.1000",
        "EDAC MC0: Giving out device to module i10nm_edac controller Intel_10nm Socket#0 IMC#0",
        "NVRM: GPU Board Serial Number: 1653723052734",
        "NVRM: Xid (nonsense): 79, x",
        "NVRM: Xid (PCI:0000:91:00): x",
        "blk_update_request: I/O error, dev fd0, sector 0",
        "I/O error, dev sr0, sector 0 op 0x0",
        "XFS (dm-0): Mounting V5 Filesystem",
        "EXT4-fs (sda2): mounted filesystem with ordered",
        "{1}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 1",
        "pcieport 0000:15:01.0: AER: device recovery successful",
        "mce: CPU3: Package temperature/speed normal",
        "CPU3: Core temperature/speed normal",
        "coretemp coretemp.0: temperature is above threshold, cpu clock",
        "traps: python3[77] general protection fault ip:7f21 sp:7ffc error:0 in libc.so.6[7f21+15]",
        "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Severity 1 Engine instance 62",
        "pcieport 0000:1a:01.0: AER: Corrected error received: 0000:1b:00.0"})
    EXPECT_FALSE(recognise(line)) << line;
}

/// What a virtual node is made to log, and what is to be found, stands in one line each.
TEST(KernelMessages, OfTheCatalogueAreWhatItSaysIsFound) {
  std::ifstream file{SOURCE_DIR "/rehearsal/catalogue/kernel-lines.yaml"};
  std::stringstream whole;
  whole << file.rdbuf();
  const auto catalogue = std::move(whole).str();
  std::string planted;
  std::set<std::string> kinds;
  for (const auto row : lines(catalogue)) {
    const auto at = row.find("line: \"");
    if (at != row.npos) planted = std::string{row.substr(at + 7, row.rfind("\"}") - at - 7)};
    const auto check = row.find("check: kernel.");
    if (check == row.npos) continue;
    auto line = planted;
    for (auto open = line.find('{'); open != line.npos; open = line.find('{'))
      line.replace(open, line.find('}') + 1 - open, "0000:1b:00.0");
    const auto wanted = row.substr(check + 14);
    const std::string kind{wanted.substr(0, wanted.find_first_of(".,}"))};

    const auto found = recognise(line);

    ASSERT_TRUE(found) << line;
    EXPECT_EQ(to_string(found->kind), kind) << line;
    EXPECT_EQ(to_string(found->weight), kind == "thermal" ? "information" : "error") << line;
    kinds.insert(kind);
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"aer", "disk", "gpu", "hang", "link", "mce", "mlx5",
                                          "nvme", "oom", "pcie", "thermal"}));
}

/// Of all lines of a capture: how many of each kind and weight.
std::map<std::string, int> counted(const std::string& text) {
  std::map<std::string, int> counts;
  for (const auto line : lines(text)) {
    const auto record = parse_record(line);
    const auto found = record ? recognise(*record) : recognise(line);
    if (found)
      ++counts[std::string{to_string(found->kind)} + " " + std::string{to_string(found->weight)}];
  }
  return counts;
}

using Counts = std::map<std::string, int>;

TEST(KernelMessages, OfRealLogsAreCountedRight) {
  CUPEL_NEEDS_SAMPLE(fallen, "dmesg/xid79_sxid20034_h100.log");
  CUPEL_NEEDS_SAMPLE(gsp, "dmesg/xid119_gsp_timeout_xe9680.log");
  CUPEL_NEEDS_SAMPLE(oom_log, "dmesg/oom_and_misc.dmesg.log");
  CUPEL_NEEDS_SAMPLE(quiet, "dmesg/kmsg_1.log");
  CUPEL_NEEDS_SAMPLE(peermem, "dmesg/kmsg_2_peermem.log");
  CUPEL_NEEDS_SAMPLE(crash, "dmesg/pstore_erst.txt");
  CUPEL_NEEDS_SAMPLE(flaps, "syslog/ib_6flaps.syslog");
  CUPEL_NEEDS_SAMPLE(calm, "syslog/ib_0flaps.syslog");

  EXPECT_EQ(counted(fallen), (Counts{{"xid error", 1}, {"gpu error", 1}, {"sxid error", 4}}));
  EXPECT_EQ(counted(gsp), (Counts{{"xid error", 5}}));
  EXPECT_EQ(counted(oom_log), (Counts{{"xid information", 17}, {"oom error", 3}}));
  EXPECT_EQ(counted(quiet), (Counts{}));
  EXPECT_EQ(counted(peermem), (Counts{}));
  EXPECT_EQ(counted(crash), (Counts{{"hang error", 2}}));
  EXPECT_EQ(counted(flaps), (Counts{{"link error", 6}, {"link information", 6}}));
  EXPECT_EQ(counted(calm), (Counts{}));
}

TEST(KernelMessages, OfEveryXidOnRecordHaveItsCodeAndItsPlace) {
  CUPEL_NEEDS_SAMPLE(text, "dmesg/xid_lines_from_gpud_tests.txt");
  int known = 0;
  for (const auto line : lines(text)) {
    if (!line.contains("Xid")) continue;
    const auto found = recognise(line);
    // One was cut in the middle by its author, before its code.
    ASSERT_TRUE(found) << line;
    EXPECT_EQ(found->kind, xid) << line;
    EXPECT_TRUE(found->code) << line;
    EXPECT_EQ(found->pci.size(), 12) << line;
    ++known;
  }
  EXPECT_GT(known, 60);
}

TEST(KernelMessages, WeighEveryXidOfTheCatalogueByWhatIsToBeDone) {
  CUPEL_NEEDS_SAMPLE(catalogue, "xid-catalog.tsv");
  int rows = 0;
  for (const auto row : lines(catalogue)) {
    const auto cells = split(row, '\t');
    const auto code = number<int>(cells[0]);
    if (!code || cells.size() < 4) continue;
    ++rows;

    const auto found = recognise("NVRM: Xid (PCI:0000:1b:00): " + std::string{cells[0]} +
                                 ", pid=1, name=x, words");

    ASSERT_TRUE(found) << row;
    EXPECT_EQ(found->code, code);
    const bool reset = cells[3] == "RESET_GPU" || cells[3] == "RESTART_BM";
    if (reset) EXPECT_EQ(found->weight, Weight::error) << row;
    if (cells[3] == "RESTART_APP" && *code != 94)
      EXPECT_EQ(found->weight, Weight::information) << row;
  }
  EXPECT_GT(rows, 100);
}

TEST(KernelMessages, OfARecordAreJoinedToItsDevice) {
  const auto record = parse_record(
      "4,4011,57631398464,-;nvme nvme3: I/O 12 QID 4 timeout, aborting\n SUBSYSTEM=pci\n "
      "DEVICE=+pci:0000:c5:00.0\n");

  ASSERT_TRUE(record);
  EXPECT_EQ(record->priority, 4);
  EXPECT_EQ(record->sequence, 4011);
  EXPECT_DOUBLE_EQ(record->seconds, 57631.398464);
  const auto found = recognise(*record);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->part, "nvme3");
  EXPECT_EQ(found->pci, "0000:c5:00.0");
}

/// Of records as the kernel numbers them.
std::vector<KernelMessage> read(const std::vector<std::string>& texts) {
  MessageReader reader;
  std::vector<KernelMessage> all;
  for (const auto& text : texts)
    for (auto& each : reader.read({.text = text})) all.push_back(std::move(each));
  if (auto last = reader.rest()) all.push_back(*std::move(last));
  return all;
}

/// As ghes.c and cper.c of Linux word them, on a server whose firmware has memory errors first.
TEST(KernelMessages, OfTheFirmwareNameTheDimmAndTheAddressThatLaterLinesReport) {
  const auto found = read({
      "{1}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 4",
      "{1}[Hardware Error]: event severity: recoverable",
      "{1}[Hardware Error]:  Error 0, type: recoverable",
      "{1}[Hardware Error]:   section_type: memory error",
      "nvme nvme3: I/O 12 QID 4 timeout, aborting",
      "{1}[Hardware Error]:   physical_address: 0x0000003f2a1c0040",
      "{1}[Hardware Error]:   error_type: 3, multi-bit ECC",
      "{1}[Hardware Error]:   DIMM location: P0 CHANNEL A DIMM 0",
      "{2}[Hardware Error]: event severity: corrected",
      "{2}[Hardware Error]:   section_type: PCIe error",
      "{2}[Hardware Error]:   device_id: 0000:1b:00.0",
      "mce: [Hardware Error]: CPU 5: Machine Check Exception: 5 Bank 7: be00000000800400",
  });

  ASSERT_EQ(found.size(), 4);
  EXPECT_EQ(found[0].kind, nvme);
  EXPECT_EQ(found[1], (KernelMessage{.kind = edac,
                                     .weight = Weight::error,
                                     .part = "dimm P0 CHANNEL A DIMM 0",
                                     .detail = "firmware reported severity recoverable, memory "
                                               "error, 3, multi-bit ECC, physical address "
                                               "0x0000003f2a1c0040, DIMM P0 CHANNEL A DIMM 0"}));
  EXPECT_EQ(found[2].kind, aer);
  EXPECT_EQ(found[2].weight, Weight::corrected);
  EXPECT_EQ(found[2].pci, "0000:1b:00.0");
  EXPECT_EQ(found[3].kind, mce);
  EXPECT_EQ(found[3].part, "CPU5");
}

TEST(KernelMessages, OfTheFirmwareWithoutASectionAreMachineChecks) {
  const auto found = read({"{9}[Hardware Error]: event severity: fatal"});

  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].kind, mce);
  EXPECT_EQ(found[0].weight, Weight::error);
}

TEST(KernelMessages, ThatAreNoRecordsAreRefused) {
  for (const std::string_view text : {"", ";", "6;text", "6,1;text", "a,b,c,-;text", "6,1,-5",
                                      "99999999999999999999,1,1,-;x", ",,,;"})
    EXPECT_FALSE(parse_record(text)) << text;
}

TEST(KernelMessages, ThatBeginInTheMiddleOfAWordAreRead) {
  const auto found = recognise("ut of memory: Killed process 1");

  ASSERT_TRUE(found);
  EXPECT_EQ(found->detail, "ut of memory: Killed process 1");
}

TEST(KernelMessages, KeepNoMoreThanASentenceAndOnlyWhatCanBePrinted) {
  const auto found =
      recognise("NVRM: Xid (PCI:0000:1b:00): 79, \x1b[31m\xff" + std::string(5000, 'x'));

  ASSERT_TRUE(found);
  EXPECT_LE(found->detail.size(), 160);
  EXPECT_THAT(found->detail, HasSubstr("?[31m?xxx"));
}

}  // namespace
}  // namespace cupel::agent
