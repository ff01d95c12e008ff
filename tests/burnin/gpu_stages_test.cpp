// What cupel-burn says, read by the stages that run it: lines written by hand, good ones and those
// that must not pass for good.
#include <gmock/gmock.h>

#include <cmath>

#include "burnin/measures/measure.h"
#include "tests/burnin/burn_said.h"
#include "tests/burnin/gpu_xml.h"
#include "tests/support/damage.h"

namespace cupel::burnin {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(GpuStages, AHealthyNodesGemmMeetsTheProfile) {
  const auto found = good().read();

  ASSERT_TRUE(found) << found.error().what;
  const auto& findings = *found;
  EXPECT_EQ(missed("gemm", findings), "");
  EXPECT_EQ(value_of(findings, "gemm.bf16.rate", "gpu3"), 703);
  EXPECT_EQ(value_of(findings, "gemm.fp8.rate", "gpu3"), 1400);
  EXPECT_EQ(value_of(findings, "gpu.temperature", "gpu3"), 66);
  EXPECT_EQ(value_of(findings, "gpu.power", "gpu3"), 688.2);
  EXPECT_EQ(value_of(findings, "gpu.power_capped", "gpu3"), 100);
  EXPECT_EQ(value_of(findings, "gpu.throttled", "gpu3"), 0);
  EXPECT_EQ(value_of(findings, "gpu.xid", "gpu3"), 0);
  EXPECT_EQ(findings.facts.at("burn.driver"), "580.65.06");
}

TEST(GpuStages, NameAGpuByItsPlaceAndPassNoneWithoutAReport) {
  auto burn = good();
  burn.gpus.erase(burn.gpus.begin() + 5);  // gpu6 of the profile is the sixth that CUDA sees
  burn.lines += result("gemm.errors", "gpu5", 3, "errors");
  burn.lines += result("gemm.errors", "gpu7", 9, "errors");

  const auto found = burn.read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "gemm.errors", "gpu6"), 3);
  EXPECT_EQ(value_of(*found, "gemm.errors", "gpu5"), std::nullopt);
  EXPECT_TRUE(says_unknown(*found, "gemm.errors of gpu7"));
  EXPECT_THAT(missed("gemm", *found),
              AllOf(HasSubstr("gpu5 gemm.below_best nothing\n"), HasSubstr("burn.gpus 7 GPUs\n")));
}

TEST(GpuStages, NameTheSmTheRoundAndTheHeatOfAWrongResult) {
  auto burn = good();
  burn.lines = std::string{kFault} + burn.lines + std::string{kFault};
  burn.end = replaced(burn.end, R"("faults":0)", R"("faults":2)");
  burn.status = 1;

  const auto found = burn.read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "gemm.errors", "gpu4"), 2);
  EXPECT_EQ(traced(*found, "gemm.errors", "gpu4"), "SM 17, round 3, 71 C, the checksum differs");
  EXPECT_EQ(missed("gemm", *found),
            "gpu4 gemm.errors 2 errors (SM 17, round 3, 71 C, the checksum differs)\n");
}

TEST(GpuStages, CountAFaultThatNamesNoPart) {
  auto burn = good();
  burn.lines += R"({"kind":"fault","what":"comet"})"
                "\n";
  burn.status = 1;

  EXPECT_EQ(missed("gemm", *burn.read()), " burn.faults 1 errors\n");
}

