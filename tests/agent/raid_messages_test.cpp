// What drivers of RAID controllers write into the kernel's log: as their sources and logs of real
// machines have it.
#include <gtest/gtest.h>

#include <array>

#include "burnin/agent/node/kernel_messages.h"

namespace cupel::agent {
namespace {

TEST(RaidMessages, AreErrorsOfADriveWhereAControllerOrAnArrayFailed) {
  struct Case {
    std::string_view line, pci;
  };
  constexpr auto kCases = std::to_array<Case>({
      {"megaraid_sas 0000:18:00.0: 5452 (614093735s/0x0001/CRIT) - VD 00/0 is now DEGRADED",
       "0000:18:00.0"},
      {"megaraid_sas 0000:18:00.0: 5453 (614093741s/0x0002/FATAL) - Unrecoverable medium error "
       "during recovery on PD 01(e0x20/s1) at 4a1b0",
       "0000:18:00.0"},
      {"megaraid_sas 0000:18:00.0: 5454 (boot + 9s/0x0020/DEAD) - Controller needs to be replaced",
       "0000:18:00.0"},
      {"megaraid_sas 0000:18:00.0: FW in FAULT state Fault code:0xfff0000 subcode:0xff00 "
       "func:megasas_wait_for_outstanding_fusion",
       "0000:18:00.0"},
      {"megaraid_sas 0000:03:00.0: pending commands remain after waiting, will reset adapter "
       "scsi0.",
       "0000:03:00.0"},
      {"mpt3sas_cm0: fault_state(0x2623)!", ""},
      {"mpt3sas_cm0: coredump_state(0x5854)!", ""},
      {"mpt2sas_cm0: SAS host is non-operational !!!!", ""},
      {"smartpqi 0000:5c:00.0: scsi 0:1:0:0 Volume degraded", "0000:5c:00.0"},
      {"smartpqi 0000:5c:00.0: scsi 0:1:0:0 Volume failed", "0000:5c:00.0"},
      {"smartpqi 0000:5c:00.0: controller is offline: status code 0x6100c", "0000:5c:00.0"},
      {"smartpqi 0000:23:00.0: no heartbeat detected - last heartbeat count: 11794",
       "0000:23:00.0"},
      {"smartpqi 0000:23:00.0: reset of scsi 0:1:0:0: FAILED", "0000:23:00.0"},
      {"hpsa 0000:06:00.0: Controller lockup detected: 0x0015002f after 30", "0000:06:00.0"},
      {"aacraid 0000:12:00.0: adapter kernel panic'd 2.", "0000:12:00.0"},
      {"aacraid: Host adapter abort request (0,1,41,0)", ""},
      {"aacraid: Host adapter reset request. SCSI hang ?", ""},
  });
  for (const auto& each : kCases) {
    const auto found = recognise(each.line);

    ASSERT_TRUE(found) << each.line;
    EXPECT_EQ(found->kind, MessageKind::disk) << each.line;
    EXPECT_EQ(found->weight, Weight::error) << each.line;
    EXPECT_EQ(found->pci, each.pci) << each.line;
    EXPECT_EQ(recognise("[  201.713] " + std::string{each.line}), found) << each.line;
  }
}

TEST(RaidMessages, AreNoneWhereAControllerStartsOrAnArrayIsWell) {
  for (const std::string_view line :
       {"megaraid_sas 0000:18:00.0: FW now in Ready state",
        "megaraid_sas 0000:18:00.0: Waiting for FW to come to ready state",
        "megaraid_sas 0000:18:00.0: Init cmd success",
        "megaraid_sas 0000:18:00.0: controller type\t: MR(8192MB)",
        "megaraid_sas 0000:18:00.0: Online Controller Reset(OCR)\t: Enabled",
        "megaraid_sas 0000:18:00.0: scanning for scsi0...",
        "megaraid_sas 0000:18:00.0: 5450 (614093700s/0x0001/info) - VD 00/0 is now OPTIMAL",
        "mpt3sas version 48.100.00.00 loaded",
        "mpt3sas_cm0: sending diag reset !!",
        "mpt3sas_cm0: diag reset: SUCCESS",
        "mpt3sas_cm0: port enable: SUCCESS",
        "mpt3sas_cm0: log_info(0x31080000): originator(PL), code(0x08), sub_code(0x0000)",
        "smartpqi 0000:5c:00.0: Online Firmware Activation enabled",
        "smartpqi 0000:5c:00.0: scsi 0:1:0:0 Volume online",
        "smartpqi 0000:5c:00.0: reset of scsi 0:1:0:0: SUCCESS",
        "smartpqi 0000:5c:00.0: added 0:1:0:0 0000000000000000 Direct-Access HPE LOGICAL VOLUME "
        "RAID-1(+0) SSDSmartPathCap+ En+",
        "hpsa 0000:06:00.0: scsi 0:1:0:0: added Direct-Access HP LOGICAL VOLUME RAID-1(+0) "
        "SSDSmartPathCap- En- Exp=1",
        "aacraid: Comm Interface type2 enabled",
        "aacraid 0000:08:00.0: Scheduling bus rescan",
        "mptbase: ioc0: Initiating bringup"})
    EXPECT_FALSE(recognise(line)) << line;
}

}  // namespace
}  // namespace cupel::agent
