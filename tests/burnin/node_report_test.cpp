// What cupel-node says, as the controller reads it.
#include <gmock/gmock.h>

#include "burnin/criteria/judge.h"
#include "tests/burnin/gpu_xml.h"
#include "tests/burnin/node_lines.h"
#include "tests/burnin/stages.h"

namespace cupel::burnin {
namespace {

using inventory::PartKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Findings watched(const std::string& text = std::string{kWatchLines}) {
  const auto found = parsed("watch", text);
  EXPECT_TRUE(found) << found.error().what;
  return found ? *found : Findings{};
}

TEST(WatchReport, TellsMaximaAndMeansByTheProfilesNames) {
  const auto found = watched();

  EXPECT_EQ(value_of(found, "gpu.temperature", "gpu1"), 71);
  EXPECT_EQ(value_of(found, "gpu.temperature.memory", "gpu1"), 88);
  EXPECT_EQ(value_of(found, "gpu.power", "gpu1"), 699.5);
  EXPECT_EQ(value_of(found, "gpu.power.mean", "gpu1"), 650);
  EXPECT_EQ(value_of(found, "gpu.clock.sm.least", "gpu1"), 1410);
  EXPECT_EQ(value_of(found, "gpu.responsive", "gpu1"), 1);
  EXPECT_EQ(value_of(found, "cpu.temperature", "cpu0"), 61);
  EXPECT_EQ(value_of(found, "fan.speed", "fan3"), 8800);
  EXPECT_EQ(value_of(found, "watch.cpu"), 0.2);
}

TEST(WatchReport, TellsOfCountersOnlyWhatIsNew) {
  const auto found = watched();

  EXPECT_EQ(value_of(found, "gpu.ecc.uncorrected.new", "gpu1"), 2);
  EXPECT_EQ(value_of(found, "ib.port.symbol_errors.new", "mlx5_3"), 7);
  EXPECT_EQ(value_of(found, "ib.port.sent", "mlx5_3"), 64);
  EXPECT_EQ(value_of(found, "nvlink.symbol_errors.new", "gpu1"), 9);
  EXPECT_EQ(value_of(found, "nvlink.recoveries.failed.new", "gpu1"), 1);
  EXPECT_EQ(value_of(found, "nvlink.ber.symbol", "gpu1"), 3e-11);
  EXPECT_EQ(value_of(found, "edac.corrected.new", "mc0"), 0);
}

TEST(WatchReport, TellsHowLongHeatHeldAGpuBackAndNoSecondsWhereItDidNot) {
  const auto found = watched();

  EXPECT_EQ(value_of(found, "gpu.throttle.thermal", "gpu1"), 12);
  EXPECT_EQ(value_of(found, "gpu.throttle.power", "gpu1"), 280);
  EXPECT_EQ(value_of(found, "gpu.throttle.power_brake", "gpu1"), 0);
  EXPECT_EQ(value_of(found, "gpu.throttle.thermal", "gpu2"), 0);
  EXPECT_EQ(value_of(found, "gpu.throttle.thermal", "gpu7"), std::nullopt);
}

TEST(WatchReport, GivesEachGpuItsFirstSeriousXidAndNoFloods) {
  const auto found = watched();

  EXPECT_EQ(value_of(found, "kernel.xid", "gpu1"), 94);
  EXPECT_EQ(value_of(found, "kernel.xid", "gpu2"), 0);
  EXPECT_EQ(value_of(found, "kernel.xid.count"), 4);
  EXPECT_EQ(value_of(found, "kernel.sxid", "nvswitch2"), 20034);
  EXPECT_EQ(value_of(found, "kernel.mlx5"), 0);
  EXPECT_EQ(value_of(found, "kernel.aer.corrected"), 3);
  EXPECT_EQ(value_of(found, "kernel.aer.corrected", "gpu2"), 3);
  EXPECT_EQ(value_of(found, "kernel.oom"), 0);
}

TEST(WatchReport, SaysWhenAFaultWasFirstSeen) {
  auto text = std::string{kWatchLines};
  text.insert(text.find(R"({"kind":"message")"),
              R"({"kind":"sample","seconds":2.5,"parts":{"gpu0":{"throttle":["sw-thermal"]}}})"
              "\n");

  const auto found = watched(text);

  EXPECT_EQ(value_of(found, "first.gpu.throttle.thermal", "gpu1"), 2.5);
  EXPECT_EQ(value_of(found, "first.kernel.xid.94", "gpu1"), 3.1);
  EXPECT_EQ(value_of(found, "first.kernel.xid.63", "gpu1"), 3.2);
  EXPECT_EQ(value_of(found, "first.gpu.throttle.power", "gpu1"), std::nullopt)
      << "power at its limit is no fault";
  EXPECT_EQ(value_of(watched(), "first.gpu.throttle.thermal", "gpu1"), std::nullopt);
}

TEST(WatchReport, IsInconclusiveWithoutTheKernelsLog) {
  const auto found =
      watched(replaced(std::string{kWatchLines}, R"("kernel_log":true,"kernel_records")",
                       R"("kernel_log":false,"kernel_records")"));

  EXPECT_EQ(value_of(found, "kernel.xid", "gpu1"), std::nullopt);
  EXPECT_EQ(value_of(found, "kernel.oom"), std::nullopt);
  EXPECT_EQ(value_of(found, "gpu.temperature", "gpu1"), 71);
}

TEST(WatchReport, IsNoMeasurementWhereTheWatchWasEndedEarlyOrCut) {
  const std::string whole{kWatchLines};

  EXPECT_FALSE(parsed("watch", replaced(whole, R"("complete":true)", R"("complete":false)")));
  EXPECT_FALSE(parsed("watch", whole.substr(0, whole.rfind("{\"kind\":\"summary\""))));
  EXPECT_FALSE(parsed("watch", whole.substr(0, whole.size() - 20)));
  EXPECT_FALSE(parsed("watch", ""));
  EXPECT_FALSE(parsed("watch", "cupel-gave-up: cupel-node is not installed on the node\n", 69));
}

TEST(FactsReport, NamesPartsAndTheirLinks) {
  const auto found = parsed("facts", std::string{kFactsLine});

  ASSERT_TRUE(found) << found.error().what;
  const auto& facts = *found;
  EXPECT_THAT(names_of(facts, PartKind::gpu), ElementsAre("gpu1"));
  EXPECT_THAT(names_of(facts, PartKind::hca), ElementsAre("mlx5_3"));
  EXPECT_THAT(names_of(facts, PartKind::nvme), ElementsAre("nvme0"));
  EXPECT_THAT(names_of(facts, PartKind::switch_chip), ElementsAre("nvswitch0"));
  EXPECT_EQ(value_of(facts, "gpu.count"), 1);
  EXPECT_EQ(value_of(facts, "pcie.narrow", "gpu1"), 1);
  EXPECT_EQ(value_of(facts, "pcie.slow", "gpu1"), 0);
  EXPECT_EQ(value_of(facts, "pcie.bandwidth", "gpu1"), 252.06);
  EXPECT_EQ(facts.facts.at("pcie.weakest.gpu1"), "0000:41:00.0 below 0000:40:01.0: width 8 of 16");
  EXPECT_EQ(value_of(facts, "pcie.acs", "gpu1"), 1);
  // One bridge could not be asked, and none of the others sends peers up.
  EXPECT_EQ(value_of(facts, "pcie.acs", "mlx5_3"), std::nullopt);
  EXPECT_EQ(value_of(facts, "ib.port.rate", "mlx5_3"), 400);
  EXPECT_EQ(value_of(facts, "nvlink.active", "gpu1"), 1);
  EXPECT_EQ(value_of(facts, "gpu.fabric.ready", "gpu1"), 1);
  EXPECT_EQ(value_of(facts, "nvme.used", "nvme0"), 3);
  EXPECT_EQ(value_of(facts, "time.synchronised"), 0);
  EXPECT_EQ(value_of(facts, "time.service", "time service"), std::nullopt)
      << "this program does not say";
  EXPECT_EQ(value_of(facts, "edac.uncorrected"), 1);
  EXPECT_EQ(value_of(facts, "edac.uncorrected", "dimm A7"), 1);
  EXPECT_TRUE(says_unknown(facts, "SMART of nvme1"));
  EXPECT_THAT(names_of(facts, PartKind::dimm), ElementsAre("dimm A7")) << "A8 is empty";
  EXPECT_EQ(value_of(facts, "dimm.speed", "dimm A7"), 4400);
  EXPECT_TRUE(says_unknown(facts, "size of dimm B1"));
}

TEST(FactsReport, ATimeServiceThatDoesNotRunFailsWhileTheClockIsStillSynchronised) {
  const auto of = [](const std::string& keeper) {
    return parsed("facts", replaced(std::string{kFactsLine}, R"("synchronised":false)",
                                    R"("synchronised":true,"keeper":")" + keeper + "\""));
  };
  const auto met = [](const Findings& found) {
    for (const auto& each : judge(profile("dgx-h100"), {"facts"}, {{"facts", found}}))
      if (each.measure == "time.service") return each.met;
    return Met::missing;
  };

