// NVLinks, Xids, the fabric manager: what gpu-facts reads beside nvidia-smi's XML.
#include "burnin/gpu/nvlink.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/burnin/stages.h"
#include "tests/support/samples.h"

namespace cupel::burnin {
namespace {

Findings links(const std::string& text, const std::string& uuid) {
  Findings findings;
  const std::vector<KnownGpu> gpus{{"gpu0", uuid, "00000000:1B:00.0"}};
  add_nvlinks(text, gpus, findings);
  return findings;
}

std::string uuid_in(const std::string& text) {
  const auto at = text.find("GPU-");
  return text.substr(at, text.find(')', at) - at);
}

TEST(Nvlinks, AreCountedAsAnH100TellsThem) {
  CUPEL_NEEDS_SAMPLE(text, "nvidia-smi-nvlink/h100-80gb-hbm3_nvlink_s.txt");

  EXPECT_EQ(value_of(links(text, uuid_in(text)), "nvlink.active", "gpu0"), 18);
}

TEST(Nvlinks, AreNoneWhereAllAreInactiveWhateverTheExitStatus) {
  CUPEL_NEEDS_SAMPLE(text, "nvidia-smi-nvlink/a100_nvlink_s_ALL_INACTIVE.txt");

  EXPECT_EQ(value_of(links(text, uuid_in(text)), "nvlink.active", "gpu0"), 0);
}

TEST(Nvlinks, AreUnknownWhereMigIsOn) {
  CUPEL_NEEDS_SAMPLE(text, "nvidia-smi-nvlink/h100-mig_nvlink_s.txt");

  const auto findings = links(text, uuid_in(text));

  EXPECT_EQ(value_of(findings, "nvlink.active", "gpu0"), std::nullopt);
  EXPECT_TRUE(says_unknown(findings, "NVLinks of gpu0"));
}

TEST(Nvlinks, AreNotReportedForACardWithoutNvlink) {
  CUPEL_NEEDS_SAMPLE(text, "nvidia-smi-nvlink/l40s_nvlink_s.txt");

  EXPECT_TRUE(links(text, uuid_in(text)).measurements.empty());
}

/// The names of a B300 with driver 595.
TEST(Nvlinks, OfTheFifthGenerationAreCountedByNamesOfTheirOwn) {
  const auto reported = [](std::string_view failed, std::string_view overruns) {
    return links(fmt::format("GPU 0: NVIDIA B300 SXM6 AC (UUID: GPU-1)\n"
                             "\t Link 0: Malformed packet Errors: 0\n"
                             "\t Link 0: Buffer overrun Errors: {}\n"
                             "\t Link 0: Rx Errors: 0\n"
                             "\t Link 0: Local link integrity Errors: 0\n"
                             "\t Link 0: Link recovery successful events: 3\n"
                             "\t Link 0: Link recovery failed events: {}\n"
                             "\t Link 0: Effective Errors: 0\n"
                             "\t Link 0: Effective BER: 15e-255\n"
                             "\t Link 0: FEC Errors - 0: 36140749276\n",
                             overruns, failed),
                 "GPU-1");
  };

  const auto well = reported("0", "0"), failed = reported("2", "0"), unread = reported("0", "N/A");

  EXPECT_EQ(value_of(well, "nvlink.counted", "gpu0"), 1);
  EXPECT_EQ(value_of(well, "nvlink.recoveries", "gpu0"), 0);
  EXPECT_EQ(value_of(well, "nvlink.crc_errors", "gpu0"), std::nullopt) << "it has no such counter";
  EXPECT_EQ(value_of(failed, "nvlink.recoveries", "gpu0"), 2);
  EXPECT_EQ(value_of(unread, "nvlink.counted", "gpu0"), 0);
}

TEST(Nvlinks, OfEachMachineWithNvswitchesMustBeCounted) {
  for (const auto* name :
       {"a100-8", "dgx-h100", "dgx-h200", "hgx-h100-8", "hgx-h200-8", "dgx-b200", "dgx-b300",
        "hgx-b200-8", "hgx-b300-8", "gb200-nvl72-tray", "gb300-nvl72-tray"}) {
    const auto& criteria = profile(name).criteria;
    const auto counted =
        std::ranges::find(criteria, "nvlink.counted", &inventory::Criterion::measure);
    ASSERT_NE(counted, criteria.end()) << name;
    EXPECT_EQ(counted->stage, "gpu-facts") << name;
  }
}

TEST(Nvlinks, AreInactiveOneByOneAndCountTheirErrors) {
  const auto findings = links(
      "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n"
      "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n\t Link 0: Replay Errors: 2\n"
      "\t Link 0: Recovery Errors: 1\n\t Link 0: CRC Errors: 40\n\t Link 1: Replay Errors: 0\n"
      "\t Link 1: Recovery Errors: 0\n\t Link 1: CRC Errors: 2\n",
      "GPU-1");

  EXPECT_EQ(value_of(findings, "nvlink.active", "gpu0"), 1);
  EXPECT_EQ(value_of(findings, "nvlink.crc_errors", "gpu0"), 42);
  EXPECT_EQ(value_of(findings, "nvlink.replays", "gpu0"), 2);
  EXPECT_EQ(value_of(findings, "nvlink.recoveries", "gpu0"), 1);
}

Findings xids(const std::string& log) {
  Findings findings;
  const std::vector<KnownGpu> gpus{{"gpu0", "", "00000000:38:00.0"},
                                   {"gpu1", "", "00000000:9B:00.0"}};
  const std::vector<std::string> places{"38:00.0", "9b:00.0", "91:00.0"};
  add_xids("cupel-kernel-log: told\n" + log, gpus, places, findings);
  return findings;
}

TEST(Xids, NameTheGpuThatFellOffItsBusAndTheSwitchesThatSawIt) {
  CUPEL_NEEDS_SAMPLE(log, "dmesg/xid79_sxid20034_h100.log");

  const auto findings = xids(log);

  EXPECT_EQ(value_of(findings, "gpu.xid", "gpu2"), 79);
  EXPECT_EQ(value_of(findings, "gpu.xid", "gpu0"), 0);
  EXPECT_EQ(value_of(findings, "nvswitch.sxid", "nvswitch0"), 20034);
  EXPECT_EQ(value_of(findings, "nvswitch.sxid", "nvswitch1"), 20034);
}

TEST(Xids, TellOfFirmwareThatHalted) {
  CUPEL_NEEDS_SAMPLE(log, "dmesg/xid119_gsp_timeout_xe9680.log");

  EXPECT_EQ(value_of(xids(log), "gpu.xid", "gpu1"), 119);
}

TEST(Xids, OfAnApplicationAreNoFaultOfTheGpu) {
  CUPEL_NEEDS_SAMPLE(log, "dmesg/oom_and_misc.dmesg.log");

  EXPECT_EQ(value_of(xids(log), "gpu.xid", "gpu0"), 0);
}

TEST(Xids, OfMemoryErrorsThatWereContainedOrCorrectedTooOftenAreSerious) {
  for (const int code : {92, 94, 121, 157, 169}) {
    const auto findings = xids("[1.0] NVRM: Xid (PCI:0000:9b:00): " + std::to_string(code) +
                               ", pid=12, name=cupel-burn, words\n");

    EXPECT_EQ(value_of(findings, "gpu.xid", "gpu1"), code);
    EXPECT_EQ(value_of(findings, "gpu.xid", "gpu0"), 0);
  }
}

TEST(Xids, OfOneInstanceOfMigAreThoseOfItsGpu) {
  const auto findings = xids("[1.0] NVRM: Xid (PCI:0000:9b:00 GPU-I:05): 48, pid=1, name=x, DBE\n");

  EXPECT_EQ(value_of(findings, "gpu.xid", "gpu1"), 48);
}

TEST(Xids, OfNvlink5ThatEndNothingAreNoFault) {
  const auto findings = xids(
      "[1.0] NVRM: Xid (PCI:0000:9b:00): 145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 12 (0x04 0x8)\n");

  EXPECT_EQ(value_of(findings, "gpu.xid", "gpu1"), 0);
}

TEST(Xids, ThatAskForARecoveryAreSeriousUntilNoneIsAskedFor) {
  const std::string line = "[1.0] NVRM: Xid (PCI:0000:9b:00): 154, GPU recovery action changed ";

  const auto asked = xids(line + "from 0x0 (None) to 0x2 (Node Reboot Required)\n");
  const auto over = xids(line + "from 0x1 (GPU Reset Required) to 0x0 (None)\n");

  EXPECT_EQ(value_of(asked, "gpu.xid", "gpu1"), 154);
  EXPECT_EQ(value_of(over, "gpu.xid", "gpu1"), 0);
}

TEST(Xids, AreNotFatalWhereTheFabricManagerSaysSo) {
  const auto findings = xids(
      "[1.0] nvidia-nvswitch2: SXid (PCI:0000:85:00.0): 12028, Non-fatal, Link 61 egress PRIV\n");

  EXPECT_EQ(value_of(findings, "nvswitch.sxid", "nvswitch2"), std::nullopt);
}

TEST(Xids, AreUnknownWhereTheLogCannotBeRead) {
  Findings findings;

  add_xids("", {}, {}, findings);

  EXPECT_TRUE(says_unknown(findings, "Xids"));
}

TEST(GpuFacts, CallsADriverThatWasUpdatedWithoutARestartWhatItIs) {
  const auto found = parsed("gpu-facts",
                            "Failed to initialize NVML: Driver/library version mismatch\n"
                            "NVML library version: 550.90\n");

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "driver.mismatch", "driver"), 1);
}

TEST(GpuFacts, HoldsTheFabricManagerAgainstTheDriver) {
  CUPEL_NEEDS_SAMPLE(text, "nvidia-smi-xml/a100-sxm4-v12.xml");
  const auto with = [&](const std::string& more) {
    return *parsed("gpu-facts", text + "\n" + more);
  };

  const auto good = with(
      "cupel-fabricmanager: active\n"
      "cupel-fabricmanager-version: Fabric Manager version is : 535.54.03\n");
  const auto old = with(
      "cupel-fabricmanager: inactive\n"
      "cupel-fabricmanager-version: Fabric Manager version is : 525.60.13\n");

  EXPECT_EQ(value_of(good, "fabricmanager.active", "fabricmanager"), 1);
  EXPECT_EQ(value_of(good, "fabricmanager.matches", "fabricmanager"), 1);
  EXPECT_EQ(value_of(old, "fabricmanager.active", "fabricmanager"), 0);
  EXPECT_EQ(value_of(old, "fabricmanager.matches", "fabricmanager"), 0);
  EXPECT_EQ(value_of(with(""), "fabricmanager.active", "fabricmanager"), std::nullopt);
}

}  // namespace
}  // namespace cupel::burnin
