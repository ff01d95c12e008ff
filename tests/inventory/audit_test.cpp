#include "inventory/audit.h"

#include <gmock/gmock.h>

#include <set>

#include "inventory/expected_parts.h"
#include "inventory/profile.h"

namespace cupel::inventory {
namespace {
using ::testing::IsEmpty;

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

  EXPECT_THAT(audit(eight_gpus(), {}, {{}, parts}), IsEmpty());
}

TEST(Audit, TakesItsBmcsWordThatTheMachineAsAWholeIsCritical) {
  const auto parts = four();
  Part system;
  system.kind = PartKind::system;
  system.name = "system";
  system.health = "Critical";
  Seen seen{std::span{&system, 1}, parts};
  seen.facts[std::string{kCriticalFact}] = "chassis HGX_NVSwitch_2\nsensor Inlet Temp";

  const auto findings = audit(eight_gpus(), {}, seen);

  ASSERT_EQ(findings.size(), 3);
  EXPECT_EQ(findings[0].part, "chassis HGX_NVSwitch_2");
  EXPECT_EQ(findings[1].part, "sensor Inlet Temp");
  EXPECT_EQ(findings[2].part, "system");
  for (const auto& each : findings) EXPECT_EQ(each.finding, Finding::unhealthy);
}

TEST(Audit, BlamesThePartAloneWhereTheWholeIsCriticalForIt) {
  auto parts = four();
  parts.erase(parts.begin() + 2);
  Seen seen{{}, parts};
  seen.facts[std::string{kCriticalFact}] = "chassis 1";

  const auto findings = audit(eight_gpus(), {}, seen);

  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].part, "gpu2");
}

TEST(Audit, NamesTheMissingGpuByItsPciAddress) {
  auto parts = four();
  parts.erase(parts.begin() + 2);

  const auto findings = audit(eight_gpus(), {}, {{}, parts});

  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].finding, Finding::missing);
  EXPECT_EQ(findings[0].part, "gpu2");
  EXPECT_EQ(findings[0].expected, "4 gpus");
  EXPECT_EQ(findings[0].observed, "3");
}

TEST(Audit, NamesTheMissingGpuByTheGapInTheBmcsNames) {
  const std::vector<Part> seen{gpu("GPU_SXM_1", "", "u"), gpu("GPU_SXM_2", "", "u"),
                               gpu("GPU_SXM_4", "", "u")};

  const auto findings = audit(eight_gpus(), {}, {seen, {}});

  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].part, "GPU_SXM_3");
}

TEST(Audit, DoesNotTakeABmcsSilenceForAbsence) {
  const auto parts = four();
  Part psu;
  psu.kind = PartKind::psu;
  psu.name = "psu0";
  const std::vector<Part> bmc{psu};

  EXPECT_THAT(audit(eight_gpus(), {}, {bmc, parts}), IsEmpty());
}

TEST(Audit, DoesNotMissAnHcaWhereTheBmcAloneCountsCards) {
  Profile profile;
  ExpectedParts hcas;
  hcas.kind = PartKind::hca;
  hcas.count = 3;
  profile.parts = {hcas};
  std::vector<Part> cards(2);
  for (auto& card : cards) card.kind = PartKind::hca;
  cards[0].name = "hca0";
  cards[1].name = "hca1";

  const auto by_bmc = audit(profile, {}, {cards, {}});
  const auto by_node = audit(profile, {}, {{}, cards});

  ASSERT_EQ(by_bmc.size(), 1);
  EXPECT_EQ(by_bmc[0].finding, Finding::not_observed);
  EXPECT_EQ(by_bmc[0].observed, "2 adapters by the BMC alone, some of which may have two ports");
  ASSERT_EQ(by_node.size(), 1);
  EXPECT_EQ(by_node[0].finding, Finding::missing);
}

