#include "burnin/fabric/link_history.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace cupel::burnin {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Time = std::chrono::sys_seconds;

const PortId kHca{"n03", "mlx5_0", 1}, kLeaf{"leaf1-r1", "", 3};
constexpr Time kNoon{std::chrono::sys_days{std::chrono::year{2026} / 11 / 22} + hours{12}};

LinkLook look(Time at) {
  LinkLook all{.taken = at, .absent_is_zero = true};
  for (int node = 1; node <= 8; ++node)
    all.links.push_back(
        {{fmt::format("n{:02}", node), "mlx5_0", 1}, {"leaf1-r1", "", node}, 4, "NDR"});
  return all;
}

/// Two looks, by default at 12:00 and 14:10.
struct Windows {
  explicit Windows(Time first_at = kNoon, minutes apart = minutes{130})
      : first{look(first_at)}, second{look(first_at + apart)} {}

  Windows& grow(std::string_view counter) {
    for (const auto& port : {kHca, kLeaf}) second.counters[port][std::string{counter}] = 60;
    return *this;
  }

  FabricProgress follow(const std::vector<LinkEvent>& history) {
    health = judge_links(&first, second);
    return follow_repairs(health, &first, second, history);
  }

  std::vector<std::string_view> next() const {
    std::vector<std::string_view> names;
    for (const auto& finding : health.findings)
      for (const auto& step : finding.repair) names.push_back(to_string(step.repair));
    return names;
  }

  LinkLook first, second;
  LinkHealth health{};
};

LinkEvent judged(Time at, std::vector<LinkFault> faults) {
  LinkEvent event{.kind = LinkEvent::Kind::judged,
                  .at = at,
                  .here = kHca,
                  .there = kLeaf,
                  .since = at - minutes{130}};
  for (const auto fault : faults) event.defects.push_back({fault, "as it was"});
  return event;
}

LinkEvent repaired(Time at, Repair did, PortId here = kHca) {
  return {.at = at, .here = std::move(here), .by = "ada", .did = did};
}

std::vector<Outcome> outcomes(const FabricProgress& progress) {
  std::vector<Outcome> all;
  for (const auto& link : progress.links) all.push_back(link.outcome);
  return all;
}

TEST(LinkHistory, ARepairHelpedWhereTwoLooksAfterItFindNothingWrong) {
  const std::vector history{judged(kNoon - hours{2}, {LinkFault::errors}),
                            repaired(kNoon - hours{1}, Repair::reseat)};

  const auto progress = Windows{}.follow(history);

  ASSERT_THAT(outcomes(progress), ElementsAre(Outcome::helped));
  EXPECT_EQ(to_string(progress.links[0].link), "n03 mlx5_0 - leaf1-r1 port 3");
  EXPECT_THAT(progress.links[0].repairs, ElementsAre(history[1]));
  EXPECT_EQ(progress.links[0].was, history[0]);
  ASSERT_THAT(progress.judged, SizeIs(1));
  EXPECT_EQ(progress.judged[0], judged(kNoon + minutes{130}, {}));
}

TEST(LinkHistory, WhatDidNotHelpIsNotProposedAgainAndTheNextInOrderIs) {
  Windows looks;
  looks.grow("PortRcvErrors");

  const auto progress = looks.follow({judged(kNoon - hours{3}, {LinkFault::errors}),
                                      repaired(kNoon - hours{2}, Repair::clear),
                                      repaired(kNoon - hours{1}, Repair::reseat)});

  EXPECT_THAT(outcomes(progress), ElementsAre(Outcome::not_helped));
  EXPECT_THAT(looks.next(), ElementsAre("transceivers", "fibre"));
  ASSERT_THAT(progress.tried, SizeIs(1));
  EXPECT_THAT(progress.tried[0], SizeIs(2));
}

TEST(LinkHistory, ALaterRepairMakesThoseBeforeItNeedless) {
  Windows looks, all;
  looks.grow("PortRcvErrors").follow({repaired(kNoon - hours{1}, Repair::transceivers)});
  all.grow("PortRcvErrors").follow({repaired(kNoon - hours{1}, Repair::cable)});

  EXPECT_THAT(looks.next(), ElementsAre("fibre"));
  EXPECT_THAT(all.next(), IsEmpty());
}

TEST(LinkHistory, FirmwareThatWasUpdatedSaysNothingOfPlugs) {
  Windows looks;
  looks.grow("PortRcvErrors").follow({repaired(kNoon - hours{1}, Repair::firmware)});

  EXPECT_THAT(looks.next(), ElementsAre("clear", "reseat", "transceivers", "fibre"));
}

