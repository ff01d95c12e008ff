#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/for_each_of.h"
#include "bmc/bmc_limits.h"

namespace cupel::bmc {
namespace {

using namespace std::chrono_literals;

Budget after(std::initializer_list<Outcome> outcomes, std::chrono::milliseconds took = 100ms) {
  Budget budget;
  for (const auto outcome : outcomes) note(budget, outcome, 10, took);
  return budget;
}

TEST(Budget, OfABmcThatAnswersIsHealthy) {
  const auto budget = after({Outcome::answered, Outcome::refused, Outcome::answered});

  EXPECT_EQ(health(budget), 100);
  EXPECT_EQ(budget.requests, 3);
  EXPECT_EQ(budget.refused, 1);
  EXPECT_EQ(budget.bytes, 30);
  EXPECT_EQ(budget.latency, 100ms);
}

TEST(Budget, LosesHealthByWhatGoesWrongAndGetsItBack) {
  Budget budget;
  for (int i = 0; i < 16; ++i) note(budget, Outcome::timeout, 0, 60s);
  const int sick = health(budget);

  for (int i = 0; i < 29; ++i) note(budget, Outcome::answered, 100, 20ms);

  EXPECT_EQ(sick, 36);
  EXPECT_EQ(health(budget), 90);
  EXPECT_EQ(budget.timeouts, 16);
  EXPECT_EQ(budget.longest, 20ms);  // of an answer
}

TEST(Budget, WeighsATimeoutMoreThanABusyAnswer) {
  const int busy = health(after({Outcome::busy})), server = health(after({Outcome::server_error}));
  const int reset = health(after({Outcome::reset})), timeout = health(after({Outcome::timeout}));

  EXPECT_GT(busy, server);
  EXPECT_GT(server, reset);
  EXPECT_GT(reset, timeout);
}

TEST(Budget, HalvesTheHealthOfABmcThatTakesFourSeconds) {
  EXPECT_EQ(health(after({Outcome::answered}, 1s)), 100);
  EXPECT_EQ(health(after({Outcome::answered}, 4s)), 50);
}

TEST(Budget, IsReadBackAsItWasKept) {
  auto budget = after({Outcome::answered, Outcome::busy, Outcome::timeout, Outcome::reset});
  budget.retries = 2;

  EXPECT_EQ(budget_of(to_text(budget)), budget);
}

TEST(Budget, IsNoneWhereTheTextIsNoneOfOurs) {
  EXPECT_EQ(budget_of("[]"), std::nullopt);
  EXPECT_EQ(budget_of("{"), std::nullopt);
  EXPECT_EQ(budget_of(R"({"requests": "many", "trouble": 7, "bytes": -1})")->trouble, 1);
}

TEST(Budget, IsWhatAnotherProcessLeft) {
  InMemoryBmcState memory;
  {
    AllBmcLimits first{&memory};
    note(first.of("a01-n01").seen, Outcome::timeout, 0, 0ms);
  }

  AllBmcLimits second{&memory};

  EXPECT_EQ(second.of("a01-n01").seen.timeouts, 1);
  EXPECT_EQ(memory.budget("a01-n01")->requests, 1);
}

TEST(Budget, TellsWhatIsInUseNow) {
  asio::io_context io;
  AllBmcLimits all;
  auto& bmc_limits = all.of("a01-n01");
  const auto look = [](BmcLimits& own) -> Task<Budget> {
    auto pass = co_await own.at_once.enter(Deadline::in(1s));
    auto upload = co_await own.upload.enter(Deadline::in(1s));
    co_return own.snapshot();
  };

  const auto inside = run_to_end(io, look(bmc_limits));
  const auto outside = bmc_limits.snapshot();

  EXPECT_EQ(inside.in_flight, 1);
  EXPECT_TRUE(inside.upload_in_use);
  EXPECT_EQ(outside.in_flight, 0);
  EXPECT_FALSE(outside.upload_in_use);
}

TEST(Budget, GivesOneUploadAtATime) {
  asio::io_context io;
  AllBmcLimits all;
  const auto second = [](BmcLimits& own) -> Task<Code> {
    auto first = co_await own.upload.enter(Deadline::in(1s));
    auto other = co_await own.upload.enter(Deadline::in(20ms));
    co_return other.error().code;
  };

  EXPECT_EQ(run_to_end(io, second(all.of("a01-n01"))), Code::kTimeout);
}

TEST(Logins, StopForOneUserOnlyAndUntilThePasswordChanges) {
  InMemoryBmcState memory;
  Logins logins{memory, "a01-n01"};

  EXPECT_TRUE(logins.refused("admin", "wrong"));

  EXPECT_EQ(logins.may_try("admin", "wrong").error().code, Code::kRefused);
  EXPECT_TRUE(logins.may_try("admin", "right"));
  EXPECT_TRUE(logins.may_try("root", "wrong"));
}

TEST(Logins, KeepNothingThatLeadsBackToThePassword) {
  InMemoryBmcState memory;
  Logins logins{memory, "a01-n01"};

  logins.refused("admin", "wrong");

  const auto kept = memory.refusal("a01-n01", "admin");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->mark.size(), 6u);  // 24 bits
  EXPECT_EQ(kept->salt.size(), 16u);
  EXPECT_EQ(kept->times, 1);
}

TEST(Logins, SayNothingOfAPasswordInTheirErrors) {
  InMemoryBmcState memory;
  Logins logins{memory, "a01-n01"};
  logins.refused("admin", "hunter2");

  const auto refused = logins.may_try("admin", "hunter2");

  EXPECT_EQ(refused.error().what.find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace cupel::bmc