TEST(Audit, ReportsUnobservedPartsWhereNothingIsReported) {
  const auto findings = audit(eight_gpus(), {}, {{}, {}});

  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].finding, Finding::not_observed);
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

  const auto findings = audit(profile, {.serial = "SN1"}, {by_bmc, by_node, "SN2"});

  std::vector<std::pair<Finding, std::string>> found;
  for (const auto& finding : findings) found.emplace_back(finding.finding, finding.observed);
  EXPECT_THAT(found, ::testing::UnorderedElementsAre(
                         std::pair{Finding::wrong_model, "NVIDIA A100-SXM4-40GB"},
                         std::pair{Finding::wrong_size, "40 GiB"},
                         std::pair{Finding::wrong_firmware, "1.9"},
                         std::pair{Finding::wrong_serial, "SN2"}));
  for (const auto& each : findings)
    if (each.finding == Finding::wrong_model)
      EXPECT_EQ(each.remedy, "exchange it for the model that was ordered, or correct the profile");
}

TEST(Audit, TakesNoGpuForTheOneWhoseNameStandsWithinItsOwn) {
  const auto fits = [](const char* expected, const char* reported) {
    auto profile = eight_gpus();
    profile.parts[0].count = 1;
    profile.parts[0].pci.clear();
    profile.parts[0].models = {expected};
    auto one = gpu("gpu0", "", "smi");
    one.model = reported;
    const std::vector<Part> by_node{one};
    return audit(profile, {}, {{}, by_node}).empty();
  };

  EXPECT_FALSE(fits("H200", "NVIDIA GH200 480GB"));
  EXPECT_FALSE(fits("B200", "NVIDIA GB200"));
  EXPECT_FALSE(fits("A10", "NVIDIA A100-SXM4-80GB"));
  EXPECT_FALSE(fits("A40", "NVIDIA RTX A4000"));
  EXPECT_TRUE(fits("H200", "NVIDIA H200"));
  EXPECT_TRUE(fits("h200", "NVIDIA-H200-141GB"));
  EXPECT_TRUE(fits("A10", "NVIDIA A10G"));
  EXPECT_TRUE(fits("H100", "NVIDIA Corporation GH100 [H100 SXM5 80GB]"));
}

std::vector<std::pair<Finding, std::string>> reported(const std::vector<AuditFinding>& findings) {
  std::vector<std::pair<Finding, std::string>> reported;
  for (const auto& each : findings)
    reported.emplace_back(each.finding, each.part + ", " + each.expected + ": " + each.observed);
  return reported;
}

TEST(Audit, DoesNotPassASizeThatIsReportedNowhere) {
  auto profile = eight_gpus();
  profile.parts[0].size_bytes = 999.0 * 1024 * 1024 * 1024;
  const auto by_bmc = four(), by_node = four();

  const auto findings = audit(profile, {}, {by_bmc, by_node});

  EXPECT_THAT(reported(findings),
              ::testing::ElementsAre(
                  std::pair{Finding::not_observed, "gpu, 999 GiB: its size is not reported"}));
}

TEST(Audit, NamesTheOnePartWhoseSizeIsNotReported) {
  auto profile = eight_gpus();
  profile.parts[0].size_bytes = 80.0 * 1024 * 1024 * 1024;
  auto parts = four();
  for (auto& each : parts) each.size_bytes = profile.parts[0].size_bytes;
  parts[2].size_bytes.reset();

  EXPECT_THAT(reported(audit(profile, {}, {parts, {}})),
              ::testing::ElementsAre(
                  std::pair{Finding::not_observed, "gpu2, 80 GiB: its size is not reported"}));
}

TEST(Audit, TakesASizeThatOneOfTheTwoSourcesReports) {
  auto profile = eight_gpus();
  profile.parts[0].size_bytes = 80.0 * 1024 * 1024 * 1024;
  const auto by_bmc = four();
  auto by_node = four();
  for (auto& each : by_node) each.size_bytes = profile.parts[0].size_bytes;

  EXPECT_THAT(audit(profile, {}, {by_bmc, by_node}), IsEmpty());
  EXPECT_THAT(audit(profile, {}, {by_node, by_bmc}), IsEmpty());
}

TEST(Audit, DoesNotTakeTheSizeOfADriveFromASourceThatItDoesNotJudge) {
  Profile profile;
  ExpectedParts drives;
  drives.kind = PartKind::nvme;
  drives.count = 1;
  drives.size_bytes = 1e12;
  profile.parts = {drives};
  Part drive{.kind = PartKind::nvme, .name = "nvme0"};
  const std::vector<Part> by_node{drive};
  drive.size_bytes = 9e12;
  const std::vector<Part> by_bmc{drive};

  const auto findings = audit(profile, {}, {by_bmc, by_node});

  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].finding, Finding::not_observed);
}

