#include "burnin/fabric/link_health.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "burnin/fabric/counter_growth.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::chrono::minutes kLongWindow{130}, kShortWindow{12};
const PortId kHca{"n03", "mlx5_0", 1};
const PortId kLeaf{"leaf1-r1", "", 3};

MlxlinkReport good_report() {
  MlxlinkReport report{
      .state = "Active",
      .speed = "NDR",
      .width = 4,
      .fec = "Ethernet_Consortium_LL_50G_RS_FEC_PLR -(272,257+1)",
      .firmware = "28.43.2026",
      .minutes_since_clear = 3000,
      .raw_ber = 2e-9,
      .effective_ber = 1.5e-254,
      .symbol_ber = 1.5e-254,
      .lane_ber = {2e-9, 1e-9, 2e-9, 3e-9},
      .module = {.type = "Optical Module (separated)",
                 .part = "MMS4X00-NS400",
                 .celsius = Ranged{55, -10, 80},
                 .rx_dbm = {{2.1, -9, 6}, {2.0, -9, 6}, {1.8, -9, 6}, {2, -9, 6}}}};
  return report;
}

/// Eight nodes at one leaf, with a report of each end and all counters at 0.
LinkLook look(std::chrono::minutes after) {
  LinkLook all{.taken = std::chrono::sys_seconds{} + after, .absent_is_zero = true};
  for (int node = 1; node <= 8; ++node) {
    const PortId hca{fmt::format("n{:02}", node), "mlx5_0", 1}, leaf{"leaf1-r1", "", node};
    all.links.push_back({hca, leaf, 4, "NDR"});
    all.reports[hca] = all.reports[leaf] = good_report();
    all.reports[leaf].firmware = "31.2014.1068";
  }
  return all;
}

struct Windows {
  LinkLook first = look(std::chrono::minutes{0});
  LinkLook second = look(kLongWindow);
  LinkHealth judge() const { return judge_links(&first, second); }
};

std::vector<std::string> faults_of(const LinkHealth& health) {
  std::vector<std::string> all;
  for (const auto& finding : health.findings)
    for (const auto& defect : finding.defects)
      all.push_back(finding.link.from.device + " " + std::string{to_string(defect.fault)});
  return all;
}

std::vector<std::string> reasons_of(const LinkHealth& health) {
  std::vector<std::string> all;
  for (const auto& one : health.unassessed) all.push_back(one.reason);
  return all;
}

auto step(Repair repair, const std::string& words) {
  return ::testing::AllOf(::testing::Field(&RepairStep::repair, repair),
                          ::testing::Field(&RepairStep::text, HasSubstr(words)));
}

TEST(LinkHealth, LinksWithoutGrowthPass) {
  const auto health = Windows{}.judge();

  EXPECT_TRUE(health.passed());
  EXPECT_EQ(health.links, 8u);
  EXPECT_THAT(reasons_of(health), IsEmpty());
}

TEST(LinkHealth, AGrownErrorCounterIsARateAtItsEndWithTheRepairInOrder) {
  Windows looks;
  looks.first.counters[kLeaf] = {{"PortRcvErrors", 100}};
  looks.second.counters[kLeaf] = {{"PortRcvErrors", 230}};

  const auto health = looks.judge();

  ASSERT_THAT(faults_of(health), ElementsAre("n03 errors"));
  EXPECT_EQ(health.findings[0].defects[0].what,
            "PortRcvErrors grew by 130 at leaf1-r1 port 3: 60 an hour");
  EXPECT_THAT(health.findings[0].repair,
              ElementsAre(step(Repair::clear, "Clear the counters"),
                          step(Repair::reseat, "clean connectors"),
                          step(Repair::transceivers, "transceivers at both ends"),
                          step(Repair::fibre, "fibre")));
}