TEST(GpuStages, ProveNothingByARunThatDidNotEndWell) {
  struct Case {
    std::function<void(BurnText&)> spoil;
    std::string why;
  };
  const std::vector<Case> cases{
      {[](BurnText& burn) { burn.end.clear(); }, "did not end"},
      {[](BurnText& burn) { burn.end = replaced(burn.end, "true,", "false,"); }, "not complete"},
      {[](BurnText& burn) {
         burn.end = replaced(burn.end, R"("stopped":false)", R"("stopped":true)");
       },
       "was stopped"},
      {[](BurnText& burn) { burn.status = 1; }, "contradicts itself: exit status 1"},
      {[](BurnText& burn) { burn.status = 2; }, "contradicts itself"},
      {[](BurnText& burn) { burn.status = 139; }, "contradicts itself: exit status 139"},
      {[](BurnText& burn) { burn.lines += "{\"kind\":\"result\",\"na\n"; }, "cannot be read"},
      {[](BurnText& burn) {
         burn.lines += R"({"kind":"error","code":"nccl","message":"no rail"})"
                       "\n";
       },
       "could not find out (nccl): no rail"},
      {[](BurnText& burn) { burn.self_test = replaced(burn.self_test, "true", "false"); },
       "did not find the error that it planted (result-bit)"},
      {[](BurnText& burn) { burn.self_test.clear(); }, "planted no error"},
      {[](BurnText& burn) { burn.self_test_status = 124; }, "self-test"},
      {[](BurnText& burn) { burn.command = "hbm"; }, "cupel-burn did hbm, not gemm"},
  };
  for (const auto& each : cases) {
    auto burn = good();
    each.spoil(burn);

    const auto found = parsed("gemm", burn.text());

    ASSERT_FALSE(found) << each.why;
    EXPECT_EQ(found.error().code, Code::kNoMeasurement);
    EXPECT_THAT(found.error().what, HasSubstr(each.why));
  }
}

TEST(GpuStages, SayWhyThereIsNoCupelBurn) {
  const auto found = parsed("hbm", "cupel-gave-up: cupel-burn is not installed on the node\n", 69);

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().what, "cupel-burn is not installed on the node");
}

TEST(GpuStages, RejectAProgramOfAnotherProtocol) {
  const auto text = replaced(good().text(), R"("protocol":1)", R"("protocol":2)");

  EXPECT_THAT(parsed("gemm", text).error().what, HasSubstr("another protocol"));
}

TEST(GpuStages, TellTheFaultsOfARunThatBrokeOff) {
  auto burn = good();
  burn.lines += kFault;
  burn.end.clear();
  burn.status = 137;

  const auto found = burn.read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "gemm.errors", "gpu4"), 1);
  EXPECT_EQ(value_of(*found, "burn.complete"), 0);
  EXPECT_EQ(value_of(*found, "gemm.bf16.rate", "gpu0"), std::nullopt);
  EXPECT_TRUE(says_unknown(*found, "the rest of gemm"));
}

TEST(GpuStages, SuspectBothEndsOfAPairWhereTheRunBrokeOff) {
  BurnText burn;
  burn.command = "p2p";
  burn.lines = replaced(std::string{kFault}, "gpu4", "gpu2-gpu5");
  burn.end.clear();
  burn.status = 137;

  const auto found = burn.read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "p2p.errors", "gpu2"), 1);
  EXPECT_EQ(value_of(*found, "p2p.errors", "gpu5"), 1);
}

TEST(GpuStages, TellWhichGpuFellOffItsBus) {
  auto burn = good();
  burn.lines += R"({"kind":"error","code":"cuda","part":"gpu3","message":"unknown error 999"})"
                "\n";
  burn.end = replaced(burn.end, "true,", "false,");
  burn.status = 2;
  burn.kernel =
      "[    3.000000] NVRM: Xid (PCI:0000:1b:00): 79, pid=1, GPU has fallen off the bus.\n"
      "[  912.250000] NVRM: Xid (PCI:0000:61:00): 79, pid=1, GPU has fallen off the bus.\n";

  const auto found = burn.read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "gpu.xid", "gpu3"), 79);
  EXPECT_EQ(value_of(*found, "gpu.xid", "gpu0"), 0) << "that one is older than the run";
  EXPECT_EQ(value_of(*found, "burn.complete"), 0);
}

TEST(GpuStages, TakeAHangForAFinding) {
  auto burn = good();
  burn.lines = R"({"kind":"hang","part":"gpu3","doing":"gemm bf16 round 17","seconds":60})"
               "\n";
  burn.end.clear();
  burn.status = 3;

  const auto found = burn.read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "gpu.hang", "gpu3"), 1);
  EXPECT_THAT(traced(*found, "gpu.hang", "gpu3"), HasSubstr("round 17"));
  EXPECT_EQ(value_of(*found, "gpu.hang", "gpu2"), std::nullopt);
}

