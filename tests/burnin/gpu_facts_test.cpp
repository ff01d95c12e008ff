#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/stages.h"
#include "tests/support/samples.h"

namespace cupel::burnin {
namespace {
using inventory::PartKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kA100 = "nvidia-smi-xml/a100-sxm4-v12.xml";

std::vector<std::string> places() {
  for (const auto& parts : profile().parts)
    if (parts.kind == PartKind::gpu) return parts.pci;
  return {};
}

TEST(GpuFacts, ReadsAnA100AsItsDriverTellsIt) {
  CUPEL_NEEDS_SAMPLE(text, kA100);

  const auto found = parsed("gpu-facts", text);

  ASSERT_TRUE(found) << found.error().what;
  const auto& findings = *found;
  EXPECT_EQ(value_of(findings, "gpu.count"), 1);
  EXPECT_EQ(value_of(findings, "gpu.memory.total", "gpu0"), 80);
  EXPECT_EQ(value_of(findings, "gpu.ecc.mode", "gpu0"), 1);
  EXPECT_EQ(value_of(findings, "gpu.ecc.uncorrected", "gpu0"), 0);
  EXPECT_EQ(value_of(findings, "gpu.ecc.uncorrected.lifetime", "gpu0"), 0);
  EXPECT_EQ(value_of(findings, "gpu.mig", "gpu0"), 1);
  EXPECT_EQ(value_of(findings, "gpu.pcie.width_max", "gpu0"), 16);
  EXPECT_EQ(value_of(findings, "gpu.pcie.gen_max", "gpu0"), 4);
  EXPECT_EQ(value_of(findings, "gpu.temperature", "gpu0"), 27);
  EXPECT_EQ(value_of(findings, "gpu.temperature.memory", "gpu0"), 44);
  EXPECT_EQ(value_of(findings, "gpu.power", "gpu0"), 67.03);
  EXPECT_EQ(findings.parts.front().model, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(findings.parts.front().serial, "1650522003820");
  EXPECT_EQ(findings.parts.front().slot, "00000000:01:00.0");
  EXPECT_EQ(findings.parts.back().name, "driver");
  EXPECT_EQ(findings.parts.back().firmware, "535.54.03");
}

TEST(GpuFacts, TakesNotTellingForNotKnowing) {
  CUPEL_NEEDS_SAMPLE(text, kA100);

  const auto found = parsed("gpu-facts", text);

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "gpu.remap.pending", "gpu0"), std::nullopt);
  EXPECT_TRUE(says_unknown(*found, "gpu.remap.pending of gpu0"));
}

TEST(GpuFacts, ReadsTheNewSchemaOfACardWithoutEcc) {
  CUPEL_NEEDS_SAMPLE(text, "nvidia-smi-xml/rtx-3080-v13.xml");

  const auto found = parsed("gpu-facts", text);

  ASSERT_TRUE(found);
  const auto& findings = *found;
  EXPECT_EQ(value_of(findings, "gpu.memory.total", "gpu0"), 10);
  EXPECT_EQ(value_of(findings, "gpu.power", "gpu0"), 139.62);
  for (const auto* name : {"gpu.ecc.mode", "gpu.ecc.uncorrected", "gpu.mig", "gpu.remap.failed"})
    EXPECT_EQ(value_of(findings, name, "gpu0"), std::nullopt) << name;
}

TEST(GpuFacts, TakesTheInstantPowerWhereADriverReportsNoOther) {
  CUPEL_NEEDS_SAMPLE(text, "nvidia-smi-xml/rtx-3080-v13.xml");

  // As driver 580 writes it of an RTX PRO 6000.
  const auto found = parsed("gpu-facts", replaced(text, "139.62 W</average", "N/A</average"));

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "gpu.power", "gpu0"), 142.33);
}

TEST(GpuFacts, ReadsTheOldSchemaWithRemappedRows) {
  CUPEL_NEEDS_SAMPLE(text, "nvidia-smi-xml/a10g.xml");

  const auto found = parsed("gpu-facts", text);

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "gpu.remap.pending", "gpu0"), 0);
  EXPECT_EQ(value_of(*found, "gpu.remap.failed", "gpu0"), 0);
  EXPECT_EQ(value_of(*found, "gpu.power.limit", "gpu0"), 300);
}