TEST(Audit, DoesNotPassModelsAndCoresThatAreReportedNowhere) {
  Profile profile;
  ExpectedParts cpus;
  cpus.kind = PartKind::cpu;
  cpus.count = 1;
  cpus.models = {"8480C"};
  cpus.cores = 56;
  profile.parts = {cpus};
  const std::vector<Part> parts{Part{.kind = PartKind::cpu, .name = "cpu0"}};

  EXPECT_THAT(
      reported(audit(profile, {}, {parts, {}})),
      ::testing::UnorderedElementsAre(
          std::pair{Finding::not_observed, "cpu, 8480C: its model is not reported"},
          std::pair{Finding::not_observed, "cpu, 56 cores: its core count is not reported"}));
}

Part of_bmc(PartKind kind, std::string name, std::string health = "OK") {
  Part part;
  part.kind = kind;
  part.name = std::move(name);
  part.health = std::move(health);
  return part;
}

TEST(Audit, NamesTheDimmThatOneRowHasAndTheOtherLacks) {
  Profile profile;
  ExpectedParts dimms;
  dimms.kind = PartKind::dimm;
  dimms.count = 8;
  profile.parts = {dimms};
  std::vector<Part> parts;
  for (const auto* name :
       {"dimm A1", "dimm A2", "dimm A4", "dimm B1", "dimm B2", "dimm B3", "dimm B4"})
    parts.push_back(of_bmc(PartKind::dimm, name));

  const auto findings = audit(profile, {}, {{}, parts});

  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].part, "dimm A3");
}

TEST(Audit, FailsOnlyThePartsThatTheBmcCallsCritical) {
  const std::vector<Part> parts{of_bmc(PartKind::psu, "psu4", "Critical"),
                                of_bmc(PartKind::fan, "fan3", "Warning"),
                                of_bmc(PartKind::fan, "fan4"), of_bmc(PartKind::fan, "fan5", "")};

  const auto findings = audit({}, {}, {parts, {}});

  std::vector<std::pair<Finding, std::string>> found;
  for (const auto& finding : findings) found.emplace_back(finding.finding, finding.part);
  EXPECT_THAT(found, ::testing::ElementsAre(std::pair{Finding::unhealthy, "fan3"},
                                            std::pair{Finding::unhealthy, "psu4"}));
}

TEST(Audit, BlamesADriveThatTheKernelHasGivenUp) {
  const auto drive = [](const char* name, const char* state) {
    return Part{.kind = PartKind::nvme, .name = name, .serial = "N1", .health = state};
  };
  const std::vector<Part> drives{drive("nvme0", "OK"), drive("nvme1", "dead"),
                                 drive("nvme2", "resetting")};

  const auto findings = audit({}, {}, {{}, drives});

  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].finding, Finding::unhealthy);
  EXPECT_EQ(findings[0].part, "nvme1");
  EXPECT_EQ(findings[0].observed, "dead (serial N1)");
}

TEST(Audit, KnowsAMachineThatCallsItselfOtherwise) {
  const ExpectedNode expected{.names = {"a01-n03", "gpu-003"}};

  EXPECT_THAT(audit({}, expected, {{}, {}, {}, {{"node.hostname", "A01-N03.cluster.local"}}}),
              IsEmpty());
  EXPECT_THAT(audit({}, expected, {{}, {}, {}, {{"node.hostname", "gpu-003"}}}), IsEmpty());
  EXPECT_THAT(audit({}, expected, {}), IsEmpty());
  const auto findings = audit({}, expected, {{}, {}, {}, {{"node.hostname", "localhost"}}});
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].finding, Finding::wrong_name);
  EXPECT_EQ(findings[0].observed, "localhost");
}