  const auto runs = of("chronyd"), stopped = of("none");

  ASSERT_TRUE(runs && stopped);
  EXPECT_EQ(value_of(*runs, "time.service", "time service"), 1);
  EXPECT_EQ(value_of(*stopped, "time.service", "time service"), 0);
  EXPECT_EQ(met(*runs), Met::met);
  EXPECT_EQ(met(*stopped), Met::failed);
}

constexpr std::string_view kSettingsOfAUefi =
    R"("firmware":{"boot_mode":"uefi","secure_boot":false,"setup_mode":true,)"
    R"("boot_current":"Boot0003","boot_order":[)"
    R"({"name":"Boot0003","label":"ubuntu","active":true,"kind":"disk"},)"
    R"({"name":"Boot0004","label":"old","active":true,"kind":"disk"},)"
    R"({"name":"Boot0005","label":"CD","active":false,"kind":"cd"},)"
    R"({"name":"Boot0001","label":"NIC","active":true,"kind":"pxe"},{"name":"Boot0002"}]},)"
    R"("consoles":[{"name":"tty0","enabled":true,"serial":false},)"
    R"({"name":"ttyS0","enabled":true,"serial":true,"uart":true},)"
    R"({"name":"ttyS1","enabled":true,"serial":true,"uart":false}],)"
    R"("cpufreq":{"policies":2,"governor":"powersave","energy_preference":"power"},"drivers":{)";

TEST(FactsReport, ShowsWhatTheSystemSeesOfItsFirmwaresSettings) {
  const auto text = replaced(std::string{kFactsLine}, R"("drivers":{)", kSettingsOfAUefi);
  const auto found = parsed("facts", text);

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "uefi.boot"), 1);
  EXPECT_EQ(value_of(*found, "uefi.secure_boot"), 0);
  EXPECT_EQ(value_of(*found, "uefi.setup_mode"), 1);
  EXPECT_EQ(value_of(*found, "console.serial"), 1);
  EXPECT_EQ(found->facts.at("boot.order"), "disk, pxe, other");
  EXPECT_EQ(found->facts.at("boot.entries"),
            "Boot0003 ubuntu (disk); Boot0004 old (disk); Boot0005 CD (cd, inactive); "
            "Boot0001 NIC (pxe); Boot0002  (other)");
  EXPECT_EQ(found->facts.at("boot.current"), "Boot0003");
  EXPECT_EQ(found->facts.at("cpu.governor"), "powersave");
  EXPECT_EQ(found->facts.at("cpu.energy_preference"), "power");
}

