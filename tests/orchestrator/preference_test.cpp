#include "orchestrator/report/preference.h"

#include <gmock/gmock.h>

#include "inventory/shipped.h"

namespace cupel::report {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const PartShares kShares{.parts = {{.part = "GPU", .share = 80, .faults = {"wrong", "lost"}},
                                   {.part = "drive", .share = 20, .faults = {"worn"}}}};

const std::vector<FaultNeeds> kFaults{
    {.fault = "wrong", .check = "gemm.errors", .under = {"gemm"}},
    {.fault = "lost", .check = "audit: missing", .under = {"train"}},
    {.fault = "worn", .check = "fleet: nvme.read.bandwidth"},
    {.fault = "of no part", .check = "hbm.copy"}};

const std::vector<std::string> kAlways{"bmc-facts", "gpu-facts", "audit", "verdict"};

std::vector<LoadStep> loads() {
  return {{"hbm", 10min}, {"nvme", 100min}, {"gemm", 10min}, {"train@day", 20min}};
}

std::vector<std::string> kept(const Ranking& ranking) {
  std::vector<std::string> names;
  for (const auto& step : ranking.steps)
    if (step.kept) names.push_back(step.name);
  return names;
}

TEST(RankSteps, PutsTheMostShareForAMinuteFirstAndLeavesOutWhatShowsNothing) {
  const auto ranking = rank_steps(kShares, kFaults, kAlways, loads(), Prefer::coverage);

  EXPECT_THAT(kept(ranking), ElementsAre("gemm", "train@day", "nvme"));
  ASSERT_EQ(ranking.steps.size(), 4);
  EXPECT_EQ(ranking.steps[3].name, "hbm");
  EXPECT_DOUBLE_EQ(ranking.steps[0].share, 40);
  EXPECT_DOUBLE_EQ(ranking.steps[0].per_minute(), 4);
  EXPECT_DOUBLE_EQ(ranking.steps[2].share, 20);
  EXPECT_DOUBLE_EQ(ranking.whole, 100);
  EXPECT_DOUBLE_EQ(ranking.kept, 100);
  EXPECT_THAT(ranking.escaped, IsEmpty());
}

TEST(RankSteps, ForTimeKeepsNineTenthsOfWhatIsShownAndNamesWhatEscapes) {
  auto shares = kShares;
  shares.parts[0].share = 95;
  shares.parts[1].share = 5;

  const auto ranking = rank_steps(shares, kFaults, kAlways, loads(), Prefer::time);

  EXPECT_THAT(kept(ranking), ElementsAre("gemm", "train@day"));
  EXPECT_DOUBLE_EQ(ranking.whole, 100);
  EXPECT_DOUBLE_EQ(ranking.kept, 95);
  EXPECT_THAT(ranking.escaped, ElementsAre("worn"));
}

TEST(RankSteps, KeepsLoadForAFaultThatBeginsLate) {
  const PartShares one{.parts = {{.part = "GPU", .share = 100, .faults = {"late"}}}};
  const std::vector<FaultNeeds> late{{.fault = "late", .check = "kernel.gpu", .after = 40min}};

  const auto enough =
      rank_steps(one, late, kAlways, {{"gemm", 30min}, {"hbm", 20min}}, Prefer::coverage);
  const auto short_of_it = rank_steps(one, late, kAlways, {{"gemm", 30min}}, Prefer::coverage);

  EXPECT_EQ(kept(enough).size(), 2);
  EXPECT_DOUBLE_EQ(enough.kept, 100);
  EXPECT_DOUBLE_EQ(short_of_it.whole, 0);
  EXPECT_THAT(kept(short_of_it), IsEmpty());
}

TEST(RankSteps, CountsNoCheckWithoutTheStepThatMakesIt) {
  const auto without = rank_steps(kShares, kFaults, {"gpu-facts"}, loads(), Prefer::coverage);

  EXPECT_DOUBLE_EQ(without.whole, 60) << "nothing audits";
}

TEST(FaultNeeds, AreReadOfTheCatalogueAsItIsShipped) {
  std::vector<inventory::Problem> problems;
  std::vector<FaultNeeds> all;
  for (const auto& file : inventory::shipped_files()) {
    if (!file.path.starts_with("rehearsal/catalogue/")) continue;
    auto some = parse_fault_needs(file.text, std::string{file.path}, problems);
    std::ranges::move(some, std::back_inserter(all));
  }
  const auto needs = [&](std::string_view name) {
    return *std::ranges::find(all, name, &FaultNeeds::fault);
  };

  EXPECT_THAT(problems, IsEmpty());
  EXPECT_GE(all.size(), 230);
  EXPECT_EQ(needs("gpu-capped-in-training").check, "gpu.power.limit");
  EXPECT_THAT(needs("gpu-capped-in-training").under, ElementsAre("train"));
  EXPECT_EQ(needs("gpu-ecc-in-burn").after, 40min);
  EXPECT_EQ(needs("gpu-missing").after, 0s);
}

}  // namespace
}  // namespace cupel::report
