// cupel-burn on a virtual node: its lines and exit statuses, and every fault that its stages are to
// find, as the controller reads them.
#include "base/json.h"
#include "burnin/criteria/judge.h"
#include "burnin/verdict_text.h"
#include "tests/rehearsal/tools/node.h"

namespace cupel::rehearsal {
namespace {

using enum FaultKind;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// "gpu4 gemm.errors 12 errors (SM 17, ...)" of each criterion that is not met, a line each.
std::string not_met(std::string_view stage, const Result<burnin::Findings>& found) {
  if (!found) return "nothing proven: " + found.error().what;
  std::string text;
  const std::string name{stage};
  for (const auto& each : burnin::judge(dgx(), {name}, {{name, *found}}))
    if (each.met != burnin::Met::met)
      text += each.part + " " + each.measure + " " + measured_text(each) + "\n";
  return text;
}

std::vector<json::value> objects_in(const std::string& text) {
  std::vector<json::value> all;
  for (const auto line : lines(text))
    if (auto parsed = parse_json(line)) all.push_back(*std::move(parsed));
  return all;
}

Texts kinds(const std::string& text) {
  Texts all;
  for (const auto& line : objects_in(text)) {
    auto kind = text_at(line, "kind").value_or("");
    if (all.empty() || all.back() != kind) all.push_back(std::move(kind));
  }
  return all;
}

TEST(CupelBurn, AHealthyNodeMeetsTheProfileInEveryStage) {
  Bench bench;
  for (const auto& [stage, duration] : {std::pair{"gemm", "90s"},
                                        {"hbm", "30s"},
                                        {"pcie", "20s"},
                                        {"p2p", "20s"},
                                        {"collective", "20s"},
                                        {"train", "40s"}})
    EXPECT_EQ(not_met(stage, found_by(bench, stage, {{"duration", duration}})), "") << stage;
}

TEST(CupelBurn, SaysTheLinesOfItsContractInTheirOrder) {
  Bench bench;

  const auto ran = bench.sh("cupel-burn gemm --seconds 25 --types bf16,fp8");

  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(kinds(ran.out), ElementsAre("start", "progress", "result", "end"));
  const auto start = objects_in(ran.out).front(), end = objects_in(ran.out).back();
  EXPECT_EQ(number_at(start, "protocol"), 1);
  EXPECT_EQ(find(start, "gpus")->as_array().size(), 8u);
  EXPECT_GE(number_at(end, "seconds").value_or(0), 25);
  EXPECT_THAT(ran.out, HasSubstr(R"("complete":true,"stopped":false)"));
}

TEST(CupelBurn, FindsInItsSelfTestWhatItPlanted) {
  Bench bench;

  const auto ran = bench.sh("cupel-burn hbm --self-test");

  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(kinds(ran.out), ElementsAre("start", "self-test", "end"));
}

TEST(CupelBurn, EndsCleanlyOnSigterm) {
  Bench bench;

  const auto ran = bench.sh("cupel-burn gemm --seconds 3600 & sleep 30; kill $!; wait $!; echo $?");

  EXPECT_THAT(ran.out, AllOf(HasSubstr(R"("complete":false,"stopped":true)"), HasSubstr("\n4\n")));
}

TEST(CupelBurn, RefusesWhatItDoesNotKnow) {
  Bench bench;

  for (const auto* words :
       {"", "dance", "gemm --colour blue", "gemm --seconds", "gemm --seconds 0"}) {
    const auto ran = bench.sh(std::string{"cupel-burn "} + words);
    EXPECT_EQ(ran.status, 64) << words;
    EXPECT_THAT(ran.out, HasSubstr(R"("code":"usage")")) << words;
  }
}

TEST(CupelBurn, SaysWhatCudaSaysWhereItDoesNotBegin) {
  Bench off{{{.kind = fabric_manager_off}}}, other{{{.kind = driver_mismatch}}};

  EXPECT_THAT(not_met("gemm", found_by(off, "gemm")),
              AllOf(StartsWith("nothing proven"), HasSubstr("802")));
  EXPECT_THAT(not_met("gemm", found_by(other, "gemm")),
              AllOf(StartsWith("nothing proven"), HasSubstr("803")));
}

TEST(CupelBurn, TellsTheSmThatComputesWrongly) {
  Bench bench{{{.kind = gpu_wrong_results, .part = "gpu4", .number = 17}}};

  const auto gemm = not_met("gemm", found_by(bench, "gemm", {{"duration", "60s"}}));
  const auto train = not_met("train", found_by(bench, "train", {{"duration", "60s"}}));

  EXPECT_THAT(gemm, AllOf(StartsWith("gpu4 gemm.errors "), HasSubstr("(SM 17, round ")));
  EXPECT_THAT(train, StartsWith("gpu4 train.loss.differs "));
}

TEST(CupelBurn, TellsTheGpuThatIsWrongInOneWorkAlone) {
  struct Row {
    const char* work;
    const char* measure;
  };
  for (const auto& row : std::initializer_list<Row>{
           {"hbm", "hbm.errors"}, {"pcie", "pcie.errors"}, {"p2p", "p2p.errors"}}) {
    Bench bench{{{.kind = gpu_wrong_results, .part = "gpu4", .timing = {.under = row.work}}}};

    const auto found = found_by(bench, row.work);
    const auto gemm = found_by(bench, "gemm", {{"duration", "60s"}});

    ASSERT_TRUE(found) << found.error().what;
    ASSERT_TRUE(gemm) << gemm.error().what;
    EXPECT_GT(value_of(*found, row.measure, "gpu4").value_or(0), 0) << row.work;
    EXPECT_EQ(value_of(*found, row.measure, "gpu3"), 0) << row.work;
    EXPECT_EQ(value_of(*gemm, "gemm.errors", "gpu4"), 0) << row.work;
  }
}

TEST(CupelBurn, TheSmThatComputesWronglyLeavesTheMemoryRight) {
  Bench bench{{{.kind = gpu_wrong_results, .part = "gpu4", .number = 17}}};

  const auto found = found_by(bench, "hbm", {{"duration", "60s"}});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "hbm.errors", "gpu4"), 0);
}