TEST(Audit, HoldsClocksAgainstOursByDaysAndNotByMinutes) {
  EXPECT_THAT(audit({}, {}, {{}, {}, {}, {{"bmc.clock_ahead", "-7200"}}}), IsEmpty());
  const auto findings = audit(
      {}, {}, {{}, {}, {}, {{"bmc.clock_ahead", "-189345600"}, {"node.clock_ahead", "157788000"}}});

  ASSERT_EQ(findings.size(), 2);
  EXPECT_EQ(findings[0].part, "bmc clock");
  EXPECT_EQ(findings[0].finding, Finding::wrong_clock);
  EXPECT_EQ(findings[0].observed, "2192 days behind");
  EXPECT_EQ(findings[1].part, "node clock");
}

TEST(Audit, FailsANodeWhoseClockIsMinutesOff) {
  const auto findings = audit({}, {}, {{}, {}, {}, {{"node.clock_ahead", "3600"}}});

  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].part, "node clock");
  EXPECT_EQ(findings[0].observed, "60 minutes ahead");
  EXPECT_EQ(findings[0].expected, "within 5 minutes of ours");
  const auto behind = audit({}, {}, {{}, {}, {}, {{"node.clock_ahead", "-600"}}});
  ASSERT_EQ(behind.size(), 1);
  EXPECT_EQ(behind[0].observed, "10 minutes behind");
  for (const auto* good : {"-240", "0", "240"})
    EXPECT_THAT(audit({}, {}, {{}, {}, {}, {{"node.clock_ahead", good}}}), IsEmpty()) << good;
  EXPECT_THAT(audit({}, {}, {{}, {}, {}, {{"bmc.clock_ahead", "-3600"}}}), IsEmpty())
      << "a BMC may keep local time";
  EXPECT_THAT(audit({}, {.rehearsal = true}, {{}, {}, {}, {{"node.clock_ahead", "3600"}}}),
              IsEmpty());
}

TEST(Audit, FailsANodeWhoseClockIsFourDaysOffButInARehearsal) {
  const Seen seen{{}, {}, {}, {{"node.clock_ahead", "345600"}}};

  const auto findings = audit({}, {}, seen);

  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].finding, Finding::wrong_clock);
  EXPECT_EQ(findings[0].expected, "within a day of ours");
  EXPECT_EQ(findings[0].observed, "4 days ahead");
  EXPECT_THAT(audit({}, {.rehearsal = true}, seen), IsEmpty());
}

TEST(Audit, ComparesTheBiosSettingsThatTheProfileWants) {
  Profile profile;
  profile.bios = {{"LogicalProc", "Enabled"}, {"SysProfile", "Performance"}, {"Gone", "1"}};

  const auto findings =
      audit(profile, {},
            {{}, {}, {}, {{"bios.LogicalProc", "Disabled"}, {"bios.SysProfile", "performance"}}});

  std::vector<std::pair<Finding, std::string>> found;
  for (const auto& finding : findings) found.emplace_back(finding.finding, finding.part);
  EXPECT_THAT(found, ::testing::ElementsAre(std::pair{Finding::not_observed, "bios Gone"},
                                            std::pair{Finding::wrong_setting, "bios LogicalProc"}));
}

Profile with(PartKind kind, int count) {
  Profile profile;
  profile.parts = {ExpectedParts{.kind = kind, .count = count}};
  return profile;
}

/// "dimm A1" to "dimm A8", without those in `gone`.
std::vector<Part> dimms(std::set<int> gone = {}) {
  std::vector<Part> parts;
  for (int i = 1; i <= 8; ++i)
    if (!gone.contains(i)) parts.push_back(of_bmc(PartKind::dimm, "dimm A" + std::to_string(i)));
  return parts;
}

const std::vector<PartialList> kDimmsNotWhole{
    {PartKind::dimm, "/redfish/v1/Systems/1/Memory/7", "HTTP 500", true}};

TEST(Audit, FindsNothingMissingWhereAListThatIsNotWholeLacksIt) {
  const auto by_bmc = dimms({3, 4, 5});

  const auto findings =
      audit(with(PartKind::dimm, 8), {}, {.by_bmc = by_bmc, .partial_by_bmc = kDimmsNotWhole});

  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].finding, Finding::not_observed);
  EXPECT_EQ(findings[0].part, "dimm");
  EXPECT_EQ(findings[0].observed,
            "5 listed by the BMC, which could not be read whole: "
            "/redfish/v1/Systems/1/Memory/7: HTTP 500");
}