TEST(LinkHealth, ErrorsThatOtherLinksCauseAreListedAndDoNotCount) {
  Windows looks;
  looks.second.counters[kLeaf] = {
      {"PortRcvRemotePhysicalErrors", 900}, {"PortXmitDiscards", 50}, {"PortXmitWait", 0}};

  const auto health = looks.judge();

  EXPECT_TRUE(health.passed());
  EXPECT_THAT(
      health.listed,
      ElementsAre("PortRcvRemotePhysicalErrors grew by 900 at leaf1-r1 port 3 in 130 minutes",
                  "PortXmitDiscards grew by 50 at leaf1-r1 port 3 in 130 minutes"));
}

TEST(LinkHealth, LinkDownsCountOnlyWhereBothEndsGrew) {
  Windows looks;
  looks.second.counters[kLeaf] = {{"LinkDownedCounter", 3}};
  const auto one_end = looks.judge();
  EXPECT_THAT(reasons_of(one_end),
              ::testing::Contains(HasSubstr("link downs: 3 at one end alone")));
  looks.second.counters[kHca] = {{"LinkDownedCounter", 2}};
  const auto both = looks.judge();

  EXPECT_THAT(faults_of(one_end), IsEmpty());
  EXPECT_THAT(faults_of(both), ElementsAre("n03 flapped"));
  EXPECT_THAT(both.findings[0].defects[0].what, HasSubstr("went down 2 times in 130 minutes"));
}

TEST(LinkHealth, AnEndThatWasRestartedCountsWhatItHasCountedSince) {
  Windows looks;
  looks.first.counters[kHca] = {{"LinkDownedCounter", 5}};
  looks.first.counters[kLeaf] = {{"LinkDownedCounter", 5}};
  looks.second.counters[kLeaf] = {{"LinkDownedCounter", 15}};
  const auto silent = looks.judge();
  looks.second.counters[kHca] = {{"LinkDownedCounter", 1}};
  const auto counted = looks.judge();

  EXPECT_THAT(faults_of(silent), IsEmpty());
  EXPECT_THAT(reasons_of(silent),
              ::testing::Contains(HasSubstr("link downs: 10 at one end alone (leaf1-r1 port 3)")));
  ASSERT_THAT(faults_of(counted), ElementsAre("n03 flapped"));
  EXPECT_THAT(
      counted.findings[0].defects[0].what,
      HasSubstr("1 times in 130 minutes (at least 1 at n03 mlx5_0, 10 at leaf1-r1 port 3)"));
}

TEST(LinkHealth, ACounterThatFellOrStoodAtItsMaximumIsUnassessed) {
  Windows fell, stuck;
  fell.first.counters[kHca] = {{"PortRcvErrors", 40}};
  stuck.first.counters[kHca] = {{"LinkErrorRecoveryCounter", 255}};
  stuck.second.counters[kHca] = {{"LinkErrorRecoveryCounter", 255}};

  EXPECT_THAT(faults_of(fell.judge()), IsEmpty());
  EXPECT_THAT(reasons_of(fell.judge()), ElementsAre(HasSubstr("cleared")));
  EXPECT_THAT(faults_of(stuck.judge()), IsEmpty());
  EXPECT_THAT(reasons_of(stuck.judge()), ElementsAre(HasSubstr("at its maximum already")));
}

TEST(LinkHealth, ACounterThatReachedItsMaximumGrewByAtLeastThat) {
  Windows looks;
  looks.second.counters[kHca] = {{"PortRcvErrors", 65535}};

  const auto health = looks.judge();

  ASSERT_THAT(faults_of(health), ElementsAre("n03 errors"));
  EXPECT_THAT(health.findings[0].defects[0].what, HasSubstr("at least 65535"));
}

TEST(LinkHealth, WhatTheToolDidNotPrintIsUnassessedWhereItDidNotAskAllPorts) {
  Windows looks;
  looks.second.absent_is_zero = false;

  const auto health = looks.judge();

  EXPECT_THAT(faults_of(health), IsEmpty());
  EXPECT_FALSE(health.passed());
  ASSERT_THAT(health.unassessed, SizeIs(2));
  EXPECT_THAT(health.unassessed[0].ports, SizeIs(16));
}

