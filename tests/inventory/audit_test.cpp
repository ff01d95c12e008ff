#include "inventory/audit.h"

#include <gmock/gmock.h>

namespace cupel::inventory {
namespace {
using testing::IsEmpty;

Profile eight_gpus() {
  Profile profile;
  profile.name = "eight";
  ExpectedParts gpus;
  gpus.kind = PartKind::gpu;
  gpus.count = 4;
  gpus.models = {"H100"};
  gpus.pci = {"1b:00.0", "43:00.0", "52:00.0", "61:00.0"};
  profile.parts = {gpus};
  return profile;
}

Part gpu(std::string name, std::string slot, std::string source) {
  Part part;
  part.kind = PartKind::gpu;
  part.name = std::move(name);
  part.slot = std::move(slot);
  part.model = "NVIDIA H100 80GB HBM3";
  part.source = std::move(source);
  return part;
}

std::vector<Part> four() {
  return {gpu("gpu0", "00000000:1B:00.0", "smi"), gpu("gpu1", "00000000:43:00.0", "smi"),
          gpu("gpu2", "00000000:52:00.0", "smi"), gpu("gpu3", "00000000:61:00.0", "smi")};
}

TEST(Audit, FindsNothingWhereAllIsAsItShouldBe) {
  const auto parts = four();

  EXPECT_THAT(audit(eight_gpus(), "", {{}, parts}), IsEmpty());
}

TEST(Audit, NamesTheMissingGpuByItsPciAddress) {
  auto parts = four();
  parts.erase(parts.begin() + 2);

  const auto findings = audit(eight_gpus(), "", {{}, parts});

  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].finding, Finding::missing);
  EXPECT_EQ(findings[0].part, "gpu2");
  EXPECT_EQ(findings[0].expected, "4 gpus");
  EXPECT_EQ(findings[0].observed, "3");
}

TEST(Audit, NamesTheMissingGpuByTheGapInTheBmcsNames) {
  const std::vector<Part> seen{gpu("GPU_SXM_1", "", "u"), gpu("GPU_SXM_2", "", "u"),
                               gpu("GPU_SXM_4", "", "u")};

  const auto findings = audit(eight_gpus(), "", {seen, {}});

  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].part, "GPU_SXM_3");
}

TEST(Audit, DoesNotTakeABmcsSilenceForAbsence) {
  const auto parts = four();
  Part psu;
  psu.kind = PartKind::psu;
  psu.name = "psu0";
  const std::vector<Part> bmc{psu};

  EXPECT_THAT(audit(eight_gpus(), "", {bmc, parts}), IsEmpty());
}

TEST(Audit, BelievesNobodyWhereNobodyTold) {
  const auto findings = audit(eight_gpus(), "", {{}, {}});

  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].finding, Finding::unobserved);
  EXPECT_FALSE(is_failure(findings[0].finding));
}

TEST(Audit, TellsWrongModelSizeFirmwareAndMachine) {
  auto profile = eight_gpus();
  profile.parts[0].count = 1;
  profile.parts[0].pci.clear();
  profile.parts[0].size_bytes = 80.0 * 1024 * 1024 * 1024;
  profile.firmware = {{"HostBMC_0", "2.0", {}}};
  auto odd = gpu("gpu0", "", "smi");
  odd.model = "NVIDIA A100-SXM4-40GB";
  odd.size_bytes = 40.0 * 1024 * 1024 * 1024;
  Part bmc;
  bmc.kind = PartKind::firmware;
  bmc.name = "HostBMC_0";
  bmc.firmware = "1.9";
  const std::vector<Part> by_bmc{bmc};
  const std::vector<Part> by_node{odd};

  const auto findings = audit(profile, "SN1", {by_bmc, by_node, "SN2"});

  std::vector<std::pair<Finding, std::string>> found;
  for (const auto& finding : findings) found.emplace_back(finding.finding, finding.observed);
  EXPECT_THAT(
      found, testing::UnorderedElementsAre(std::pair{Finding::wrong_model, "NVIDIA A100-SXM4-40GB"},
                                           std::pair{Finding::wrong_size, "40 GiB"},
                                           std::pair{Finding::wrong_firmware, "1.9"},
                                           std::pair{Finding::wrong_serial, "SN2"}));
}

}  // namespace
}  // namespace cupel::inventory