TEST(Audit, FindsAPartMissingInAWholeListBesideOneThatIsNot) {
  const auto by_bmc = dimms({3});
  auto profile = with(PartKind::dimm, 8);
  profile.parts.push_back({.kind = PartKind::psu, .count = 1});
  const std::vector<PartialList> psus{{PartKind::psu, "/redfish/v1/Chassis/1/Power", "HTTP 503"}};

  const auto findings = audit(profile, {}, {.by_bmc = by_bmc, .partial_by_bmc = psus});

  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].finding, Finding::missing);
  EXPECT_EQ(findings[0].part, "dimm A3");
  EXPECT_EQ(findings[1].finding, Finding::not_observed);
  EXPECT_EQ(findings[1].observed, "not read: /redfish/v1/Chassis/1/Power: HTTP 503");
}

TEST(Audit, PassesPartsThatTheNodeListsAndABmcThatIsNotWholeDoesNot) {
  const auto by_bmc = dimms({1, 2, 3, 4}), by_node = dimms();

  EXPECT_THAT(audit(with(PartKind::dimm, 8), {},
                    {.by_bmc = by_bmc, .by_node = by_node, .partial_by_bmc = kDimmsNotWhole}),
              IsEmpty());
}

TEST(Audit, DecidesNothingWhereTwoWholeListsContradictEachOther) {
  const auto by_bmc = dimms({3}), by_node = dimms();

  const auto findings = audit(with(PartKind::dimm, 8), {}, {.by_bmc = by_bmc, .by_node = by_node});

  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].finding, Finding::not_observed);
  EXPECT_EQ(findings[0].observed, "7 by the BMC, 8 by the node");
}

TEST(Audit, MissesWhatTheNodeCannotUseThoughItsBmcListsIt) {
  const auto by_bmc = dimms(), by_node = dimms({3});

  const auto findings = audit(with(PartKind::dimm, 8), {}, {.by_bmc = by_bmc, .by_node = by_node});

  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].finding, Finding::missing);
  EXPECT_EQ(findings[0].observed, "7; the BMC lists 8");
}

TEST(Audit, LeavesTheCountToAWholeListOfTheBmcWhereTheNodesIsNot) {
  const auto by_node = dimms({3, 4}), whole = dimms(), short_of_one = dimms({5});
  const auto profile = with(PartKind::dimm, 8);
  const auto found = [&](const std::vector<Part>& by_bmc, std::span<const PartialList> partial) {
    return audit(profile, {},
                 {.by_bmc = by_bmc,
                  .by_node = by_node,
                  .partial_by_bmc = partial,
                  .partial_by_node = kDimmsNotWhole});
  };

  EXPECT_THAT(found(whole, {}), IsEmpty());
  ASSERT_EQ(found(dimms({3, 4}), {}).size(), 2u);
  EXPECT_EQ(found(dimms({3, 4}), {})[0].finding, Finding::missing);
  ASSERT_EQ(found(short_of_one, {}).size(), 1u) << "the node lists A5";
  EXPECT_EQ(found(short_of_one, {})[0].finding, Finding::not_observed);
  EXPECT_EQ(found({}, {}).at(0).finding, Finding::not_observed);
}

/// The names of what is missing.
std::vector<std::string> missing(const Profile& profile, const Seen& seen,
                                 std::vector<PartPlace> places = {}) {
  std::vector<std::string> names;
  for (const auto& each : audit(profile, {.places = std::move(places)}, seen))
    if (each.finding == Finding::missing) names.push_back(each.part);
  return names;
}

/// `stem` with the numbers from `first` to before `end`, without `gone`.
std::vector<Part> row(PartKind kind, const std::string& stem, int first, int end, int gone = -1) {
  std::vector<Part> parts;
  for (int i = first; i < end; ++i)
    if (i != gone) parts.push_back(of_bmc(kind, stem + std::to_string(i)));
  return parts;
}

