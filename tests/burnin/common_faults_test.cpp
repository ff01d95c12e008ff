// Failures that most GPUs of a node share, and whom they make the culprit: no single one.
#include "burnin/common_faults.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "burnin/consequences.h"
#include "burnin/criteria/compared_causes.h"
#include "burnin/verdict_text.h"

namespace cupel::burnin {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

std::string gpu(int index) { return fmt::format("gpu{}", index); }

Cause failed(std::string part, std::string criterion, double value) {
  Cause cause{Decision::fail, std::move(part), std::move(criterion)};
  cause.quantity.value = value;
  cause.stages = {"p2p"};
  return cause;
}

Cause slow(int index) {
  auto cause = failed(gpu(index), "p2p.bandwidth", 370 + index);
  cause.quantity.at_least = 377;
  cause.quantity.unit = cause.quantity.unit_of_limits = "GB/s";
  return cause;
}

/// As the stages report them of eight GPUs, whether met or not.
std::vector<Checked> all_checked(int gpus = 8) {
  std::vector<Checked> checked;
  for (int i = 0; i < gpus; ++i)
    for (const auto* measure : {"p2p.bandwidth", "p2p.errors", "gpu.xid", "nvlink.active"})
      checked.push_back(
          {.stage = "p2p", .part = gpu(i), .measure = measure, .quantity = {}, .met = Met::met});
  return checked;
}

std::vector<Cause> joined(std::vector<Cause> causes, int gpus = 8) {
  const auto checked = all_checked(gpus);
  join_common_faults(checked, causes);
  mark_consequences(causes, checked);
  std::vector<Cause> roots;
  for (const auto& each : explained(causes)) roots.push_back(each.cause);
  return roots;
}

std::vector<std::string> actions(std::vector<Cause> causes, int gpus = 8) {
  std::vector<std::string> names;
  for (const auto& each : joined(std::move(causes), gpus)) names.push_back(cause_name(each));
  return names;
}

/// The first `sick` GPUs have a link down, and as many are slow.
std::vector<Cause> links_down(int sick, int slow_ones) {
  std::vector<Cause> causes;
  for (int i = 0; i < sick; ++i) causes.push_back(failed(gpu(i), "nvlink.active", 17));
  for (int i = 0; i < slow_ones; ++i) causes.push_back(slow(i));
  return causes;
}

std::vector<std::string> links_of(int gpus) {
  std::vector<std::string> names;
  for (int i = 0; i < gpus; ++i) names.push_back(gpu(i) + ": nvlink.active");
  return names;
}

TEST(CommonFaults, OfLinksOfSevenGpusTheEighthIsNotAccused) {
  EXPECT_EQ(actions(links_down(7, 8)), links_of(7)) << "it has no partner that is well";
  EXPECT_EQ(actions(links_down(6, 8)), links_of(6)) << "the other one alone is well with it";
  auto five = links_of(5);
  five.push_back("gpu5: p2p.bandwidth");
  EXPECT_EQ(actions(links_down(5, 6)), five) << "it is slow with two that are well";
  EXPECT_EQ(actions(links_down(1, 2), 2), links_of(1)) << "of two GPUs";
}

TEST(CommonFaults, OfABadSwitchTheGpuThatLacksNoMoreThanItTookIsNotAccused) {
  std::vector<Cause> causes{failed("nvswitch1", "nvswitch.sxid", 20034)};
  std::vector<std::string> expected{"nvswitch1: nvswitch.sxid"};
  for (int i = 0; i < 7; ++i) {
    causes.push_back(failed(gpu(i), "nvlink.active", 13));
    expected.push_back(gpu(i) + ": nvlink.active");
  }
  causes.push_back(failed("gpu7", "nvlink.active", 14));

  EXPECT_EQ(actions(causes), expected) << "the switch took four of each; seven have lost a fifth";
  causes = {failed("nvswitch1", "nvswitch.sxid", 20034), failed("gpu1", "nvlink.active", 17),
            failed("gpu4", "nvlink.active", 16)};
  EXPECT_THAT(actions(causes), SizeIs(3)) << "it took nothing from each GPU";
}

TEST(CommonFaults, ErrorsOfLinksExplainASlowPartnerAsLinksThatAreDownDo) {
  for (const auto* criterion :
       {"nvlink.crc_errors.new", "nvlink.replays.new", "nvlink.recoveries"}) {
    std::vector<Cause> causes;
    for (int i = 0; i < 7; ++i) causes.push_back(failed(gpu(i), criterion, 400));
    causes.push_back(slow(7));

    EXPECT_THAT(actions(causes), SizeIs(7)) << criterion;
    EXPECT_EQ(actions(causes).back(), std::string{"gpu6: "} + criterion);
  }
}

TEST(CommonFaults, APairOfTwoHealthyGpusTellsOfItself) {
  auto causes = links_down(6, 0);
  causes.push_back(failed("gpu6-gpu7", "p2p.bandwidth", 200));

  auto expected = links_of(6);
  expected.push_back("gpu6-gpu7: p2p.bandwidth");
  EXPECT_EQ(actions(causes), expected);
}

TEST(CommonFaults, BesideGpusThatAreCappedAHealthyOneIsNotCalledHot) {
  const auto capped = [](int count) {
    std::vector<Cause> causes;
    for (int i = 0; i < count; ++i) causes.push_back(failed(gpu(i), "gpu.power.limit", 300));
    causes.push_back(failed("gpu7", "thermal.above_neighbours", 25));
    causes.push_back(failed("gpu7", "thermal.spread", 26));
    return causes;
  };

  EXPECT_THAT(actions(capped(7)), SizeIs(7));
  EXPECT_EQ(actions(capped(4)).back(), "gpu3: gpu.power.limit") << "half of the others and more";
  EXPECT_EQ(actions(capped(3)).back(), "gpu7: thermal.above_neighbours")
      << "four are as they should be, and colder";
  auto spread = capped(1);
  std::erase_if(spread,
                [](const Cause& each) { return each.criterion == "thermal.above_neighbours"; });
  EXPECT_THAT(actions(spread), ElementsAre("gpu0: gpu.power.limit")) << "it is cold";
  spread.push_back(failed("gpu7", "gpu.power.below_best", 12));
  EXPECT_THAT(actions(spread), ElementsAre("gpu0: gpu.power.limit", "gpu7: thermal.spread"))
      << "it is hot, and does less";
}

TEST(CommonFaults, AreOneFailureWhereEachGpuIsSlowWithEachOther) {
  const auto found = joined(links_down(0, 8));

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(to_string(found[0]),
            "links of all gpus: p2p.bandwidth 370 to 377 GB/s of gpu[0-7], expected at least 377 "
            "GB/s");
  EXPECT_EQ(found[0].decision, Decision::fail);
  EXPECT_THAT(actions(links_down(2, 8)), ElementsAre("gpu0: nvlink.active", "gpu1: nvlink.active",
                                                     "links of all gpus: p2p.bandwidth"))
      << "two with a fault of their own do not explain the others";
  EXPECT_THAT(actions(links_down(0, 6)), SizeIs(6)) << "two are well, with each of these too";
  EXPECT_THAT(actions(links_down(0, 1)), ElementsAre("gpu0: p2p.bandwidth"));
}

TEST(CommonFaults, SayAllOfTheNumberThatIsUnlikeOtherMachinesToo) {
  auto causes = links_down(0, 8);
  for (const auto* part : {"gpu2", ""}) causes.push_back(failed(part, "fleet: p2p.bandwidth", 372));
  causes.push_back(failed("gpu2", "fleet: hbm.copy", 2000));

  join_common_faults(all_checked(), causes);
  mark_consequences(causes, all_checked());
  put_below_known(causes);

  std::vector<std::string> names;
  for (const auto& each : explained(causes)) names.push_back(cause_name(each.cause));
  EXPECT_THAT(names, ElementsAre("links of all gpus: p2p.bandwidth", "gpu2: fleet: hbm.copy"));
}

TEST(CommonFaults, OfWrongCopiesBetweenAllPairsNoGpuIsNamed) {
  std::vector<Cause> causes;
  for (int i = 0; i < 7; ++i) causes.push_back(failed(gpu(i), "p2p.errors", 3));
  EXPECT_THAT(actions(causes), SizeIs(7)) << "gpu7 copies well";

  causes.push_back(failed("gpu7", "p2p.errors", 3));

  EXPECT_THAT(actions(causes), ElementsAre("links of all gpus: p2p.errors"));
}

std::vector<Cause> xids(int code, int gpus, const char* criterion = "gpu.xid") {
  std::vector<Cause> causes;
  for (int i = 0; i < gpus; ++i) causes.push_back(failed(gpu(i), criterion, code));
  return causes;
}

TEST(CommonFaults, OfNvlinkXidsOfMostGpusTheDomainIsNamed) {
  for (const int code : kNvlinkXids) {
    const auto found = joined(xids(code, 8));

    ASSERT_THAT(found, SizeIs(1)) << code;
    EXPECT_EQ(to_string(found[0]),
              fmt::format("nvlink domain: gpu.xid Xid {} of gpu[0-7], expected none", code));
  }
  EXPECT_THAT(actions(xids(145, 5)), ElementsAre("nvlink domain: gpu.xid"));
  EXPECT_THAT(actions(xids(145, 4)), SizeIs(4)) << "half of them";
  EXPECT_THAT(actions(xids(145, 2), 2), SizeIs(2)) << "the two ends of one link";
  EXPECT_THAT(actions(xids(48, 8)), SizeIs(8)) << "memory is each GPU's own";
}

TEST(CommonFaults, OfXidsThatLinksOfTheSameGpusExplainTheseGpusAreNamed) {
  auto causes = links_down(7, 7);
  for (const auto& each : xids(74, 7)) causes.push_back(each);

  EXPECT_EQ(actions(causes), links_of(7));
}

TEST(CommonFaults, LinksThatAllGpusLackAlikeAreOneFailure) {
  const auto found = joined(links_down(8, 8));
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].measured, "17 of each of gpu[0-7]");
  EXPECT_EQ(cause_name(found[0]), "nvlink domain: nvlink.active");

  auto unlike = links_down(8, 0);
  unlike[5].quantity.value = 12;
  EXPECT_EQ(actions(unlike), links_of(8)) << "one of them lacks more";
  EXPECT_EQ(actions(links_down(7, 7)), links_of(7)) << "one of them lacks none";
  EXPECT_EQ(actions(links_down(2, 0), 2), links_of(2)) << "the two ends of one link";
  auto with_xids = links_down(8, 8);
  for (const auto& each : xids(145, 8)) with_xids.push_back(each);
  EXPECT_THAT(actions(with_xids), ElementsAre("nvlink domain: gpu.xid"));
}

