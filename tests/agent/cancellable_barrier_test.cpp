#include "burnin/agent/common/cancellable_barrier.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace cupel::agent {
namespace {

TEST(CancellableBarrier, ReleasesAllMembersTogetherInEachPhase) {
  CancellableBarrier barrier{4};
  std::atomic<int> steps{0};
  std::atomic<int> ahead{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        const CancelOnExit cancels{barrier};
        for (int step = 0; step < 200; ++step) {
          if (!barrier.arrive_and_wait()) return;
          if (steps.fetch_add(1) / 4 != step) ++ahead;
          if (!barrier.arrive_and_wait()) return;
        }
      });
  }

  EXPECT_EQ(steps, 800);
  EXPECT_EQ(ahead, 0);
}

TEST(CancellableBarrier, ReleasesTheOthersWhenOneMemberExits) {
  CancellableBarrier barrier{3};
  std::atomic<int> released{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&] { released += barrier.arrive_and_wait() ? 0 : 1; });
    threads.emplace_back([&] { const CancelOnExit cancels{barrier}; });
  }

  EXPECT_EQ(released, 2);
  EXPECT_TRUE(barrier.is_cancelled());
}

TEST(CancellableBarrier, AppliesTheLastMembersAnswerToAll) {
  CancellableBarrier barrier{3};
  std::atomic<int> asked{0};
  std::atomic<int> continued{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        for (int step = 0; step < 10; ++step) {
          const auto goes_on = [&] { return ++asked < 4; };
          if (!barrier.arrive_and_wait(goes_on)) return;
          ++continued;
        }
      });
  }

  EXPECT_EQ(asked, 4);
  EXPECT_EQ(continued, 9);
}

TEST(CancellableBarrier, GivesAllMembersTheSameNumberOfStepsWhenTimeIsOver) {
  std::atomic<int> asked{0};
  CancellableBarrier barrier{4};
  std::vector<int> steps(4);
  {
    std::vector<std::jthread> ranks;
    for (int& mine : steps)
      ranks.emplace_back([&barrier, &asked, &mine] {
        while (barrier.arrive_and_wait([&asked] { return ++asked <= 100; })) ++mine;
      });
  }

  EXPECT_THAT(steps, ::testing::Each(100));
}

TEST(CancellableBarrier, RefusesWhoWaitsAndWhoArrivesOnceItIsCancelled) {
  CancellableBarrier barrier{2};
  auto waiting = std::async(std::launch::async, [&] { return barrier.arrive_and_wait(); });

  barrier.cancel();

  ASSERT_EQ(waiting.wait_for(std::chrono::minutes{1}), std::future_status::ready);
  EXPECT_FALSE(waiting.get());
  EXPECT_FALSE(barrier.arrive_and_wait());
}

}  // namespace
}  // namespace cupel::agent