TEST(LinkHealth, ABerBefore125MinutesIsNeitherGoodNorBad) {
  Windows looks;
  auto& report = looks.second.reports[kHca];
  report.symbol_ber = 3e-12;
  report.minutes_since_clear = 124.9;
  const auto young = looks.judge();
  report.minutes_since_clear = 125;
  const auto old = looks.judge();

  EXPECT_THAT(faults_of(young), IsEmpty());
  EXPECT_THAT(reasons_of(young), ElementsAre(HasSubstr("less than 125 minutes")));
  EXPECT_THAT(faults_of(old), ElementsAre("n03 symbol-ber"));
  EXPECT_THAT(old.findings[0].defects[0].what,
              HasSubstr("symbol BER 3.0e-12 at n03 mlx5_0: limit 1e-14 (NDR, optical)"));
}

TEST(LinkHealth, ABerOfALinkThatWentDownInTheMeantimeIsUnassessed) {
  Windows looks;
  looks.second.counters[kLeaf] = {{"LinkDownedCounter", 1}};
  looks.second.reports[kHca].raw_ber = 1e-3;

  const auto health = looks.judge();

  EXPECT_THAT(faults_of(health), IsEmpty());
  EXPECT_THAT(reasons_of(health), ElementsAre(HasSubstr("less than 125 minutes")));
}

TEST(LinkHealth, TheLimitOfARawBerIsThatOfItsMedium) {
  Windows looks;
  for (auto* port : {&looks.second.reports[kHca], &looks.second.reports[kLeaf]})
    port->raw_ber = 4e-6;
  EXPECT_TRUE(looks.judge().passed());

  looks.second.reports[kHca].module.type = "Passive copper cable";

  const auto health = looks.judge();
  ASSERT_THAT(faults_of(health), ElementsAre("n03 raw-ber"));
  EXPECT_THAT(health.findings[0].repair.back(), step(Repair::cable, "Replace the cable"));
}

TEST(LinkHealth, TheLimitOfABerIsThatOfItsChip) {
  Windows looks;
  for (auto* port : {&looks.second.reports[kHca], &looks.second.reports[kLeaf]}) {
    port->speed = "HDR";
    port->fec = "LL-FEC - (271,257) + PLR";
    port->raw_ber = 9e-6;
    port->symbol_ber = 5e-14;
    port->firmware = "20.35.1012";
  }
  looks.second.reports[kLeaf].firmware = "27.2010.3118";
  const auto of_16nm = looks.judge();
  looks.second.reports[kLeaf].firmware = "31.2014.1068";
  const auto of_7nm = looks.judge();
  looks.second.reports[kLeaf].firmware = "";
  const auto unknown = looks.judge();

  const auto of_ber = [](const LinkHealth& health) {
    auto faults = faults_of(health);
    std::erase_if(faults, [](const auto& fault) { return !fault.ends_with("-ber"); });
    return faults;
  };
  EXPECT_THAT(of_ber(of_16nm), IsEmpty());
  EXPECT_THAT(of_ber(of_7nm), ElementsAre("n03 raw-ber", "n03 symbol-ber"));
  EXPECT_THAT(of_ber(unknown), IsEmpty());
  EXPECT_THAT(reasons_of(unknown), ::testing::Contains(HasSubstr("between the limits 1e-07")));
}

TEST(LinkHealth, OfXdrNoLimitIsKnown) {
  Windows looks;
  for (auto& link : looks.second.links) link.speed = "XDR";
  for (auto& [port, report] : looks.second.reports) {
    report.speed = "XDR";
    report.fec = "Interleaved_Standard_RS_FEC_PLR - (544,514)";
  }

  EXPECT_THAT(reasons_of(looks.judge()), ElementsAre(HasSubstr("no limit is known")));
}

