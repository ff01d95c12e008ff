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
    {"NVRM: Xid (0000:03:00): 14, Channel 00000001", xid, Weight::error, "0000:03:00.0", "", 14},
    {"NVRM: Xid (PCI:0000:5d:00): 61, pid=2391, 0cec(3098) 00000000 00000000", xid, Weight::error,
     "0000:5d:00.0", "", 61},
    {"NVRM: Xid (PCI:0000:5d:00): 123, pid=1, SPI PMU RPC write failure", xid, Weight::error,
     "0000:5d:00.0", "", 123},
    {"NVRM: Xid (PCI:0000:5d:00): 173, pid=1, name=x, something new", xid, Weight::error,
     "0000:5d:00.0", "", 173},
    {"NVRM: Xid (PCI:0000:9d:00): 13, pid=4711, name=cupel-burn, Graphics SM Warp Exception", xid,
     Weight::error, "0000:9d:00.0", "", 13},
    {"NVRM: Xid (PCI:0000:9d:00): 13, pid=4711, name=python3, Graphics SM Warp Exception", xid,
     Weight::information, "0000:9d:00.0", "", 13},
    {"NVRM: Xid (PCI:0000:9d:00): 45, pid=4711, name=cupel-burn, Ch 00000001", xid,
     Weight::information, "0000:9d:00.0", "", 45},
    {"NVRM: Xid (PCI:0008:01:00): 145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 12 (0x040988e2 0x8)", xid,
     Weight::corrected, "0008:01:00.0", "", 145},
    {"NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x0)",
     xid, Weight::error, "0009:01:00.0", "", 149},
    {"nvidia-nvswitch2: SXid (PCI:0000:85:00.0): 12028, Non-fatal, Link 61 egress non-posted PRIV",
     sxid, Weight::information, "0000:85:00.0", "nvswitch2", 12028},
    {"nvidia-nvswitch1: SXid (PCI:0000:84:00.0): 22013, Non-fatal, Link 03 Minion Link DLREQ "
     "interrupt",
     sxid, Weight::information, "0000:84:00.0", "nvswitch1", 22013},
    {"nvidia-nvswitch1: SXid (PCI:0000:84:00.0): 24002, Non-fatal, Link 03 sourcetrack ECC limit",
     sxid, Weight::corrected, "0000:84:00.0", "nvswitch1", 24002},
    {"nvidia-nvswitch2: SXid (PCI:0000:07:00.0): 24007, Non-fatal, Link 12 sourcetrack timeout",
     sxid, Weight::error, "0000:07:00.0", "nvswitch2", 24007},
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
    {"[Hardware Error]: event severity: fatal", mce, Weight::information, "", ""},
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
    // The driver, without any Xid.
    {"NVRM: GPU 0000:1b:00.0: rm_init_adapter failed, device minor number 0", gpu, Weight::error,
     "0000:1b:00.0", ""},
    {"NVRM: krcWatchdog_IMPL: RC watchdog: GPU is probably locked!  Notify Timeout Seconds: 7", gpu,
     Weight::error, "", ""},
    {"NVRM: nvGpuOpsReportFatalError: uvm encountered global fatal error 0x60, requiring os reboot "
     "to recover.",
     gpu, Weight::error, "", ""},
    {"NVRM: knvlinkUpdatePostRxDetLinkMask_IMPL: Failed to update Rx Detect Link mask!", gpu,
     Weight::error, "", ""},
    {"NVRM: nvAssertOkFailedNoLog: Assertion failed: GPU lost from the bus [NV_ERR_GPU_IS_LOST] "
     "(0x0000000F) returned from status @ kernel_channel.c:2827",
     gpu, Weight::error, "", ""},
    {"NVRM: GPU0 RmInitAdapter: Cannot initialize GSP firmware RM", gpu, Weight::error, "", ""},
    {"NVRM: The NVIDIA probe routine failed for 1 device(s).", gpu, Weight::error, "", ""},
    {"NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] "
     "(0x00000062) returned from status @ kernel_channel.c:2827",
     gpu_reset, Weight::error, "", ""},
    {"NVRM: rpcRmApiAlloc_GSP: GspRmAlloc failed: hClient=0xc1d0a616; hParent=0x5c000054; "
     "hObject=0x5c00005b; hClass=0x0000c86f; paramsSize=0x00000170; paramsStatus=0x00000062; "
     "status=0x00000062",
     gpu_reset, Weight::error, "", ""},
    {"NVRM: _kgspBootGspRm: unexpected WPR2 already up, cannot proceed with booting GSP (the GPU "
     "is "
     "likely in a bad state and may need to be reset)",
     gpu_reset, Weight::error, "", ""},
    // PCIe.
    {"nvidia 0000:18:00.0: AER: can't recover (no error_detected callback)", aer, Weight::error,
     "0000:18:00.0", ""},
    {"pcieport 0000:15:01.0: AER: broadcast error_detected message", aer, Weight::error,
     "0000:15:01.0", ""},
    {"pcieport 0000:17:01.0: AER: Uncorrectable (Fatal) error message received from 0000:1b:00.0",
     aer, Weight::error, "0000:1b:00.0", ""},
    {"pcieport 0000:c9:01.0: AER: Multiple Uncorrected (Fatal) error received: 0000:c9:01.0", aer,
     Weight::error, "0000:c9:01.0", ""},
    {"nvidia 0000:1b:00.0: can't change power state from D3cold to D0 (config space inaccessible)",
     pcie, Weight::error, "0000:1b:00.0", ""},
    {"nvme 0000:c5:00.0: Unable to change power state from D3hot to D0, device inaccessible", pcie,
     Weight::error, "0000:c5:00.0", ""},
    {"mlx5_core 0000:18:00.0: not ready 65535ms after FLR; giving up", pcie, Weight::error,
     "0000:18:00.0", ""},
    {"pcieport 0000:15:01.0: pciehp: Slot(17): Power fault", pcie, Weight::error, "0000:15:01.0",
     ""},
    // The IOMMU, and non-maskable interrupts.
    {"DMAR: DRHD: handling fault status reg 2", iommu, Weight::error, "", ""},
    {"DMAR: [DMA Write NO_PASID] Request device [1b:00.0] fault addr 0xff9e0000 [fault reason "
     "0x05] "
     "PTE Write access is not set",
     iommu, Weight::error, "0000:1b:00.0", ""},
    {"nvidia 0000:41:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0020 address=0xfd000000 "
     "flags=0x0000]",
     iommu, Weight::error, "0000:41:00.0", ""},
    {"AMD-Vi: Event logged [IO_PAGE_FAULT device=41:00.0 domain=0x004a address=0xd6e00000]", iommu,
     Weight::error, "0000:41:00.0", ""},
    {"AMD-Vi: Completion-Wait loop timed out", iommu, Weight::error, "", ""},
    {"NMI: PCI system error (SERR) for reason a1 on CPU 0.", nmi, Weight::error, "", ""},
    {"NMI: IOCK error (debug interrupt?) for reason 61 on CPU 0.", nmi, Weight::error, "", ""},
    {"Uhhuh. NMI received for unknown reason 2d on CPU 12.", nmi, Weight::error, "", ""},
    // Network.
    {"mlx5_core 0000:18:00.0: print_health_info:430:(pid 0): Health issue observed, firmware "
     "internal error, severity(3) ERROR:",
     mlx5, Weight::error, "0000:18:00.0", ""},
    {"mlx5_core 0000:18:00.0: print_health_info:430:(pid 0): Health issue observed, high "
     "temperature, "
     "severity(5) NOTICE:",
     mlx5, Weight::information, "0000:18:00.0", ""},
    {"mlx5_core 0000:18:00.0: mlx5_error_sw_reset:234:(pid 1): start", mlx5, Weight::error,
     "0000:18:00.0", ""},
    {"mlx5_core 0000:18:00.0: mlx5_health_try_recover:335:(pid 771): handling bad device here",
     mlx5, Weight::error, "0000:18:00.0", ""},
    {"mlx5_core 0000:9a:00.0: mlx5_pcie_event:299:(pid 268269): Detected insufficient power on the "
     "PCIe slot (27W).",
     mlx5, Weight::information, "0000:9a:00.0", ""},
    {"mlx5_core 0000:5c:00.0 mlx5_4: Port: 1 Link DOWN", link, Weight::error, "0000:5c:00.0", ""},
    {"infiniband mlx5_4: Port: 1 Link DOWN", link, Weight::error, "", "mlx5_4"},
    {"infiniband mlx5_0: mlx5_0:dump_cqe:272:(pid 0): dump error cqe", mlx5, Weight::error, "",
     "mlx5_0"},
    {"NETDEV WATCHDOG: eno1 (ice): transmit queue 5 timed out", net, Weight::error, "", "eno1"},
    {"ice 0000:29:00.0: Hardware error event occurred", net, Weight::error, "0000:29:00.0", ""},
    {"ixgbe 0000:29:00.0 eno1: Detected Tx Unit Hang", net, Weight::error, "0000:29:00.0", ""},
    {"ixgbe 0000:29:00.0 eno1: NIC Link is Down", link, Weight::error, "0000:29:00.0", "eno1"},
    {"tg3 0000:02:00.0 eno1: Link is down", link, Weight::error, "0000:02:00.0", "eno1"},
    {"bond0: (slave ens10f0np0): link status definitely down, disabling slave", link, Weight::error,
     "", "ens10f0np0"},
    // Drives, arrays, file systems.
    {"md/raid1:md0: Disk failure on nvme1n1p2, disabling device.", disk, Weight::error, "",
     "nvme1"},
    {"md: super_written gets error=-5", disk, Weight::error, "", ""},
    {"device offline error, dev sdb, sector 2048 op 0x1:(WRITE) flags 0x0", disk, Weight::error, "",
     "sdb"},
    {"recoverable transport error, dev nvme4n1, sector 2048 op 0x0:(READ) flags 0x0", disk,
     Weight::error, "", "nvme4"},
    {"timeout error, dev sda, sector 2048 op 0x0:(READ) flags 0x0", disk, Weight::error, "", "sda"},
    {"protection error, dev sda, sector 2048 op 0x0:(READ) flags 0x0", disk, Weight::error, "",
     "sda"},
    {"md: kicking non-fresh sdb1 from array!", disk, Weight::error, "", "sdb1"},
    {"EXT4-fs (md0): Remounting filesystem read-only", disk, Weight::error, "", "md0"},
    {"Aborting journal on device nvme0n1p2-8.", disk, Weight::error, "", "nvme0"},
    {"XFS (nvme0n1p2): Metadata CRC error detected at xfs_agf_read_verify", disk, Weight::error, "",
     "nvme0"},
    {"ata1.00: exception Emask 0x10 SAct 0x0 SErr 0x4050000 action 0xe frozen", disk, Weight::error,
     "", "ata1"},
    {"ata3.00: failed command: READ FPDMA QUEUED", disk, Weight::error, "", "ata3"},
    {"sd 0:0:0:0: [sda] tag#0 Sense Key : Medium Error [current]", disk, Weight::error, "", "sda"},
    {"nvme nvme2: Device shutdown incomplete; abort shutdown", nvme, Weight::error, "", "nvme2"},
    {"nvme nvme4: Identify NS List failed (status=0xb)", nvme, Weight::error, "", "nvme4"},
    {"nvme nvme0: Does your device have a faulty power saving mode enabled?", nvme, Weight::error,
     "", "nvme0"},
    {"nvme1n1: Read(0x2) @ LBA 2048, 8 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR",
     nvme, Weight::error, "", "nvme1"},
    // Memory, heat, the kernel itself.
    {"RAS: Soft-offlining pfn: 0x3f2a1c0", mce, Weight::error, "", ""},
    {"mce: Machine check: Processor context corrupt", mce, Weight::error, "", ""},
    {"SError Interrupt on CPU12, code 0x00000000be000011 -- SError", mce, Weight::error, "", ""},
    {"thermal thermal_zone0: acpitz: critical temperature reached", thermal, Weight::error, "", ""},
    {"ACPI: thermal: Critical temperature reached (105 C)", thermal, Weight::error, "", ""},
    {"BUG: Bad page state in process python3  pfn:3f2a1c0", hang, Weight::error, "", ""},
    {"BUG: Bad rss-counter state mm:00000000e2b9b1c3 type:MM_ANONPAGES val:1", hang, Weight::error,
     "", ""},
    {"list_del corruption. next->prev should be ffff8881, but was 0000000000000000", hang,
     Weight::error, "", ""},
    {"BUG: kernel NULL pointer dereference, address: 0000000000000010", hang, Weight::error, "",
     ""},
    {"BUG: unable to handle page fault for address: ffffa0c3c1a40000", hang, Weight::error, "", ""},
    {"Unable to handle kernel paging request at virtual address ffff800012345678", hang,
     Weight::error, "", ""},
    {"clocksource: timekeeping watchdog on CPU12: Marking clocksource 'tsc' as unstable because "
     "the "
     "skew is too large:",
     hang, Weight::error, "", ""},
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
       {"", "IPv6: ADDRCONF(NETDEV_CHANGE): calia3f11b97c70: link becomes ready",
        "perf: interrupt took too long (2509 > 2500), lowering",
        "nvidia-nvswitch2: open (major=510)", "nvme nvme0: pci function 0000:c3:00.0",
        "nvme nvme0: 63/0/0 default/read/poll queues",
        "nvme nvme0: Shutdown timeout set to 10 seconds",
        "nvme nvme0: Identify Descriptors failed (nsid=1, status=0x2)",
        "nvme nvme0: failed to set APST feature (2)",
        "nvme nvme0: failed to allocate host memory buffer.",
        "mlx5_core 0000:18:00.0: firmware version: 28.41.1000",
        "EDAC MC0: Giving out device to module i10nm_edac controller Intel_10nm Socket#0 IMC#0",
        "NVRM: GPU Board Serial Number: 1653723052734", "NVRM: Xid (nonsense): 79, x",
        "NVRM: Xid (PCI:0000:91:00): x", "blk_update_request: I/O error, dev fd0, sector 0",
        "I/O error, dev sr0, sector 0 op 0x0", "XFS (dm-0): Mounting V5 Filesystem",
        "EXT4-fs (sda2): mounted filesystem with ordered",
        "{1}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 1",
        "pcieport 0000:15:01.0: AER: device recovery successful",
        "mce: CPU3: Package temperature/speed normal", "CPU3: Core temperature/speed normal",
        "coretemp coretemp.0: temperature is above threshold, cpu clock",
        "traps: python3[77] general protection fault ip:7f21 sp:7ffc error:0 in libc.so.6[7f21+15]",
        "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Severity 1 Engine instance 62",
        "pcieport 0000:1a:01.0: AER: Corrected error received: 0000:1b:00.0",
        // of machines that are well
        "ACPI BIOS Error (bug): Could not resolve symbol [\\_SB.PMI0._GHL.SYSI], AE_NOT_FOUND",
        "DMAR: DRHD base: 0x000000c8ffc000 flags: 0x0", "DMAR: IOMMU enabled",
        "DMAR-IR: Enabled IRQ remapping in x2apic mode", "AMD-Vi: Interrupt remapping enabled",
        "NMI watchdog: Enabled.", "perf: NMI handler took too long",
        "EXT4-fs (md127p3): re-mounted 0f3cd65a r/w.",
        "md/raid1:md0: active with 2 out of 2 mirrors", "md: md0: resync done.",
        "ata1: SATA link down (SStatus 0 SControl 300)", "ata1: SATA link up 6.0 Gbps",
        "sd 0:0:0:0: [sda] tag#0 Sense Key : Illegal Request [current]",

        "nvme nvme0: missing or invalid SUBNQN field.",
        "mlx5_core 0000:5c:00.0 mlx5_4: Port: 1 Link ACTIVE",
        "ixgbe 0000:29:00.0 eno1: NIC Link is Up 10 Gbps, Flow Control: RX/TX",
        "docker0: port 1(veth12ab) entered disabled state", "veth12ab: Link is Down",
        "pcieport 0000:15:01.0: pciehp: Slot(17): Card present",
        "nvidia 0000:1b:00.0: enabling device (0140 -> 0142)",
        "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.158.01  Release Build",
        "NVRM: rpcRmApiAlloc_GSP: GspRmAlloc failed: hClass=0x0000c86f; paramsStatus=0x00000000; "
        "status=0x00000056",
        "nvidia-nvlink: Nvlink Core is being initialized, major device number 509",
        "mce: using 32 MCE banks",

        "cupel: DEBUG: nothing", "workqueue: ib_cache_event_task [ib_core] hogged CPU for >10000us",
        "EDAC skx MC2: HANDLING MCE MEMORY ERROR"})
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
    const auto expected = row.substr(check + 14);
    const std::string kind = expected.starts_with("gpu.reset")
                                 ? "gpu-reset"
                                 : std::string{expected.substr(0, expected.find_first_of(".,}"))};

    const auto found = recognise(line);

    ASSERT_TRUE(found) << line;
    EXPECT_EQ(to_string(found->kind), kind) << line;
    EXPECT_EQ(to_string(found->weight), kind == "thermal" ? "information" : "error") << line;
    kinds.insert(kind);
  }
  EXPECT_EQ(kinds,
            (std::set<std::string>{"aer", "disk", "gpu", "gpu-reset", "hang", "iommu", "link",
                                   "mce", "mlx5", "net", "nmi", "nvme", "oom", "pcie", "thermal"}));
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