struct SmiCapture {
  const char* file;
  double memory;                          // GiB
  std::optional<double> reset, ecc_mode;  // nothing: not reported
};

class SmiCaptures : public ::testing::TestWithParam<SmiCapture> {};

TEST_P(SmiCaptures, OfEverySchemaTellWhatAllOfThemHave) {
  const auto& row = GetParam();
  CUPEL_NEEDS_SAMPLE(text, row.file);

  const auto found = parsed("gpu-facts", text);

  ASSERT_TRUE(found) << found.error().what;
  const auto& findings = *found;
  EXPECT_NEAR(value_of(findings, "gpu.memory.total", "gpu0").value_or(0), row.memory, 0.01);
  EXPECT_EQ(value_of(findings, "gpu.reset_required", "gpu0"), row.reset);
  EXPECT_EQ(value_of(findings, "gpu.ecc.mode", "gpu0"), row.ecc_mode);
  for (const auto* name : {"gpu.power", "gpu.power.limit", "gpu.temperature", "gpu.pcie.width_max",
                           "gpu.pcie.gen_max", "gpu.pcie.replays", "gpu.persistence"})
    EXPECT_TRUE(value_of(findings, name, "gpu0")) << name;
}

INSTANTIATE_TEST_SUITE_P(All, SmiCaptures,
                         ::testing::Values(
                             // Schemas 11, 12 and 13: drivers 515, 535 and 595.
                             SmiCapture{"nvidia-smi-xml/a10g.xml", 22.488, std::nullopt, 1},
                             SmiCapture{kA100, 80, 0, 1},
                             SmiCapture{"nvidia-smi-xml/rtx-3080-v13.xml", 10, 0, std::nullopt}));

TEST(GpuFacts, SayWhatTheDriverAsksForInOldWordsAndInNew) {
  CUPEL_NEEDS_SAMPLE(old, kA100);
  CUPEL_NEEDS_SAMPLE(fresh, "nvidia-smi-xml/rtx-3080-v13.xml");
  const auto reset = [](const std::string& text) {
    const auto found = parsed("gpu-facts", text);
    return found ? value_of(*found, "gpu.reset_required", "gpu0") : std::nullopt;
  };
  const auto action = [&](const std::string& words) {
    return replaced(fresh, "<gpu_recovery_action>None", "<gpu_recovery_action>" + words);
  };

  EXPECT_EQ(reset(replaced(old, "<reset_required>No", "<reset_required>Yes")), 1);
  EXPECT_EQ(reset(action("GPU Reset")), 1);
  EXPECT_EQ(reset(action("Node Reboot")), 1);
  EXPECT_EQ(reset(action("Drain P2P")), 1);
  EXPECT_EQ(reset(action("Unknown")), std::nullopt);
}

TEST(GpuFacts, TellOfSramThatErredBeyondItsLimit) {
  CUPEL_NEEDS_SAMPLE(fresh, "nvidia-smi-xml/rtx-3080-v13.xml");
  const auto threshold = [&](const std::string& word) {
    const auto found = parsed("gpu-facts", replaced(fresh, "<sram_threshold_exceeded>N/A",
                                                    "<sram_threshold_exceeded>" + word));
    return value_of(*found, "gpu.ecc.sram_threshold", "gpu0");
  };

  EXPECT_EQ(threshold("Yes"), 1);
  EXPECT_EQ(threshold("No"), 0);
  EXPECT_EQ(threshold("N/A"), std::nullopt);
}

TEST(GpuFacts, AddsUpWhatNewDriversSplit) {
  CUPEL_NEEDS_SAMPLE(capture, "nvidia-smi-xml/rtx-3080-v13.xml");
  auto text = replaced(capture, "_uncorrectable_parity>N/A<", "_uncorrectable_parity>1<");
  text = replaced(text, "_uncorrectable_secded>N/A<", "_uncorrectable_secded>2<");
  const auto partly = text;
  text = replaced(text, "<dram_uncorrectable>N/A<", "<dram_uncorrectable>4<");

  const auto found = parsed("gpu-facts", text), half = parsed("gpu-facts", partly);

  EXPECT_EQ(value_of(*found, "gpu.ecc.uncorrected", "gpu0"), 7);
  EXPECT_EQ(value_of(*half, "gpu.ecc.uncorrected", "gpu0"), 3)
      << "what is told suffices to know that it is not zero";
}