TEST(GpuStages, NameThePairBetweenWhichCopiesHang) {
  auto burn = good();
  burn.command = "p2p";
  burn.lines = R"({"kind":"hang","part":"gpu2-gpu5","doing":"gpu2-gpu5, ce","seconds":60})"
               "\n";
  burn.end = replaced(burn.end, "true,", "false,");
  burn.status = 3;

  const auto found = burn.read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "gpu.hang"), 1);
  EXPECT_EQ(traced(*found, "gpu.hang", ""), "gpu2-gpu5");
  EXPECT_TRUE(says_unknown(*found, "gpu2"));
  EXPECT_TRUE(says_unknown(*found, "gpu5"));
  EXPECT_FALSE(says_unknown(*found, "gpu3"));
}

TEST(GpuStages, CountWhatOtherGpusReportWhereOneHangsAndTheyNeedNothingOfIt) {
  auto burn = good();
  burn.lines += R"({"kind":"hang","part":"gpu3","doing":"gemm bf16 round 17","seconds":60})"
                "\n";
  burn.end = replaced(burn.end, "true,", "false,");
  burn.status = 3;

  const auto found = burn.read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "burn.complete"), 0);
  EXPECT_EQ(value_of(*found, "gpu.hang", "gpu3"), 1);
  EXPECT_EQ(value_of(*found, "gpu.hang", "gpu2"), 0);
  EXPECT_NE(value_of(*found, "gemm.bf16.rate", "gpu2"), std::nullopt);
  EXPECT_EQ(value_of(*found, "gemm.bf16.rate", "gpu3"), std::nullopt);
}

TEST(GpuStages, NameNoGpuOfAHangWhereOneOfSeveralMayBeTheCause) {
  auto burn = good();
  burn.command = "collective";
  burn.lines = R"({"kind":"hang","doing":"all_reduce","seconds":61,"late":["gpu2","gpu5"]})"
               "\n";
  burn.end = R"({"kind":"end","seconds":70,"faults":0,"complete":true,"stopped":false})";
  burn.status = 3;

  const auto found = burn.read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "gpu.hang"), 1);
  EXPECT_EQ(value_of(*found, "gpu.hang", "gpu2"), std::nullopt);
  EXPECT_EQ(value_of(*found, "gpu.hang", "gpu5"), std::nullopt);
  EXPECT_EQ(value_of(*found, "gpu.hang", "gpu0"), 0);
  const auto is_open = [&](std::string_view part) {
    return std::ranges::any_of(found->unknown, [&](const auto& each) { return each.fact == part; });
  };
  EXPECT_TRUE(is_open("gpu2"));
  EXPECT_TRUE(is_open("gpu5"));
  EXPECT_FALSE(is_open("gpu0"));
}

TEST(GpuStages, PassNoGpuWithoutTheKernelsLog) {
  const auto text = replaced(good().text(), "cupel-kernel-log: told\n", "");

  EXPECT_EQ(missed("gemm", *parsed("gemm", text)), " kernel_log.readable 0\n");
  EXPECT_TRUE(is_precondition("kernel_log.readable"));
}

TEST(GpuStages, DoNotRunWhileAnotherProgramUsesTheGpus) {
  BurnText burn;
  burn.busy = "yes";
  burn.apps = "00000000:D1:00.0, 4217, python3\n";

  const auto found = burn.read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "gpu.idle", "gpu6"), 0);
  EXPECT_EQ(traced(*found, "gpu.idle", "gpu6"), "python3, process 4217");
  EXPECT_EQ(value_of(*found, "gpu.idle", "gpu0"), 1);
  EXPECT_TRUE(is_precondition("gpu.idle"));
}

TEST(GpuStages, TellHowHotAndHowOftenHeldBack) {
  auto burn = good();
  burn.celsius = 88;
  burn.reasons = "0x0000000000000024";

  const auto text = missed("gemm", *burn.read());

  EXPECT_THAT(text, AllOf(HasSubstr("gpu7 gpu.temperature 88 C\n"),
                          HasSubstr("gpu7 gpu.throttled 100 %\n")));
}