TEST(FactsReport, HasNoSettingsThatTheProgramDoesNotReport) {
  const auto found = parsed("facts", std::string{kFactsLine});

  ASSERT_TRUE(found) << found.error().what;
  for (const auto* name : {"uefi.boot", "uefi.secure_boot", "uefi.setup_mode", "console.serial"})
    EXPECT_EQ(value_of(*found, name), std::nullopt) << name;
  for (const auto* name : {"boot.order", "boot.entries", "cpu.governor"})
    EXPECT_FALSE(found->facts.contains(name)) << name;
}

TEST(FactsReport, CountsNoGpuThatDoesNotAnswerAndNoneWhereNvmlDoesNotWork) {
  const auto silent =
      parsed("facts", replaced(std::string{kFactsLine}, R"("memory":85899345920,)", ""));
  const auto none =
      parsed("facts", replaced(std::string{kFactsLine}, R"("gpus":[)", R"("others":[)"));

  ASSERT_TRUE(silent && none);
  EXPECT_EQ(value_of(*silent, "gpu.count"), 0);
  EXPECT_TRUE(says_unknown(*silent, "gpu1"));
  EXPECT_EQ(value_of(*none, "gpu.count"), std::nullopt);
}

TEST(FactsReport, IsNoneWhereTheDocumentIsCut) {
  const std::string whole{kFactsLine};

  EXPECT_FALSE(parsed("facts", whole.substr(0, whole.size() / 2)));
  EXPECT_FALSE(parsed("facts", "{}"));
  EXPECT_FALSE(parsed("facts", "cupel-gave-up: cupel-node is not installed on the node\n", 69));
}