TEST(GpuFacts, ReportsNoZeroWhereOneCounterIsMissing) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  const auto text = replaced(capture, "<dram_uncorrectable>0<", "<dram_uncorrectable>ERR!<");

  const auto found = parsed("gpu-facts", text);

  EXPECT_EQ(value_of(*found, "gpu.ecc.uncorrected", "gpu0"), std::nullopt);
}

TEST(GpuFacts, LeavesTheOthersTheirNamesWhereOneIsMissing) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  auto addresses = places();
  addresses.erase(addresses.begin() + 5);

  const auto found = parsed("gpu-facts", with_gpus_at(capture, addresses));

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "gpu.count"), 7);
  EXPECT_THAT(names_of(*found, PartKind::gpu),
              ElementsAre("gpu0", "gpu1", "gpu2", "gpu3", "gpu4", "gpu6", "gpu7"));
}

TEST(GpuFacts, NumbersThemInOrderWhereTheProfileKnowsNoPlaces) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  const std::vector<std::string> addresses{"c1:00.0", "07:00.0"};

  const auto found =
      stage("gpu-facts")->parse(profile("a100-8"), {with_gpus_at(capture, addresses), "", 0});

  ASSERT_TRUE(found);
  EXPECT_THAT(names_of(*found, PartKind::gpu), ElementsAre("gpu0", "gpu1"));
  EXPECT_EQ(found->parts.front().slot, "00000000:07:00.0");
}

TEST(GpuFacts, DoesNotNameAForeignGpuAfterTheMissingOne) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  auto addresses = places();
  addresses[5] = "aa:00.0";

  const auto found = parsed("gpu-facts", with_gpus_at(capture, addresses));

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "gpu.count"), 8);
  EXPECT_EQ(value_of(*found, "gpu.memory.total", "gpu5"), std::nullopt);
}

TEST(GpuFacts, DoesNotCountOneThatIsListedButDoesNotAnswer) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  const auto text =
      replaced(replaced(capture, "81920 MiB", "Unknown Error"), "0</dram_", "GPU is lost</dram_");

  const auto found = parsed("gpu-facts", text);

  ASSERT_TRUE(found);
  EXPECT_EQ(value_of(*found, "gpu.count"), 0);
  for (const auto& each : found->measurements) EXPECT_NE(each.part, "gpu0");
  EXPECT_TRUE(says_unknown(*found, "gpu0"));
}

TEST(GpuFacts, NamesTheOneThatFellOffItsBusAndReadsTheOthersOneByOne) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  std::string text = "Unable to determine the device handle for GPU0000:C3:00.0: Unknown Error\n";
  for (const auto& address : places()) {
    const std::vector<std::string> one{address};
    if (address != "c3:00.0") text += with_gpus_at(capture, one);
  }

  const auto found = parsed("gpu-facts", text);

  ASSERT_TRUE(found);
  const auto& unknown = found->unknown;
  EXPECT_EQ(value_of(*found, "gpu.count"), 7);
  EXPECT_EQ(unknown.back(), (inventory::Unknown{"gpu5", "nvidia-smi -q -x", "Unknown Error"}));
}

