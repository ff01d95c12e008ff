#include "burnin/agent/burn/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <limits>
#include <thread>

#include "base/json.h"
#include "burnin/agent/burn/cuda_failure.h"
#include "burnin/agent/burn/self_test.h"
#include "burnin/agent/burn/workers.h"

namespace cupel::burn {
namespace {

/// What was printed, each line parsed; a line that is none fails the test.
struct Printed {
  std::vector<json::object> lines;
  Report::Clock::time_point now{};
  Report report{[this](std::string_view line) {
                  EXPECT_TRUE(line.ends_with('\n'));
                  EXPECT_EQ(line.find('\n'), line.size() - 1);
                  auto parsed = parse_json(line);
                  ASSERT_TRUE(parsed) << line;
                  lines.push_back(parsed->as_object());
                },
                [this] { return now; }};
};

TEST(BurnReport, AStartSaysWhatRunsOnWhat) {
  Printed printed;

  printed.report.start({.command = "gemm",
                        .cuda = "13.0",
                        .driver = "580.65.06",
                        .gpus = {{.index = 0,
                                  .uuid = "GPU-1",
                                  .pci = "0000:1b:00.0",
                                  .name = "NVIDIA H100 \"80GB\"\\\n\x01\xff",
                                  .sms = 132,
                                  .memory = 85899345920}},
                        .parameters = R"({"seconds":60})"});

  EXPECT_EQ(printed.lines.at(0),
            json::parse(R"({"kind":"start","program":"cupel-burn",
      "version":")" CUPEL_VERSION
                        R"(","protocol":1,"command":"gemm","cuda":"13.0","driver":"580.65.06",
      "gpus":[{"index":0,"uuid":"GPU-1","pci":"0000:1b:00.0",
               "name":"NVIDIA H100 \"80GB\"\\\n\u0001\ufffd","sms":132,"memory":85899345920}],
      "parameters":{"seconds":60}})")
                .as_object());
}

TEST(BurnReport, AResultIsAMedianWithItsSpread) {
  Printed printed;

  printed.report.result("gemm.rate", "gpu0", Samples{{100, 101, 102, 103, 104}}, "TFLOP/s",
                        {{"type", "bf16"}});

  const auto& line = printed.lines.at(0);
  EXPECT_EQ(line.at("value").to_number<int>(), 102);
  EXPECT_EQ(line.at("count").to_number<int>(), 5);
  EXPECT_NEAR(line.at("spread").to_number<double>(), 100 * 3.6 / 102, 1e-9);
  EXPECT_EQ(line.at("labels").as_object().at("type"), "bf16");
}

TEST(BurnReport, WithoutASampleThereIsNoFigure) {
  Printed printed;

  printed.report.result("gemm.rate", "gpu0", Samples{}, "TFLOP/s");

  EXPECT_TRUE(printed.lines.empty());
}

TEST(BurnReport, WhatIsNoNumberIsMissingAndNotZero) {
  Printed printed;

  printed.report.result("train.mfu", "", std::numeric_limits<double>::quiet_NaN(), "%");

  EXPECT_TRUE(printed.lines.at(0).at("value").is_null());
}

TEST(BurnReport, AFaultNamesItsPlaceAndCounts) {
  Printed printed;

  printed.report.fault({.what = "wrong-result",
                        .part = "gpu4",
                        .sm = 17,
                        .round = 3,
                        .address = 0x7f0000000010,
                        .celsius = 71,
                        .detail = "C[1, 2]"},
                       5);
  printed.report.end(true, false);

  EXPECT_EQ(printed.lines.at(0), json::parse(R"({"kind":"fault","what":"wrong-result",
      "part":"gpu4","sm":17,"round":3,"address":"0x7f0000000010","celsius":71,"count":5,
      "detail":"C[1, 2]"})")
                                     .as_object());
  EXPECT_EQ(printed.lines.at(1).at("faults").to_number<int>(), 5);
  EXPECT_EQ(exit_status(printed.report, false), 1);
}