TEST(WatchStage, AsksForItsTimeAndRefusesTooMuch) {
  const auto job = prepared("watch", {{"duration", "72h"}, {"every", "2s"}});

  ASSERT_TRUE(job) << job.error().what;
  EXPECT_THAT(job->script, HasSubstr("cupel-node watch --seconds 259200 --every 2 --print 1296\n"));
  EXPECT_GT(job->limit, std::chrono::hours{72});
  EXPECT_FALSE(prepared("watch", {{"duration", "8d"}}));
  EXPECT_FALSE(prepared("watch", {{"every", "0s"}}));
}

/// The same machine, in which these two came up so: lanes of four, or sixteen; GT/s of 16, or 32.
Output with_links(const std::string& lanes, const std::string& speed, const std::string& hca_lanes,
                  const std::string& hca_speed) {
  auto text = replaced(std::string{kFactsLine}, R"("pci":[{)",
                       R"("pci":[{"address":"0000:c1:00.0","kind":"nvme","vendor":"0x144d",)"
                       R"("numa":1,"hops":[{"below":"0000:c1:00.0","above":"0000:c0:03.0",)"
                       R"("speed":)" +
                           speed + R"(,"width":)" + lanes +
                           R"(,"max_speed":16,"max_width":4}],"bridges":[]},{)");
  text = replaced(text, R"("above":"0000:53:01.0","speed":32,"width":16)",
                  R"("above":"0000:53:01.0","speed":)" + hca_speed + R"(,"width":)" + hca_lanes);
  return {std::move(text), "", 0};
}

/// "nvme0: pcie.narrow" of each link of a drive or an HCA that fails.
std::vector<std::string> bad_links(const std::string& machine, const Output& output) {
  const auto found = stage("facts")->parse(profile(machine), output);
  if (!found) return {found.error().what};
  std::vector<std::string> bad;
  for (const auto& each : judge(profile(machine), {"facts"}, {{"facts", *found}}))
    if (each.met == Met::failed && (each.measure == "pcie.narrow" || each.measure == "pcie.slow") &&
        !each.part.starts_with("gpu"))
      bad.push_back(each.part + ": " + each.measure);
  std::ranges::sort(bad);
  return bad;
}

TEST(FactsReport, OfADriveOrAnHcaWithASlowOrNarrowLinkFailsEveryShippedMachine) {
  for (const auto* machine : {"dgx-h100", "hgx-h100-8", "a100-8", "dgx-h200", "dgx-b200",
                              "gb200-nvl72-tray", "l40s-8", "cpu-server"}) {
    EXPECT_THAT(bad_links(machine, with_links("4", "16", "16", "32")), IsEmpty()) << machine;
    EXPECT_THAT(bad_links(machine, with_links("1", "16", "8", "32")),
                ElementsAre("mlx5_3: pcie.narrow", "nvme0: pcie.narrow"))
        << machine;
    EXPECT_THAT(bad_links(machine, with_links("4", "8", "16", "16")),
                ElementsAre("mlx5_3: pcie.slow", "nvme0: pcie.slow"))
        << machine;
  }
}

}  // namespace
}  // namespace cupel::burnin