TEST(GpuStages, FailAGpuThatIsCappedOnlyWhileItWorks) {
  auto capped = good(), held = good();
  capped.power_of["9d"] = "499.80, 500.00, 1410";
  held.power_of["9d"] = "501.10, 700.00, 1410";  // by something that its limit does not tell

  EXPECT_EQ(missed("gemm", *capped.read()),
            "gpu4 gpu.power.below_best 27.3758 %\ngpu4 gpu.power.limit 500 W\n");
  EXPECT_EQ(missed("gemm", *held.read()), "gpu4 gpu.power.below_best 27.1869 %\n");
  EXPECT_EQ(value_of(*held.read(), "gpu.clock.sm", "gpu4"), 1410);
}

TEST(GpuStages, TreatAMissingLimitAsUnknown) {
  auto burn = good();
  burn.power = "688.20, [N/A], [N/A]";

  const auto found = burn.read();

  EXPECT_THAT(missed("gemm", *found), HasSubstr("gpu7 gpu.power.limit nothing\n"));
  EXPECT_EQ(value_of(*found, "gpu.power.limit", "gpu0"), std::nullopt);
  EXPECT_EQ(value_of(*found, "gpu.clock.sm", "gpu0"), std::nullopt);
}

TEST(GpuStages, DoNotTakeNotTellingForZero) {
  auto text = replaced(good().text(), ", 66, 70, 0x0000000000000004, 688.20",
                       ", [N/A], [N/A], [N/A], [N/A]");
  text = replaced(text, R"("unit":"TFLOP/s")", R"("unit":"GFLOP/s")");

  const auto found = parsed("gemm", text);

  ASSERT_TRUE(found) << found.error().what;
  for (const auto* name : {"gpu.temperature", "gpu.throttled", "gpu.power", "gemm.bf16.rate"})
    EXPECT_EQ(value_of(*found, name, "gpu0"), std::nullopt) << name;
  EXPECT_TRUE(says_unknown(*found, "gemm.rate type=bf16 of gpu0"));
}

TEST(GpuStages, RequireTheRateOfEachTypeAndListTypesWithoutACriterion) {
  const auto asked = [](const std::string& types, BurnText burn, const std::string& of) {
    burn.types = types;
    return stage("gemm")->parse(profile(of), {burn.text(), "", 0});
  };
  auto partly = good();
  partly.lines = replaced(partly.lines, "\"gpu3\",\"value\":1400", "\"gpu3\",\"value\":null");

  const auto both = asked("bf16,fp8", good(), "dgx-h100");
  const auto more = asked("bf16,fp64", good(), "dgx-h100");
  const auto one_gpu_less = asked("fp8", partly, "dgx-h100");
  const auto without_floor = asked("bf16,fp8", good(), "a100-8");

  ASSERT_TRUE(both && without_floor);
  EXPECT_EQ(missed("gemm", *both), "");
  EXPECT_FALSE(says_unknown(*both, "gemm.fp8.rate"));
  EXPECT_THAT(more.error().what, HasSubstr("asked for fp64, and 0 of 8 GPUs reported its rate"));
  EXPECT_THAT(one_gpu_less.error().what, HasSubstr("7 of 8 GPUs"));
  EXPECT_TRUE(says_unknown(*without_floor, "gemm.fp8.rate"));
}

TEST(GpuStages, TheOnlyGpuOfANodeIsItsBest) {
  auto burn = good({0});
  burn.installed = 1;

  const auto found = burn.read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "gemm.below_best", "gpu0"), 0);
  EXPECT_EQ(value_of(*found, "gpu.power.below_best", "gpu0"), 0);
}

TEST(GpuStages, AHealthyGpuSlowsDownAsItHeatsUpAtItsPowerLimit) {
  auto burn = good();
  burn.lines += result("gemm.spread", "gpu3", 20.4, "%");  // an H100 within 25 s, in fp8

  const auto found = burn.read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(missed("gemm", *found), "");
}

TEST(GpuStages, CompareEachGpuWithTheNodesBest) {
  auto burn = good();
  burn.lines += result("gemm.rate", "gpu2", 560, "TFLOP/s", R"({"type":"bf16"})");

  const auto found = burn.read();

  EXPECT_NEAR(value_of(*found, "gemm.below_best", "gpu2").value_or(-1), 20.8, 0.1);
  EXPECT_NEAR(value_of(*found, "gemm.below_best", "gpu0").value_or(-1), 0.99, 0.01);
}