TEST(BurnReport, AfterAThousandFaultsTheyAreOnlyCounted) {
  Printed printed;

  for (int at = 0; at < 1'700; ++at) printed.report.fault({.what = "wrong-memory"});

  EXPECT_EQ(printed.lines.size(), 1'000);
  EXPECT_EQ(printed.report.faults(), 1'700);
}

TEST(BurnReport, HardwareThatReportsItsDefectIsAFaultAndNoError) {
  for (const int status : {46, 214, 220, 226, 714}) {
    Printed printed;

    printed.report.failure(cuda_failure(status, "cudaErrorSome", "multiplying").on("gpu3"));

    EXPECT_EQ(printed.lines.at(0).at("kind"), "fault") << status;
    EXPECT_EQ(printed.lines.at(0).at("what"), "gpu-error");
    EXPECT_EQ(printed.lines.at(0).at("part"), "gpu3");
    EXPECT_FALSE(printed.report.failed());
  }
}

TEST(BurnReport, WhatKeepsFromFindingOutIsAnErrorWithItsCode) {
  const std::vector<std::pair<int, std::string>> codes{
      {2, "memory"}, {35, "no-cuda-device"}, {100, "no-cuda-device"},
      {700, "cuda"}, {721, "cuda"},          {802, "no-cuda-device"},
      {999, "cuda"}};
  for (const auto& [status, code] : codes) {
    Printed printed;

    printed.report.failure(cuda_failure(status, "cudaErrorSome", "counting the GPUs"));

    EXPECT_EQ(printed.lines.at(0).at("kind"), "error");
    EXPECT_EQ(printed.lines.at(0).at("code").as_string(), code) << status;
    EXPECT_EQ(exit_status(printed.report, false), 2);
    if (code == "no-cuda-device")
      EXPECT_TRUE(printed.lines.at(0).at("message").as_string().starts_with("no CUDA device"));
  }
}

TEST(BurnReport, ASelfTestThatMissesOneIsAFault) {
  Printed printed;

  printed.report.self_test("result-bit", 1'000, 1'000);
  EXPECT_EQ(exit_status(printed.report, false), 0);
  printed.report.self_test("memory-bit", 999, 1'000, "gpu0");

  EXPECT_TRUE(printed.lines.at(0).at("found").as_bool());
  EXPECT_FALSE(printed.lines.at(1).at("found").as_bool());
  EXPECT_EQ(printed.lines.at(1).at("detail"), "999 of 1000: gpu0");
  EXPECT_EQ(exit_status(printed.report, false), 1);
}

TEST(BurnReport, ASelfTestThatPlantedNothingFoundNothing) {
  Printed printed;

  printed.report.self_test("sm-bit", 0, 0);

  EXPECT_EQ(exit_status(printed.report, false), 1);
}

TEST(BurnSelfTest, WithoutTimeForAllItIsNotProven) {
  Printed printed;
  const Stop stop{std::chrono::seconds{0}};

  const auto outcome = tell_self_test(printed.report, stop, "memory-bit", 7, 7, 1'000, "gpu0");

  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, "refused");
  EXPECT_THAT(outcome.error().message, ::testing::HasSubstr("7 of 1000"));
  EXPECT_EQ(printed.lines.at(0).at("detail"), "7 of 7: gpu0");
}

TEST(BurnReport, ReportsStoppedOnlyWhereNoFaultIsWorse) {
  Printed sound;
  Printed faulty;
  Printed failed;
  faulty.report.fault({.what = "wrong-result"});
  failed.report.failure({.code = "nccl", .message = "?"});

  EXPECT_EQ(exit_status(sound.report, true), 4);
  EXPECT_EQ(exit_status(faulty.report, true), 1);
  EXPECT_EQ(exit_status(failed.report, true), 2);
}

TEST(BurnReport, LinesOfManyThreadsStayWhole) {
  Printed printed;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&printed] {
        for (int at = 0; at < 200; ++at) printed.report.progress(60, 1, "gemm bf16");
      });
  }

  EXPECT_EQ(printed.lines.size(), 800);
}

TEST(BurnCrew, OneThatFailsLetsTheOthersEndAndIsNamed) {
  Printed printed;
  Stop stop{std::chrono::seconds{30}};

  const bool sound = run_workers(
      {{"gpu0",
        [&]() -> Outcome<> {
          stop.wait_until(stop.deadline());
          return done();
        }},
       {"gpu1", []() -> Outcome<> { return Failure{.code = "cuda", .message = "broke"}; }}},
      printed.report, stop);

  EXPECT_FALSE(sound);
  EXPECT_TRUE(stop.given_up());
  ASSERT_EQ(printed.lines.size(), 1);
  EXPECT_EQ(printed.lines[0].at("part"), "gpu1");
}

}  // namespace
}  // namespace cupel::burn