TEST(Audit, NamesNoPartByCounting) {
  const auto psus = row(PartKind::psu, "psu", 1, 6), hcas = row(PartKind::hca, "mlx5_", 0, 11),
             drives = row(PartKind::nvme, "nvme", 1, 10);
  auto pair = row(PartKind::dimm, "dimm A", 2, 9), others = row(PartKind::dimm, "dimm B", 2, 9);
  pair.insert(pair.end(), others.begin(), others.end());

  EXPECT_EQ(missing(with(PartKind::psu, 6), {.by_bmc = psus}), std::vector<std::string>{"psu"});
  EXPECT_EQ(missing(with(PartKind::hca, 12), {.by_node = hcas}), std::vector<std::string>{"hca"});
  EXPECT_EQ(missing(with(PartKind::nvme, 10), {.by_node = drives}),
            std::vector<std::string>{"nvme"});
  EXPECT_EQ(missing(with(PartKind::dimm, 16), {.by_node = pair}), std::vector<std::string>{"dimm"});
}

TEST(Audit, NamesAPartByTheGapThatItLeavesInARowOfNames) {
  const auto psus = row(PartKind::psu, "psu", 0, 6, 2),
             hcas = row(PartKind::hca, "mlx5_", 0, 12, 7);

  EXPECT_EQ(missing(with(PartKind::psu, 6), {.by_bmc = psus}), std::vector<std::string>{"psu2"});
  EXPECT_EQ(missing(with(PartKind::hca, 12), {.by_node = hcas}),
            std::vector<std::string>{"mlx5_7"});
}

std::vector<Part> drives_at(std::vector<std::string> slots) {
  std::vector<Part> parts;
  for (auto& slot : slots) {
    parts.push_back(of_bmc(PartKind::nvme, "nvme" + std::to_string(parts.size())));
    parts.back().slot = std::move(slot);
  }
  return parts;
}

// The kernel counts drives as they answer: nvme1 of three is nvme1 of two as well.
TEST(Audit, NamesWhatIsMissingByThePlacesOfOtherMachines) {
  const std::vector<PartPlace> places{{PartKind::nvme, false, "nvme0", "0000:01:00.0"},
                                      {PartKind::nvme, false, "nvme1", "0000:02:00.0"},
                                      {PartKind::nvme, false, "nvme2", "0000:03:00.0"}};
  const auto renumbered = drives_at({"0000:01:00.0", "0000:03:00.0"}),
             last = drives_at({"0000:01:00.0", "0000:02:00.0"}),
             elsewhere = drives_at({"0000:01:00.0", "0000:99:00.0"});
  const auto profile = with(PartKind::nvme, 3);

  EXPECT_EQ(missing(profile, {.by_node = renumbered}, places),
            std::vector<std::string>{"nvme at 0000:02:00.0"});
  EXPECT_EQ(missing(profile, {.by_node = last}, places), std::vector<std::string>{"nvme2"});
  EXPECT_EQ(missing(profile, {.by_node = elsewhere}, places), std::vector<std::string>{"nvme"})
      << "a part sits where none of the others has one";
}

TEST(Audit, NamesWhatIsMissingByTheSlotsOfTheProfile) {
  auto profile = with(PartKind::psu, 3);
  profile.parts[0].slots = {"PSU0", "PSU1", "PSU2"};
  auto psus = row(PartKind::psu, "psu", 1, 3);
  for (auto& each : psus) each.slot = "PSU" + each.name.substr(3);

  EXPECT_EQ(missing(profile, {.by_bmc = psus}), std::vector<std::string>{"psu0"});
}

TEST(Audit, SeesThatBmcAndNodeAreTwoMachines) {
  Part system = of_bmc(PartKind::system, "system", "");
  system.serial = "SN2";
  const std::vector<Part> node{system};

  EXPECT_THAT(audit({}, {.serial = "SN2"}, {{}, node, "SN2"}), IsEmpty());
  EXPECT_EQ(audit({}, {.serial = "SN1"}, {{}, node, "SN1"}).at(0).observed, "SN2");
  EXPECT_EQ(audit({}, {}, {{}, node, "SN1"}).at(0).finding, Finding::wrong_serial);
}

}  // namespace
}  // namespace cupel::inventory