TEST(GpuStages, ChargeSlowPairsToTheGpuThatTheyShare) {
  BurnText healthy, slow_gpu, slow_pair, refusing;
  for (auto* burn : {&healthy, &slow_gpu, &slow_pair, &refusing}) burn->command = "p2p";
  healthy.lines = pairs([](int, int) { return 394; });
  slow_gpu.lines = pairs([](int i, int k) { return i == 4 || k == 4 ? 200 : 394; });
  slow_pair.lines = pairs([](int i, int k) { return i == 2 && k == 6 ? 200 : 394; });
  refusing.lines = pairs([](int i, int k) { return i == 4 || k == 4 ? 0 : 394; });

  EXPECT_EQ(missed("p2p", *healthy.read()), "");
  EXPECT_EQ(missed("p2p", *slow_gpu.read()), "gpu4 p2p.bandwidth 200 GB/s\n");
  EXPECT_EQ(missed("p2p", *slow_pair.read()), "gpu2-gpu6 p2p.pair.below_best 49.2386 %\n");
  const auto refused = *refusing.read();
  EXPECT_EQ(value_of(refused, "p2p.refused", "gpu4"), 14);
  EXPECT_EQ(value_of(refused, "p2p.refused", "gpu3"), 0);
}

/// A GPU with few healthy partners is slow with most of them, and well.
TEST(GpuStages, ChargeNoHealthyGpuWhereHalfOfThemOrMoreAreSlow) {
  BurnText four, six, both_ends;
  for (auto* burn : {&four, &six, &both_ends}) burn->command = "p2p";
  four.lines = pairs([](int i, int k) { return i < 4 || k < 4 ? 370 : 394; });
  six.lines = pairs([](int i, int k) { return i < 5 || k < 5 ? 370 : 394; });
  both_ends.lines = pairs([](int i, int k) { return i < 4 && k != i ? 370 : 394; });

  EXPECT_EQ(missed("p2p", *four.read()),
            "gpu0 p2p.bandwidth 370 GB/s\ngpu1 p2p.bandwidth 370 GB/s\n"
            "gpu2 p2p.bandwidth 370 GB/s\ngpu3 p2p.bandwidth 370 GB/s\n");
  EXPECT_THAT(missed("p2p", *six.read()), Not(AnyOf(HasSubstr("gpu5"), HasSubstr("gpu6"))));
  EXPECT_EQ(missed("p2p", *both_ends.read()), missed("p2p", *four.read()))
      << "what they send alone";
}

TEST(GpuStages, JudgeCollectivesByTheirLargestMessagesAndByTheirWay) {
  const auto sized = [](std::string_view bytes, std::string_view nvls, double rate,
                        std::string_view operation = "all_reduce") {
    return result("collective.busbw", "", rate, "GB/s",
                  fmt::format(R"({{"op":"{}","bytes":"{}","nvls":"{}","path":"nvlink"}})",
                              operation, bytes, nvls));
  };
  BurnText burn;
  burn.command = "collective";
  burn.lines = sized("17179869184", "on", 478) + sized("8", "on", 0.01) +
               sized("17179869184", "off", 364) + sized("17179869184", "off", 365, "all_gather") +
               sized("17179869184", "off", 361, "reduce_scatter") +
               result("collective.errors", "", 0, "errors");

  const auto found = burn.read();
  burn.lines = sized("1048576", "on", 40) + result("collective.errors", "", 0, "errors");
  const auto small = burn.read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(missed("collective", *found), "");
  EXPECT_EQ(value_of(*found, "collective.all_reduce.busbw"), 478);
  EXPECT_EQ(value_of(*found, "collective.all_reduce.ring.busbw"), 364);
  EXPECT_EQ(value_of(*small, "collective.all_reduce.busbw"), std::nullopt);
  EXPECT_TRUE(says_unknown(*small, "collective.all_reduce.busbw"));
}

TEST(GpuStages, TraceALossThatDiffersToItsGpu) {
  BurnText burn;
  burn.command = "train";
  burn.lines = result("train.jitter", "", 1.2, "%");
  for (int i = 0; i < 8; ++i)
    burn.lines += result("train.loss.differs", fmt::format("gpu{}", i), i == 4 ? 6 : 0, "count");

  const auto found = burn.read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(value_of(*found, "train.loss.differs"), 6);
  EXPECT_EQ(missed("train", *found), "gpu4 train.loss.differs 6\n");
}

