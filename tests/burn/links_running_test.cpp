// What a test of links runs in: figures that grow, children of this program, and a hang that others
// wait for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>

#include "burnin/agent/burn/links/child.h"
#include "burnin/agent/burn/links/figures.h"
#include "burnin/agent/burn/watchdog.h"

namespace cupel::burn {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// ---- figures and children

struct CapturedReport {
  std::string text{};
  Report report{[this](std::string_view line) { text += line; }};
};

TEST(Figures, GrowFromRoundToRound) {
  CapturedReport captured;
  Figures figures{captured.report};

  figures.add("pcie.h2d", "gpu0", Samples{{50, 51}}, "GB/s", {{"numa", "near"}});
  figures.add("pcie.h2d", "gpu0", Samples{{52, 90}}, "GB/s", {{"numa", "near"}});
  figures.count("pcie.errors", "gpu0", 2, "errors");
  figures.count("pcie.errors", "gpu0", 1, "errors");

  EXPECT_THAT(captured.text,
              HasSubstr(R"("value":51.5,"unit":"GB/s","labels":{"numa":"near"},"count":4)"));
  EXPECT_THAT(captured.text, HasSubstr(R"("name":"pcie.errors","part":"gpu0","value":3)"));
}

TEST(Child, ItsLinesBecomeTheParentsAndItsCountsToo) {
  CapturedReport captured;
  std::vector<std::string> doing;
  Relay relay{captured.report, [&](std::string_view what) { doing.emplace_back(what); }};

  relay.take("{\"kind\":\"start\",\"command\":\"collective\"}\n");
  relay.take("{\"kind\":\"progress\",\"seconds\":1,\"doing\":\"all_reduce of 8 B\"}\n");
  relay.take("{\"kind\":\"fault\",\"what\":\"wrong-result\",\"part\":\"gpu1\"}\n");
  relay.take("{\"kind\":\"error\",\"code\":\"nccl\",\"message\":\"x\"}\n");
  relay.take("NCCL WARN not one of ours\n");
  relay.take("{\"kind\":\"end\",\"seconds\":2,\"faults\":3,\"complete\":true,\"stopped\":false}\n");

  EXPECT_EQ(captured.text,
            "{\"kind\":\"fault\",\"what\":\"wrong-result\",\"part\":\"gpu1\"}\n"
            "{\"kind\":\"error\",\"code\":\"nccl\",\"message\":\"x\"}\n");
  EXPECT_EQ(captured.report.faults(), 3);
  EXPECT_TRUE(captured.report.failed());
  EXPECT_TRUE(relay.has_ended());
  EXPECT_TRUE(relay.is_complete());
  EXPECT_THAT(doing, ElementsAre("all_reduce of 8 B", "", ""));
}

TEST(Child, LinesComeWholeHoweverTheyAreWritten) {
  std::vector<std::string> lines;
  const auto status = run_child(
      {"/bin/sh", "-c", "printf one; printf ' two\\nthree\\n'; printf cut; exit 3"},
      [&](std::string_view line) { lines.emplace_back(line); }, [] { return false; });

  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 3);
  EXPECT_THAT(lines, ElementsAre("one two\n", "three\n"));
}

TEST(Child, IsAskedToEndAndTellsBySignal) {
  const auto status =
      run_child({"/bin/sh", "-c", "exec sleep 600"}, [](std::string_view) {}, [] { return true; });

  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 128 + 15);
}

TEST(Child, ThatSigtermEndedIsStoppedOnlyWhereItsParentWasAskedToStop) {
  EXPECT_TRUE(judge_end("nvls on", 4, true, true));
  EXPECT_TRUE(judge_end("nvls on", 1, true, false));
  EXPECT_TRUE(judge_end("nvls on", 128 + 15, false, true));

  const auto killed = judge_end("nvls on", 128 + 15, false, false);
  ASSERT_FALSE(killed);
  EXPECT_THAT(killed.error().message, HasSubstr("the process for nvls on ended with status 143"));
  EXPECT_FALSE(judge_end("nvls on", 128 + 9, false, true));
  EXPECT_FALSE(judge_end("nvls on", 0, false, true));
}

TEST(Child, ReportsAMissingProgram) {
  const auto status =
      run_child({"/nowhere/cupel-burn"}, [](std::string_view) {}, [] { return false; });

  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 127);
}

#ifdef BURN_BINARY
TEST(Child, WithoutAGpuEachCommandForLinksSaysSo) {
  if (std::filesystem::exists("/dev/nvidiactl")) GTEST_SKIP() << "there is a GPU here";
  for (const auto* command : {"pcie", "p2p", "collective"}) {
    std::string captured;
    const auto status = run_child(
        {BURN_BINARY, command, "--self-test", "3"},
        [&](std::string_view line) { captured += line; }, [] { return false; });

    ASSERT_TRUE(status);
    EXPECT_EQ(*status, 2) << command;
    EXPECT_THAT(captured,
                AllOf(HasSubstr(R"("code":"no-cuda-device")"), HasSubstr(R"("complete":false)")));
  }
}
#endif

TEST(LinkHang, WhatOthersWaitForIsAbortedBeforeTheProgramEnds) {
  CapturedReport captured;
  std::atomic<int> seconds{0};
  const Watchdog::Clock::time_point begun{};
  Watchdog watchdog{std::chrono::seconds{60},
                    [&] { return begun + std::chrono::seconds{seconds.load()}; }};
  std::atomic<bool> aborted{false};
  watchdog.on_hang([&] { aborted = true; });
  WatchdogScope scope{watchdog, "gpu3"};
  scope.doing("all_reduce of 16 GiB over 8 ranks, nvls on, path nvlink");
  std::promise<bool> ended;
  seconds = 61;

  const WatchdogThread watching{watchdog, captured.report, 300, [&] { ended.set_value(aborted); },
                                std::chrono::milliseconds{5}};

  auto was_aborted = ended.get_future();
  ASSERT_EQ(was_aborted.wait_for(std::chrono::minutes{1}), std::future_status::ready);
  EXPECT_TRUE(was_aborted.get());
  EXPECT_THAT(captured.text,
              HasSubstr(R"("part":"gpu3","doing":"all_reduce of 16 GiB over 8 ranks)"));
}

}  // namespace
}  // namespace cupel::burn