TEST(LinkHistory, ARepairBetweenTheLooksIsNotJudgedAndNothingIsRecorded) {
  Windows bad, well;
  const std::vector history{judged(kNoon - hours{2}, {LinkFault::errors}),
                            repaired(kNoon + minutes{1}, Repair::reseat)};

  const auto still = bad.grow("PortRcvErrors").follow(history);
  const auto none = well.follow(history);

  for (const auto* progress : {&still, &none}) {
    ASSERT_THAT(outcomes(*progress), ElementsAre(Outcome::open));
    EXPECT_THAT(progress->links[0].why,
                HasSubstr("the first look (2026-11-22 12:00 UTC) is older"));
    EXPECT_THAT(progress->judged, IsEmpty());
  }
}

TEST(LinkHistory, ARepairBehindTheLooksHasNoPartInThem) {
  Windows looks;
  const auto progress = looks.grow("PortRcvErrors")
                            .follow({judged(kNoon - hours{2}, {LinkFault::errors}),
                                     repaired(kNoon + hours{5}, Repair::reseat)});

  EXPECT_THAT(progress.links, IsEmpty());
  EXPECT_THAT(looks.next(), ElementsAre("clear", "reseat", "transceivers", "fibre"));
}

TEST(LinkHistory, AShortWindowProvesNoRepairButMayRefuteOne) {
  const std::vector history{judged(kNoon - hours{2}, {LinkFault::errors}),
                            repaired(kNoon - hours{1}, Repair::reseat)};

  Windows well{kNoon, minutes{12}}, bad{kNoon, minutes{12}};

  EXPECT_THAT(outcomes(well.follow(history)), ElementsAre(Outcome::open));
  EXPECT_THAT(outcomes(bad.grow("PortRcvErrors").follow(history)),
              ElementsAre(Outcome::not_helped));
}

TEST(LinkHistory, ALinkThatCouldNotBeJudgedInFullIsNoProofOfARepair) {
  Windows looks;
  looks.second.counters[kLeaf] = {{"LinkErrorRecoveryCounter", 255}};
  looks.first.counters[kLeaf] = {{"LinkErrorRecoveryCounter", 255}};

  const auto progress = looks.follow(
      {judged(kNoon - hours{2}, {LinkFault::errors}), repaired(kNoon - hours{1}, Repair::reseat)});

  ASSERT_THAT(outcomes(progress), ElementsAre(Outcome::open));
  EXPECT_THAT(progress.links[0].why, HasSubstr("not all of the link could be judged"));
}

TEST(LinkHistory, OneLookAloneDecidesNothing) {
  auto only = look(kNoon);
  auto health = judge_links(nullptr, only);

  const auto progress = follow_repairs(health, nullptr, only,
                                       std::vector{repaired(kNoon - hours{1}, Repair::reseat)});

  ASSERT_THAT(outcomes(progress), ElementsAre(Outcome::open));
  EXPECT_THAT(progress.links[0].why, HasSubstr("one look cannot tell"));
  EXPECT_THAT(progress.judged, IsEmpty());
}

TEST(LinkHistory, OtherFaultsThanBeforeAreNamedAsSuch) {
  Windows looks;
  looks.first.links[2].width = 4;
  looks.second.links[2].width = 1;

  const auto progress = looks.follow(
      {judged(kNoon - hours{2}, {LinkFault::errors}), repaired(kNoon - hours{1}, Repair::reseat)});

  EXPECT_THAT(outcomes(progress), ElementsAre(Outcome::other_fault));
}

TEST(LinkHistory, APortThatFlappedOnlyDuringBringUpRecoversByACleanWindow) {
  const auto progress = Windows{}.follow({judged(kNoon - hours{2}, {LinkFault::flapped})});

  EXPECT_THAT(outcomes(progress), ElementsAre(Outcome::recovered));
  ASSERT_THAT(progress.judged, SizeIs(1));
  EXPECT_THAT(progress.judged[0].defects, IsEmpty());
}

TEST(LinkHistory, WhatGoesAwayWithoutARepairAndIsMoreThanOneFlapMayComeBack) {
  const auto errors = Windows{}.follow({judged(kNoon - hours{2}, {LinkFault::errors})});
  const auto again = Windows{}.follow({judged(kNoon - hours{9}, {LinkFault::flapped}),
                                       judged(kNoon - hours{6}, {}),
                                       judged(kNoon - hours{2}, {LinkFault::flapped})});

  EXPECT_THAT(outcomes(errors), ElementsAre(Outcome::gone));
  EXPECT_THAT(outcomes(again), ElementsAre(Outcome::gone));
}

