// What the operating system sees of settings that a BMC reports as set.
#include "orchestrator/settings/os_view.h"

#include "tests/orchestrator/settings/reported.h"

namespace cupel::settings {
namespace {

burnin::Findings two_sockets(double iommu, double nodes, double threads) {
  burnin::Findings facts;
  facts.measurements = {{.name = "iommu.on", .value = iommu},
                        {.name = "numa.nodes", .value = nodes},
                        {.name = "cpu.count", .value = 2},
                        {.name = "cpu.threads", .value = threads}};
  for (const auto* name : {"cpu0", "cpu1"}) {
    auto& cpu = facts.parts.emplace_back();
    cpu.kind = inventory::PartKind::cpu;
    cpu.name = name;
    cpu.count = 56;
  }
  return facts;
}

OsView view_of(std::vector<inventory::ExpectedPortable> expected, const burnin::Findings& facts) {
  return os_view({.portable = std::move(expected)}, facts);
}

const std::vector<inventory::ExpectedPortable> kExpectedSettings{
    {"iommu", "on"}, {"numa_per_socket", "2"}, {"smt", "off"}, {"sol", "on"}};

TEST(OsView, ConfirmsWhatTheKernelSees) {
  const auto view = view_of(kExpectedSettings, two_sockets(1, 4, 112));

  EXPECT_THAT(view.confirmed, ElementsAre("iommu", "numa_per_socket", "smt"));
  EXPECT_THAT(view.contradicted, IsEmpty());
}

TEST(OsView, NamesWhatTheKernelSeesOtherwiseWithItsMeasure) {
  const auto view = view_of(kExpectedSettings, two_sockets(0, 2, 224));

  EXPECT_THAT(
      view.contradicted,
      ElementsAre(
          "iommu is off to the operating system (iommu.on 0), expected on",
          "numa_per_socket is 1 to the operating system (numa.nodes 2, cpu.count 2), "
          "expected 2",
          "smt is on to the operating system (cpu.threads 224 of 112 cores), expected off"));
}

TEST(OsView, SaysNothingOfWhatWasNotMeasured) {
  const auto view = view_of(kExpectedSettings, {});

  EXPECT_THAT(view.confirmed, IsEmpty());
  EXPECT_THAT(view.contradicted, IsEmpty());
}

TEST(OsView, DoesNotJudgeNumaNodesThatDoNotDivideBySockets) {
  const auto view = view_of({{"numa_per_socket", "1"}}, two_sockets(1, 3, 224));

  EXPECT_THAT(view.contradicted, IsEmpty());
  EXPECT_THAT(view.confirmed, IsEmpty());
}

burnin::Findings with_acs(double iommu, double first, double second) {
  burnin::Findings facts;
  facts.measurements = {{.name = "iommu.on", .value = iommu},
                        {.name = "pcie.acs", .part = "gpu0", .value = first},
                        {.name = "pcie.acs", .part = "gpu1", .value = second}};
  return facts;
}

TEST(OsView, TakesAcsFromTheBridgesAboveTheDevices) {
  const auto on = view_of({{"acs", "on"}}, with_acs(1, 0, 2));
  const auto off = view_of({{"acs", "off"}}, with_acs(0, 0, 0));
  const auto redirected = view_of({{"acs", "off"}}, with_acs(1, 0, 2));
  const auto missing = view_of({{"acs", "on"}}, with_acs(1, 0, 0));

  EXPECT_THAT(on.confirmed, ElementsAre("acs"));
  EXPECT_THAT(off.confirmed, ElementsAre("acs"));
  EXPECT_THAT(
      redirected.contradicted,
      ElementsAre("acs is on to the operating system (pcie.acs of 1 of 2 devices), expected off"));
  EXPECT_THAT(
      missing.contradicted,
      ElementsAre("acs is off to the operating system (pcie.acs of 0 of 2 devices), expected on"));
}

/// The kernel turns ACS on for its IOMMU alone.
TEST(OsView, DoesNotJudgeThatAcsIsOnWhereTheKernelUsesNoIommu) {
  const auto view = view_of({{"acs", "on"}}, with_acs(0, 0, 0));

  EXPECT_THAT(view.contradicted, IsEmpty());
  EXPECT_THAT(view.confirmed, IsEmpty());
}

burnin::Findings booted(double uefi, std::optional<double> secure, double setup) {
  burnin::Findings facts;
  facts.measurements = {{.name = "uefi.boot", .value = uefi},
                        {.name = "uefi.setup_mode", .value = setup}};
  if (secure) facts.measurements.push_back({.name = "uefi.secure_boot", .value = *secure});
  return facts;
}

TEST(OsView, TakesSecureBootFromTheFirmwaresVariables) {
  const auto on = view_of({{"secure_boot", "on"}}, booted(1, 1, 0));
  const auto off = view_of({{"secure_boot", "on"}}, booted(1, 0, 0));
  const auto without_key = view_of({{"secure_boot", "on"}}, booted(1, 1, 1));
  const auto by_bios = view_of({{"secure_boot", "on"}}, booted(0, std::nullopt, 0));
  const auto unknown = view_of({{"secure_boot", "off"}}, booted(1, std::nullopt, 0));

  EXPECT_THAT(on.confirmed, ElementsAre("secure_boot"));
  EXPECT_THAT(
      off.contradicted,
      ElementsAre("secure_boot is off to the operating system (uefi.secure_boot 0), expected on"));
  EXPECT_THAT(without_key.contradicted,
              ElementsAre("secure_boot is off to the operating system (uefi.secure_boot 1, "
                          "uefi.setup_mode 1), expected on"));
  EXPECT_THAT(by_bios.contradicted,
              ElementsAre("secure_boot is off to the operating system (uefi.boot 0), expected on"));
  EXPECT_THAT(unknown.confirmed, IsEmpty());
  EXPECT_THAT(unknown.contradicted, IsEmpty());
}

burnin::Findings with_console(double serial, std::string command_line) {
  burnin::Findings facts;
  facts.measurements = {{.name = "console.serial", .value = serial}};
  facts.facts["kernel.command_line"] = std::move(command_line);
  return facts;
}

TEST(OsView, MissesASerialConsoleOnlyWhereTheCommandLineAsksForOne) {
  const auto works = view_of({{"sol", "on"}}, with_console(1, "ro"));
  const auto missing = view_of({{"sol", "on"}}, with_console(0, "ro console=ttyS1,115200n8"));
  const auto not_asked = view_of({{"sol", "on"}}, with_console(0, "ro console=tty0"));
  const auto off = view_of({{"sol", "off"}}, with_console(1, "ro console=ttyS0"));

  EXPECT_THAT(works.confirmed, ElementsAre("sol"));
  EXPECT_THAT(missing.contradicted,
              ElementsAre("sol is off to the operating system (console.serial 0, and its command "
                          "line has a serial console), expected on"));
  for (const auto& view : {not_asked, off}) {
    EXPECT_THAT(view.confirmed, IsEmpty());
    EXPECT_THAT(view.contradicted, IsEmpty());
  }
}

burnin::Findings with_governor(std::string governor, std::string preference) {
  burnin::Findings facts;
  facts.facts["cpu.governor"] = std::move(governor);
  if (!preference.empty()) facts.facts["cpu.energy_preference"] = std::move(preference);
  return facts;
}

TEST(OsView, HoldsThePowerProfileAgainstTheClocksThatTheKernelChooses) {
  const auto fast = view_of({{"power_profile", "performance"}}, with_governor("performance", ""));
  const auto preferred =
      view_of({{"power_profile", "performance"}}, with_governor("powersave", "performance"));
  const auto slow =
      view_of({{"power_profile", "performance"}}, with_governor("powersave", "power"));
  const auto saves = view_of({{"power_profile", "efficiency"}}, with_governor("powersave", ""));

  EXPECT_THAT(fast.confirmed, ElementsAre("power_profile"));
  EXPECT_THAT(preferred.confirmed, ElementsAre("power_profile"));
  EXPECT_THAT(
      slow.contradicted,
      ElementsAre("power_profile is efficiency to the operating system (cpu.governor powersave, "
                  "cpu.energy_preference power), expected performance"));
  EXPECT_THAT(saves.confirmed, ElementsAre("power_profile"));
}

TEST(OsView, DoesNotJudgeThePowerProfileByTheKernelsOwnDefaults) {
  const std::vector<burnin::Findings> all{with_governor("powersave", "balance_performance"),
                                          with_governor("schedutil", ""),
                                          with_governor("mixed", "mixed"),
                                          {}};
  for (const auto& facts : all) {
    const auto view = view_of({{"power_profile", "performance"}}, facts);
    EXPECT_THAT(view.confirmed, IsEmpty());
    EXPECT_THAT(view.contradicted, IsEmpty());
  }
}

OsView view_of_order(const std::string& kinds) {
  burnin::Findings facts;
  facts.facts["boot.order"] = kinds;
  return os_view({.boot_order = {"pxe", "disk"}}, facts);
}

TEST(OsView, HoldsTheBootOrderAgainstTheFirmwaresOwn) {
  EXPECT_THAT(view_of_order("pxe, disk, shell").confirmed, ElementsAre("boot_order"));
  EXPECT_THAT(view_of_order("disk").contradicted,
              ElementsAre("boot_order is disk to the operating system (BootOrder of the firmware), "
                          "expected pxe, disk"));
  EXPECT_THAT(view_of_order("disk, pxe, other").contradicted,
              ElementsAre("boot_order is disk, pxe, other to the operating system (BootOrder of "
                          "the firmware), expected pxe, disk"));
}

TEST(OsView, DoesNotJudgeABootOrderInWhichOnlyUnknownEntriesStandInTheWay) {
  for (const auto* kinds : {"other, pxe, disk", "disk, other", ""}) {
    const auto view = view_of_order(kinds);
    EXPECT_THAT(view.confirmed, IsEmpty()) << kinds;
    EXPECT_THAT(view.contradicted, IsEmpty()) << kinds;
  }
}

}  // namespace
}  // namespace cupel::settings