TEST(CupelBurn, TellsTheHotGpuByItsHeatFirst) {
  Bench bench{{{.kind = gpu_hot, .part = "gpu7", .amount = 30}}, 200};  // samples come in between

  const auto text = not_met("gemm", found_by(bench, "gemm", {{"duration", "90s"}}));

  EXPECT_THAT(text, StartsWith("gpu7 gpu.temperature "));
}

TEST(CupelBurn, TellsTheGpuWhoseMemoryIsSlow) {
  Bench bench{{{.kind = gpu_slow_memory, .part = "gpu2", .amount = 0.8}}};

  EXPECT_THAT(not_met("hbm", found_by(bench, "hbm", {{"duration", "30s"}})),
              StartsWith("gpu2 hbm.below_best "));
}

TEST(CupelBurn, TellsTheGpuWhosePcieLinkIsSlow) {
  Bench bench{{{.kind = gpu_slow_link, .part = "gpu0", .width = 8}}};

  EXPECT_THAT(not_met("pcie", found_by(bench, "pcie", {{"duration", "20s"}})),
              HasSubstr("gpu0 pcie.h2d "));
}

TEST(CupelBurn, TellsTheGpuThatFellOffItsBusUnderItsLoad) {
  Bench bench{{{.kind = gpu_off_bus, .part = "gpu3", .timing = {.under = "gemm"}}}};

  const auto found = found_by(bench, "gemm", {{"duration", "60s"}});

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "gpu.xid", "gpu3"), 79);
  EXPECT_EQ(value_of(*found, "gpu.xid", "gpu2"), 0);
  EXPECT_EQ(value_of(*found, "burn.complete"), 0);
}

TEST(CupelBurn, IsNotRunWhereAProgramWasLeftOnAGpu) {
  Bench bench{{{.kind = gpu_busy, .part = "gpu6"}}};

  const auto found = found_by(bench, "gemm");

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "gpu.idle", "gpu6"), 0);
  EXPECT_EQ(value_of(*found, "gpu.idle", "gpu5"), 1);
}

TEST(CupelBurn, CountsOnlyTheGpusThatCudaCounts) {
  Bench gone{{{.kind = gpu_missing, .part = "gpu5"}}}, cut{{{.kind = mig_on, .part = "gpu2"}}};

  const auto without = found_by(gone, "hbm", {{"duration", "20s"}});
  const auto beside = found_by(cut, "hbm", {{"duration", "20s"}});

  ASSERT_TRUE(without && beside);
  EXPECT_EQ(value_of(*without, "burn.gpus"), 7);
  EXPECT_EQ(value_of(*without, "hbm.copy", "gpu5"), std::nullopt);
  EXPECT_NE(value_of(*without, "hbm.copy", "gpu6"), std::nullopt);
  EXPECT_EQ(value_of(*beside, "hbm.copy", "gpu2"), std::nullopt);
  EXPECT_NE(value_of(*beside, "hbm.copy", "gpu3"), std::nullopt);
}

TEST(CupelBurn, ALinkThatIsDownIsSeenInCopiesAndSums) {
  Bench healthy, sick{{{.kind = nvlink_down, .part = "gpu4", .number = 7}}};
  const burnin::Parameters with{{"duration", "10s"}};

  const auto good = found_by(healthy, "p2p", with), bad = found_by(sick, "p2p", with);
  const auto sum = found_by(sick, "collective", with);

  ASSERT_TRUE(good && bad && sum);
  EXPECT_LT(*value_of(*bad, "p2p.bandwidth", "gpu4"),
            0.96 * *value_of(*good, "p2p.bandwidth", "gpu4"));
  EXPECT_NEAR(*value_of(*bad, "p2p.bandwidth", "gpu0"), *value_of(*good, "p2p.bandwidth", "gpu0"),
              5);
  EXPECT_LT(*value_of(*sum, "collective.all_reduce.ring.busbw"), 347);
}

TEST(CupelBurn, ACappedGpuIsSlow) {
  Bench bench{{{.kind = gpu_power_capped, .part = "gpu0", .amount = 400}}};

  EXPECT_THAT(not_met("gemm", found_by(bench, "gemm", {{"duration", "30s"}})),
              StartsWith("gpu0 gpu.power."));
}

TEST(CupelBurn, RefusesAPathWhoseRailIsDown) {
  Bench healthy, sick{{{.kind = hca_down, .part = "mlx5_5"}}};
  const burnin::Parameters with{{"duration", "10s"}, {"path", "both"}, {"ops", "all_reduce"}};

  const auto good = found_by(healthy, "collective", with), bad = found_by(sick, "collective", with);

  ASSERT_TRUE(good) << good.error().what;
  EXPECT_GT(value_of(*good, "collective.all_reduce.hca.busbw").value_or(0), 30);
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().what, HasSubstr("mlx5_5"));
}

}  // namespace
}  // namespace cupel::rehearsal