TEST(LinkHealth, SymbolErrorsAreABerOfTheTimeBetweenTheLooksWhereNoReportIs) {
  Windows looks;
  looks.first.reports.clear();
  looks.second.reports.clear();
  looks.second.counters[kLeaf] = {{"SymbolErrorCounter", 1200}};
  const auto after_long = looks.judge();
  looks.second.taken = looks.first.taken + kShortWindow;
  const auto after_short = looks.judge();

  ASSERT_THAT(faults_of(after_long), ElementsAre("n03 symbol-ber"));
  // 1200 / (4 lanes x 106.25 Gb/s x 7800 s)
  EXPECT_THAT(after_long.findings[0].defects[0].what, HasSubstr("symbol BER 3.6e-13"));
  EXPECT_THAT(faults_of(after_short), IsEmpty());
  EXPECT_THAT(reasons_of(after_short), ElementsAre(HasSubstr("less than 125 minutes")));
}

TEST(LinkHealth, OneLaneWithTenTimesTheErrorsAndLessLightIsDirty) {
  Windows looks;
  auto& report = looks.second.reports[kLeaf];
  report.lane_ber = {2e-9, 4e-8, 2e-9, 3e-9};
  const auto bright = looks.judge();
  report.module.rx_dbm[1].value = -0.2;
  const auto dim = looks.judge();

  EXPECT_THAT(faults_of(bright), IsEmpty());
  ASSERT_THAT(faults_of(dim), ElementsAre("n03 dirty-optics"));
  EXPECT_THAT(dim.findings[0].defects[0].what, HasSubstr("lane 2 at leaf1-r1 port 3"));
  EXPECT_THAT(dim.findings[0].repair.front(), step(Repair::reseat, "clean"));
}

TEST(LinkHealth, HotAndWarmingTransceiversAndLightOutOfRangeAreNamed) {
  Windows hot, warmer, dark;
  hot.first.reports[kHca].module.celsius = hot.second.reports[kHca].module.celsius =
      Ranged{70.5, -10, 80};
  warmer.second.reports[kHca].module.celsius = Ranged{65.5, -10, 80};
  dark.second.reports[kHca].module.rx_dbm[2].value = -40;

  EXPECT_THAT(faults_of(hot.judge()), ElementsAre("n03 temperature"));
  EXPECT_THAT(faults_of(warmer.judge()), ElementsAre("n03 temperature"));
  EXPECT_THAT(faults_of(dark.judge()), ElementsAre("n03 optical-power"));
}

TEST(LinkHealth, LightWithoutARangeIsJudgedByWhatNoReceiverSees) {
  Windows dim, dark;
  for (auto* looks : {&dim, &dark})
    for (auto& lane : looks->second.reports[kHca].module.rx_dbm)
      lane = {.value = looks == &dim ? -8.0 : -38.0};

  EXPECT_THAT(faults_of(dim.judge()), IsEmpty());
  EXPECT_THAT(reasons_of(dim.judge()), ElementsAre(HasSubstr("no range")));
  const auto health = dark.judge();
  EXPECT_THAT(faults_of(health), SizeIs(4));
  EXPECT_THAT(health.findings.at(0).defects.at(0).what,
              HasSubstr("receives -38 dBm; at -30 dBm and below there is no signal"));
}

TEST(LinkHealth, ALinkThatIsGoneAndAPortThatIsNotActiveAreNamed) {
  Windows gone, down;
  std::erase_if(gone.second.links, [](const LookedLink& link) { return link.from == kHca; });
  down.second.reports[kHca].state = "Polling";
  down.second.reports[kHca].opcode = 15;
  down.second.reports[kHca].recommendation = "Bad signal integrity";

  EXPECT_THAT(faults_of(gone.judge()), ElementsAre("n03 lost"));
  ASSERT_THAT(faults_of(down.judge()), ElementsAre("n03 not-active"));
  EXPECT_THAT(down.judge().findings[0].defects[0].what,
              HasSubstr("opcode 15: Bad signal integrity"));
}