TEST(LinkHistory, TheSameFaultIsRecordedOnce) {
  Windows looks;
  const auto first = looks.grow("PortRcvErrors").follow({});
  ASSERT_THAT(first.judged, SizeIs(1));
  EXPECT_EQ(first.judged[0].here, kHca);

  Windows later{kNoon + hours{4}};
  EXPECT_THAT(later.grow("PortRcvErrors").follow(first.judged).judged, IsEmpty());
}

TEST(LinkHistory, TheSameLooksSayTheSameAgainAndRecordNothing) {
  std::vector history{judged(kNoon - hours{2}, {LinkFault::errors}),
                      repaired(kNoon - hours{1}, Repair::reseat)};
  const auto first = Windows{}.follow(history);
  history.push_back(first.judged.at(0));

  const auto second = Windows{}.follow(history);

  EXPECT_EQ(second.links, first.links);
  EXPECT_THAT(second.judged, IsEmpty());
}

TEST(LinkHistory, AFaultThatComesBackContinuesTheOrderForThirtyDays) {
  const std::vector history{judged(kNoon - days{12}, {LinkFault::errors}),
                            repaired(kNoon - days{11}, Repair::reseat),
                            judged(kNoon - days{10}, {})};
  Windows soon, late{kNoon + days{40}};

  soon.grow("PortRcvErrors").follow(history);
  late.grow("PortRcvErrors").follow(history);

  EXPECT_THAT(soon.next(), ElementsAre("transceivers", "fibre"));
  EXPECT_THAT(late.next(), ElementsAre("clear", "reseat", "transceivers", "fibre"));
}

TEST(LinkHistory, ARepairNamedByTheSwitchsPortIsOfTheSameLink) {
  Windows looks;
  const auto progress =
      looks.grow("PortRcvErrors").follow({repaired(kNoon - hours{1}, Repair::reseat, kLeaf)});

  EXPECT_THAT(outcomes(progress), ElementsAre(Outcome::not_helped));
  EXPECT_THAT(looks.next(), ElementsAre("transceivers", "fibre"));
}

TEST(LinkHistory, ARepairOfAnotherCableInTheSamePortIsOfNoLink) {
  auto other = repaired(kNoon - hours{1}, Repair::reseat);
  other.there = {"leaf2-r1", "", 3};
  Windows looks;

  const auto progress = looks.grow("PortRcvErrors").follow({other});

  EXPECT_THAT(progress.links, IsEmpty());
  EXPECT_THAT(looks.next(), SizeIs(4));
}

TEST(LinkHistory, RepairsOfAPortThatNoLinkHasAreNamed) {
  const auto wrong = repaired(kNoon - hours{1}, Repair::reseat, {"n3", "mlx5_0", 1});

  const auto progress = Windows{}.follow({wrong});

  EXPECT_THAT(progress.unmatched, ElementsAre(wrong));
}

TEST(LinkHistory, ARepairOfAPortWithAReportAloneStaysOpen) {
  const PortId sonic{"leaf9", "Ethernet8", 1};
  Windows looks;
  for (auto* look : {&looks.first, &looks.second}) look->reports[sonic].state = "Active";

  const auto progress = looks.follow({repaired(kNoon - hours{1}, Repair::reseat, sonic)});

  EXPECT_THAT(outcomes(progress), ElementsAre(Outcome::open));
  EXPECT_THAT(progress.unmatched, IsEmpty());
}

TEST(LinkHistory, AnEventIsReadAsItWasWritten) {
  auto repair = repaired(kNoon, Repair::transceivers);
  repair.note = "box 3";
  repair.by.clear();  // the record has who
  const auto judgement = judged(kNoon, {LinkFault::flapped, LinkFault::errors});

  EXPECT_EQ(link_event(repair.kind, to_json(repair)).value(), repair);
  EXPECT_EQ(link_event(judgement.kind, to_json(judgement)).value(), judgement);
}

TEST(LinkHistory, WhatIsNoEventIsRefused) {
  const auto good = to_json(repaired(kNoon, Repair::reseat));
  for (const auto* key : {"at", "from", "did"}) {
    auto bad = good;
    bad.erase(key);
    EXPECT_FALSE(link_event(LinkEvent::Kind::repaired, bad)) << key;
  }
  auto later = good;
  later["at"] = 1e18;
  EXPECT_FALSE(link_event(LinkEvent::Kind::repaired, later));
  EXPECT_FALSE(link_event(LinkEvent::Kind::judged, good));
}

}  // namespace
}  // namespace cupel::burnin
