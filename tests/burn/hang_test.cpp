#include "burnin/agent/burn/hang.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "burnin/agent/burn/report.h"

namespace cupel::burn {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Eight GPUs that were last heard of one second ago.
std::vector<WorkerState> eight() {
  std::vector<WorkerState> workers(8);
  for (std::size_t gpu = 0; gpu < 8; ++gpu)
    workers[gpu] = {.part = "gpu" + std::to_string(gpu), .doing = "gemm bf16", .seconds = 1};
  return workers;
}

/// Eight GPUs that wait for each other in one all-reduce.
std::vector<WorkerState> in_step() {
  auto workers = eight();
  for (auto& worker : workers) {
    worker.doing = "all_reduce";
    worker.in_step = true;
    worker.passed = 1;
    worker.seconds = 60.001;
  }
  return workers;
}

TEST(BurnHang, NamesOneThatStoppedWhileTheOthersGoOn) {
  auto workers = eight();
  workers[5].seconds = 60;

  const auto hangs = judge_hangs(workers, seconds{60});

  ASSERT_EQ(hangs.size(), 1);
  EXPECT_EQ(hangs[0].part, "gpu5");
  EXPECT_EQ(hangs[0].seconds, 60);
  EXPECT_THAT(hangs[0].late, ElementsAre("gpu5"));
}

TEST(BurnHang, NamesNoneBeforeItsTimeIsOver) {
  auto workers = eight();
  workers[5].seconds = 59;

  EXPECT_TRUE(judge_hangs(workers, seconds{60}).empty());
}

TEST(BurnHang, NamesTheOneThatTheOthersWaitForAtABarrier) {
  auto workers = eight();
  for (auto& worker : workers) {
    worker.seconds = 61;
    worker.idle = worker.part != "gpu2";
  }

  const auto hangs = judge_hangs(workers, seconds{60});

  ASSERT_EQ(hangs.size(), 1);
  EXPECT_EQ(hangs[0].part, "gpu2");
}

TEST(BurnHang, DoesNotClearASecondOneThatStoppedLater) {
  auto workers = eight();
  workers[2].seconds = 40;
  workers[5].seconds = 60;

  const auto hangs = judge_hangs(workers, seconds{60});

  ASSERT_EQ(hangs.size(), 1);
  EXPECT_EQ(hangs[0].part, "gpu5");
  EXPECT_THAT(hangs[0].late, ElementsAre("gpu2", "gpu5"));
}

TEST(BurnHang, NamesNoneWhereAllStoppedAtOnce) {
  auto workers = eight();
  for (auto& worker : workers) worker.seconds = 60;
  workers[3].seconds = 60.5;

  const auto hangs = judge_hangs(workers, seconds{60});

  ASSERT_EQ(hangs.size(), 1);
  EXPECT_EQ(hangs[0].part, "");
  EXPECT_EQ(hangs[0].late.size(), 8);
}

TEST(BurnHang, NamesAGpuThatIsAlone) {
  const WorkerState only{.part = "gpu0", .doing = "hbm random", .seconds = 60};

  EXPECT_EQ(judge_hangs({&only, 1}, seconds{60}).at(0).part, "gpu0");
}

TEST(BurnHang, NamesTheOneGpuThatHasNotReachedTheCollective) {
  auto workers = in_step();
  workers[5].passed = 0;
  workers[0].seconds = 60.3;  // the first to wait is not the guilty one

  const auto hangs = judge_hangs(workers, seconds{60});

  ASSERT_EQ(hangs.size(), 1);
  EXPECT_EQ(hangs[0].part, "gpu5");
  EXPECT_THAT(hangs[0].late, ElementsAre("gpu5"));
}

TEST(BurnHang, NamesNoneWhereAllHaveReachedTheCollective) {
  auto workers = in_step();
  workers[4].seconds = 60.4;

  const auto hangs = judge_hangs(workers, seconds{60});

  ASSERT_EQ(hangs.size(), 1);
  EXPECT_EQ(hangs[0].part, "");
  EXPECT_EQ(hangs[0].late.size(), 8);
}

TEST(BurnHang, ListsAGpuThatDoesNotAnswerAndDoesNotNameIt) {
  auto workers = in_step();
  workers[6].passed = std::nullopt;

  const auto alone = judge_hangs(workers, seconds{60});
  workers[1].passed = 0;
  const auto beside = judge_hangs(workers, seconds{60});

  EXPECT_EQ(alone.at(0).part, "");
  EXPECT_THAT(alone.at(0).late, ElementsAre("gpu6"));
  EXPECT_EQ(beside.at(0).part, "");
  EXPECT_THAT(beside.at(0).late, ElementsAre("gpu1", "gpu6"));
}

TEST(BurnHang, ReportsWhoMayHangBesideTheOneThatIsNamed) {
  std::string text;
  Report report{[&](std::string_view line) { text += line; }};

  report.hang({.part = "gpu5", .doing = "gemm bf16", .seconds = 60, .late = {"gpu5"}});
  report.hang({.part = "", .doing = "all_reduce", .seconds = 61, .late = {"gpu1", "gpu6"}});

  EXPECT_EQ(text,
            "{\"kind\":\"hang\",\"part\":\"gpu5\",\"doing\":\"gemm bf16\",\"seconds\":60}\n"
            "{\"kind\":\"hang\",\"doing\":\"all_reduce\",\"seconds\":61,"
            "\"late\":[\"gpu1\",\"gpu6\"]}\n");
}

}  // namespace
}  // namespace cupel::burn