TEST(LinkHealth, WhatIsUnlikeTheOthersOfItsKindIsNamed) {
  Windows looks;
  looks.second.links[0].width = 1;
  looks.second.links[1].speed = "HDR";
  looks.second.reports[kHca].firmware = "28.39.1002";
  looks.second.reports[PortId{"leaf1-r1", "", 4}].module.part = "MMA4Z00-NS";

  EXPECT_THAT(faults_of(looks.judge()),
              ElementsAre("n01 odd-width", "n02 odd-speed", "n03 odd-firmware", "n04 odd-cable"));
}

TEST(LinkHealth, AnotherLengthOfCableIsNoDefect) {
  Windows looks;
  const auto of = [](const std::string& part, double metres) {
    return CableModule{
        .type = "Active cable (active copper / optics)", .part = part, .metres = metres};
  };
  for (auto& [port, report] : looks.second.reports) report.module = of("MFA7U10-H010", 10);
  looks.second.reports[kHca].module = looks.second.reports[kLeaf].module = of("MFA7U10-H015", 15);
  const auto of_nvidia = looks.judge();
  for (auto& [port, report] : looks.second.reports) report.module = of("FCBN425QE1C10", 10);
  looks.second.reports[kHca].module = of("FCBN425QE1C15", 15);
  const auto of_others = looks.judge();
  looks.second.reports[kHca].module = of("FCBN425QE2C15", 15);
  const auto of_another_kind = looks.judge();

  EXPECT_THAT(faults_of(of_nvidia), IsEmpty());
  EXPECT_THAT(faults_of(of_others), IsEmpty());
  EXPECT_THAT(faults_of(of_another_kind), ElementsAre("n03 odd-cable"));
}

TEST(LinkHealth, CopperForNearRacksAmongOpticsIsNoDefect) {
  Windows looks;
  for (const auto& port : {kHca, kLeaf})
    looks.second.reports[port].module = {.type = "Passive copper cable", .part = "MCP4Y10-N002"};

  EXPECT_THAT(faults_of(looks.judge()), IsEmpty());
}

TEST(LinkHealth, AFasterLinkIsNoDefectAndHcasOfAnotherTypeAreAnotherKind) {
  Windows faster, other;
  for (auto& link : faster.second.links) link.speed = "EDR";
  faster.second.links[1].speed = "HDR";
  for (auto& link : other.second.links) link.hca_type = 0x1021;
  other.second.links[1].speed = "HDR";
  other.second.links[1].hca_type = 0x101b;
  const auto odd = [](const LinkHealth& health) {
    const auto faults = faults_of(health);
    return std::ranges::count_if(faults,
                                 [](const auto& fault) { return fault.ends_with("odd-speed"); });
  };

  EXPECT_EQ(odd(faster.judge()), 0);
  EXPECT_EQ(odd(other.judge()), 0);
  other.second.links[1].hca_type = 0x1021;
  EXPECT_EQ(odd(other.judge()), 1);
}

TEST(LinkHealth, TheFirmwareOfTransceiversOfOneKindIsCompared) {
  Windows looks;
  for (auto& [port, report] : looks.second.reports) report.module.firmware = "40.242.17";
  looks.second.reports[kHca].module.firmware = "40.1.2";

  const auto health = looks.judge();

  EXPECT_THAT(faults_of(health), ElementsAre("n03 odd-firmware"));
  ASSERT_EQ(health.findings.size(), 1u);
  EXPECT_THAT(health.findings[0].defects[0].what,
              HasSubstr("firmware of the transceiver 40.1.2 at n03 mlx5_0; "));
}

TEST(LinkHealth, TwoKindsInHalvesAreNotOdd) {
  Windows looks;
  for (std::size_t i = 0; i < 4; ++i) looks.second.links[i].speed = "HDR";

  EXPECT_THAT(faults_of(looks.judge()), IsEmpty());
}