TEST(GpuFacts, NamesALostGpuByItsAddressWhetherOrNotTheDriverNumbersIt) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  const auto lost = [&](const std::string& words) {
    const auto found =
        parsed("gpu-facts", "Unable to determine the device handle for " + words + "\n" + capture);
    return found ? found->unknown.back() : inventory::Unknown{};
  };

  const auto old = lost("GPU0000:C3:00.0: Unknown Error");
  const auto fresh = lost("GPU7: 0000:C3:00.0: Unknown Error");
  const auto elsewhere = lost("GPU3: 0000:12:00.0: GPU is lost.  Reboot the system");
  const auto bare = lost("GPU3: Unknown Error");

  using inventory::Unknown;
  EXPECT_EQ(old, (Unknown{"gpu5", "nvidia-smi -q -x", "Unknown Error"}));
  EXPECT_EQ(fresh, old);
  EXPECT_EQ(elsewhere, (Unknown{"gpu at 0000:12:00.0", "nvidia-smi -q -x",
                                "GPU is lost.  Reboot the system"}));
  EXPECT_EQ(bare, (Unknown{"gpu3", "nvidia-smi -q -x", "Unknown Error"}));
}

TEST(GpuFacts, ToleratesWarningsAround) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);

  const auto found = parsed(
      "gpu-facts", "WARNING: infoROM is corrupted at gpu 0000:02:00.0\n" + capture + "bye\n");

  ASSERT_TRUE(found);
  EXPECT_EQ(*found, *parsed("gpu-facts", capture));
}

/// An A100 as an NVL72's GPU would write its fabric.
std::optional<double> ready(std::string xml, std::string_view chassis, std::string_view clique,
                            std::string_view cluster, std::string_view health) {
  const auto fabric = fmt::format(
      "<platformInfo><chassis_serial_number>{}</chassis_serial_number></platformInfo>"
      "<fabric><state>Completed</state><status>Success</status><cliqueId>{}</cliqueId>"
      "<clusterUuid>{}</clusterUuid><health><summary>{}</summary></health></fabric></gpu>",
      chassis, clique, cluster, health);
  xml = replaced(xml, "<fabric>", "<other>");
  xml = replaced(xml, "</fabric>", "</other>");
  const auto found = parsed("gpu-facts", replaced(xml, "</gpu>", fabric));
  return found ? value_of(*found, "gpu.fabric.ready", "gpu0") : std::nullopt;
}

TEST(GpuFacts, CallAGpuOfARackReadyOnlyInAPartitionOfItsDomainAndHealthy) {
  CUPEL_NEEDS_SAMPLE(text, kA100);
  constexpr auto kZeros = "00000000-0000-0000-0000-000000000000";
  constexpr auto kDomain = "0a1b2c3d-0000-4000-8000-000000000001";

  EXPECT_EQ(ready(text, "1800000000001", "32766", kDomain, "Healthy"), 1);
  EXPECT_EQ(ready(text, "N/A", "0", kZeros, "N/A"), 1) << "a machine that is a fabric by itself";
  EXPECT_EQ(ready(text, "1800000000001", "0", kZeros, "N/A"), 0) << "joined to nothing";
  EXPECT_EQ(ready(text, "1800000000001", "0", kDomain, "Healthy"), 0);
  EXPECT_EQ(ready(text, "1800000000001", "32766", kZeros, "Healthy"), 0);
  EXPECT_EQ(ready(text, "1800000000001", "32766", kDomain, "Unhealthy"), 0);
  EXPECT_EQ(ready(text, "N/A", "0", kZeros, "Limited Capacity"), 0);
  EXPECT_EQ(ready(replaced(text, "A100-SXM4-80GB", "GB200"), "N/A", "0", kZeros, "N/A"), 0)
      << "a model of racks, also where it does not know its chassis";
}

TEST(GpuFacts, TellsWhyThereIsNothingToRead) {
  CUPEL_NEEDS_SAMPLE(capture, kA100);
  const auto silent = parsed("gpu-facts",
                             "NVIDIA-SMI has failed because it couldn't communicate with the "
                             "NVIDIA driver.\n");
  const auto cut = parsed("gpu-facts", capture.substr(0, capture.size() / 2));
  const auto none = parsed("gpu-facts", "No devices were found\n");

  EXPECT_EQ(silent.error().code, Code::kNoMeasurement);
  EXPECT_THAT(silent.error().what, HasSubstr("couldn't communicate"));
  EXPECT_EQ(cut.error().code, Code::kMalformed);
  EXPECT_EQ(value_of(*none, "gpu.count"), 0) << "no GPU at all was found out";
}

}  // namespace
}  // namespace cupel::burnin