TEST(GpuStages, ReadPciePlacesApart) {
  BurnText burn;
  burn.command = "pcie";
  for (const auto* labels : {R"({"numa":"near","gpus":"one"})", R"({"numa":"far","gpus":"one"})",
                             R"({"numa":"near","gpus":"all"})"})
    for (int i = 0; i < 8; ++i) {
      const double rate = std::string_view{labels}.contains("far") ? 40 : 55;
      burn.lines += result("pcie.h2d", fmt::format("gpu{}", i), rate, "GB/s", labels);
      burn.lines += result("pcie.d2h", fmt::format("gpu{}", i), rate, "GB/s", labels);
    }

  const auto found = burn.read();

  EXPECT_EQ(missed("pcie", *found), "");
  EXPECT_EQ(value_of(*found, "pcie.far.h2d", "gpu0"), 40);
  EXPECT_EQ(value_of(*found, "pcie.all.d2h", "gpu0"), 55);
}

TEST(GpuStages, InventNothingWhereTheirOutputIsCut) {
  auto burn = good({4});
  burn.lines += replaced(std::string{kFault}, "gpu4", "gpu0");
  burn.status = 1;
  const auto text = burn.text();
  for (std::size_t end = 0; end + 1 < text.size(); end += 3) {
    const auto found = parsed("gemm", text.substr(0, end));
    if (!found) continue;
    EXPECT_EQ(value_of(*found, "burn.complete"), 0) << end;
    EXPECT_EQ(value_of(*found, "gemm.bf16.rate", "gpu4"), std::nullopt) << end;
    EXPECT_EQ(value_of(*found, "gemm.errors", "gpu4"), 1) << end;
  }
}

TEST(GpuStages, SurviveDamage) {
  auto fault = good();
  fault.lines += kFault;
  fault.status = 1;
  BurnText two;
  two.command = "p2p";
  two.lines = pairs([](int i, int k) { return 390 + i - k; });
  for (const auto* burn : {&fault, &two}) {
    std::mt19937 random{7};
    const auto text = burn->text();
    const auto known = stage(burn->command)->measures;
    for (int round = 0; round < 60; ++round) {
      const auto found = parsed(burn->command, test::damaged(text, random), round % 3);
      if (!found) continue;
      for (const auto& each : found->measurements) {
        ASSERT_TRUE(std::isfinite(each.value)) << each.name;
        ASSERT_TRUE(std::ranges::find(known, each.name) != known.end()) << each.name;
      }
      for (const auto& each : found->unknown)
        ASSERT_TRUE(std::ranges::all_of(each.fact + each.why, [](char c) { return c >= 0x20; }));
    }
  }
}

TEST(GpuStages, RefuseParametersThatNoCommandTakes) {
  const auto why = [](std::string_view name, const Parameters& with) {
    const auto job = prepared(name, with);
    return job ? std::string{"taken"} : job.error().what;
  };

  EXPECT_THAT(why("gemm", {{"types", "bf16,int4"}}),
              HasSubstr("types must be a comma-separated list of"));
  EXPECT_THAT(why("gemm", {{"types", "bf16,bf16"}}), HasSubstr("without duplicates"));
  EXPECT_THAT(why("gemm", {{"hertz", "50"}}), HasSubstr("hertz must be 0.1 to 10"));
  EXPECT_THAT(why("gemm", {{"pattern", "round"}}), HasSubstr("pattern must be one of"));
  EXPECT_THAT(why("hbm", {{"patterns", "rows; reboot"}}), HasSubstr("patterns must be"));
  EXPECT_THAT(why("collective", {{"max", "32GiB"}}), HasSubstr("max must be"));
  EXPECT_THAT(why("train", {{"duration", "169h"}}), HasSubstr("duration must be"));
  EXPECT_EQ(why("gemm", {{"types", "bf16, fp8"}, {"pattern", "square"}, {"hertz", "0.5"}}),
            "taken");
}

}  // namespace
}  // namespace cupel::burnin