TEST(LinkHealth, DoesNotPassAReportAboutAPortWithoutALink) {
  Windows counted, reported, down;
  counted.second.counters[{"n03", "HCA-1", 1}] = {{"PortRcvErrors", 900}};
  reported.second.reports[{"N03", "mlx5_0", 1}] = good_report();
  auto& report = down.second.reports[{"n09", "mlx5_0", 1}] = good_report();
  report.state = "Polling";
  report.recommendation = "No signal";

  EXPECT_THAT(reasons_of(counted.judge()), ElementsAre(HasSubstr("counters of a device")));
  EXPECT_THAT(reasons_of(reported.judge()), ElementsAre(HasSubstr("not among the links")));
  const auto health = down.judge();
  ASSERT_THAT(faults_of(health), ElementsAre("n09 not-active"));
  EXPECT_EQ(to_string(health.findings[0].link), "n09 mlx5_0");
  EXPECT_EQ(health.findings[0].defects[0].what, "state Polling: No signal");
}

TEST(LinkHealth, TheOpticsOfAPortThatNoLinkHasAreJudged) {
  Windows looks;
  auto& report = looks.second.reports[{"leaf9", "Ethernet8", 1}] = good_report();
  report.module.rx_dbm[2].value = -22.9;

  const auto health = looks.judge();

  ASSERT_THAT(faults_of(health), ElementsAre("leaf9 optical-power"));
  EXPECT_THAT(health.findings[0].defects[0].what, HasSubstr("lane 3 at leaf9 Ethernet8 receives"));
  EXPECT_THAT(reasons_of(health), ElementsAre(HasSubstr("not among the links")));
}

TEST(LinkHealth, OldCountersOfAPortWithoutACableDoNotMatter) {
  Windows looks;
  looks.second.counters[{"leaf1-r1", "", 30}] = {{"PortRcvErrors", 900}};

  EXPECT_TRUE(looks.judge().passed());
}

TEST(LinkHealth, OneLookJudgesBerAndOpticsAndLeavesCountersUnassessed) {
  auto only = look(kLongWindow);
  only.counters[kLeaf] = {{"PortRcvErrors", 900}, {"LinkDownedCounter", 4}};
  only.reports[kHca].effective_ber = 1e-9;

  const auto health = judge_links(nullptr, only);

  EXPECT_THAT(faults_of(health), ElementsAre("n03 effective-ber"));
  EXPECT_THAT(reasons_of(health), ElementsAre("counters: there is one look only"));
  EXPECT_THAT(health.listed, ElementsAre("since its counters were cleared, leaf1-r1 port 3 has "
                                         "LinkDownedCounter 4, PortRcvErrors 900"));
}

TEST(LinkHealth, OneLookJudgesCountersOfWhichItIsKnownWhenTheyWereCleared) {
  auto only = look(kLongWindow);
  for (const auto& port : {kHca, kLeaf}) {
    only.reports[port].minutes_since_clear = 200;
    only.reports[port].counters = {{"Link Down Counter", 200}, {"Symbol Errors", 60'000}};
  }

  const auto both = judge_links(nullptr, only);
  only.reports[kHca].counters = {{"Link Down Counter", 0}, {"Symbol Errors", 0}};
  only.reports[kLeaf].counters = {{"Link Down Counter", 20}, {"Symbol Errors", 0}};
  const auto one_end = judge_links(nullptr, only);

  EXPECT_THAT(faults_of(both), ElementsAre("n03 flapped", "n03 symbol-ber", "n03 symbol-ber"));
  EXPECT_THAT(both.findings[0].defects[0].what,
              HasSubstr("went down 200 times since its counters were cleared 200 minutes ago"));
  EXPECT_THAT(faults_of(one_end), IsEmpty());
  EXPECT_THAT(reasons_of(one_end), ::testing::Contains(HasSubstr("link downs: 20 since")));
}

}  // namespace
}  // namespace cupel::burnin