TEST(CommonFaults, ReadOfBothLogsAreOneFailure) {
  auto causes = xids(145, 8);
  for (auto& each : xids(145, 8, "kernel.xid")) {
    each.stages = {"kernel-log"};
    causes.push_back(each);
  }
  causes.push_back(failed("", "collective.all_reduce.busbw", 90));
  causes.push_back(slow(3));

  const auto found = joined(causes);

  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(cause_name(found[0]), "nvlink domain: gpu.xid");
  EXPECT_THAT(found[0].stages, ElementsAre("p2p", "kernel-log"));
}

TEST(CommonFaults, OfLinkXidsAreExplainedByTheSwitchTheLostGpuOrTheEndThatReportedTheEvent) {
  auto of_switch = xids(145, 8);
  of_switch.push_back(failed("nvswitch2", "nvswitch.sxid", 20034));
  EXPECT_THAT(actions(of_switch), ElementsAre("nvswitch2: nvswitch.sxid"));

  auto of_lost = xids(145, 8);
  of_lost[3].quantity.value = 79;
  EXPECT_THAT(actions(of_lost), ElementsAre("gpu3: gpu.xid"));

  auto of_link = xids(145, 8);
  of_link[2].quantity.value = 149;
  EXPECT_THAT(actions(of_link), ElementsAre("gpu2: gpu.xid"));

  of_link[5].quantity.value = 149;
  const auto several = joined(of_link);
  ASSERT_THAT(several, SizeIs(1));
  EXPECT_EQ(several[0].measured, "Xids 145, 149 of gpu[0-7]");
}

}  // namespace
}  // namespace cupel::burnin
