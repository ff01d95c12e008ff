// An inventory is read side by side: what is reported, and in which order, must not depend on who
// answers first, nor lose anything when somebody stops it.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <random>

#include "bmc/redfish/inventory.h"
#include "tests/bmc/fixture.h"
#include "tests/support/captured_fetch.h"

namespace cupel::bmc {
namespace {

/// Answers late, each time after another number of turns of the loop.
class InAnyOrder final : public redfish::Fetch {
 public:
  InAnyOrder(const std::filesystem::path& tree, unsigned seed) : tree_{tree}, chance_{seed} {}

  Task<Result<json::value>> get(std::string uri, Deadline deadline) override {
    ++in_flight_;
    most_in_flight = std::max(most_in_flight, in_flight_);
    const auto executor = co_await asio::this_coro::executor;
    for (auto turns = chance_() % 20; turns > 0; --turns)
      co_await asio::post(executor, asio::use_awaitable);
    auto answer = co_await tree_.get(std::move(uri), deadline);
    --in_flight_;
    if (++answered == stop_at) stop->emit(asio::cancellation_type::terminal);
    co_return answer;
  }

  int most_in_flight = 0, answered = 0, stop_at = 0;
  asio::cancellation_signal* stop = nullptr;

 private:
  test::CapturedFetch tree_;
  std::minstd_rand chance_;
  int in_flight_ = 0;
};

/// A BMC that answers two questions in each round, the oldest ones.
class InRounds final : public redfish::Fetch {
 public:
  explicit InRounds(const std::filesystem::path& tree) : tree_{tree} {}

  Task<Result<json::value>> get(std::string uri, Deadline deadline) override {
    asio::steady_timer turn{co_await asio::this_coro::executor,
                            asio::steady_timer::time_point::max()};
    line_.push_back(&turn);
    (void)co_await turn.async_wait(asio::as_tuple(asio::use_awaitable));
    co_return co_await tree_.get(std::move(uri), deadline);
  }

  /// Runs the loop until nobody asks any more. How many rounds that took.
  int serve(asio::io_context& io) {
    for (int rounds = 0;; ++rounds) {
      io.restart();
      while (io.poll() > 0) {
      }
      if (line_.empty()) return rounds;
      for (int place = 0; place < 2 && !line_.empty(); ++place) {
        line_.front()->cancel();
        line_.pop_front();
      }
    }
  }

  int requests() const { return tree_.requests; }

 private:
  test::CapturedFetch tree_;
  std::deque<asio::steady_timer*> line_;
};

TEST(Reading, OfADgxH100KeepsBothPlacesBusy) {
  CUPEL_NEED_CAPTURE(tree, "nvidia_viking");
  asio::io_context io;
  InRounds bmc{tree};
  std::optional<Result<Observed>> seen;
  asio::co_spawn(
      io,
      [](redfish::Fetch& from, std::optional<Result<Observed>>& into) -> Task<void> {
        co_await asio::this_coro::throw_if_cancelled(false);
        into.emplace(co_await redfish::read_inventory(from, Deadline::in(60s)));
      }(bmc, seen),
      [](std::exception_ptr) {});

  const int rounds = bmc.serve(io);

  ASSERT_TRUE(seen && *seen);
  const int bound = bmc.requests() / 2;
  RecordProperty("rounds", rounds);
  RecordProperty("bound", bound);
  EXPECT_GE(bound * 100 / rounds, 95) << rounds << " rounds for " << bmc.requests() << " requests";
}

class ReadingOrder : public ::testing::TestWithParam<std::string> {};

TEST_P(ReadingOrder, GivesTheSameInventoryInAnyOrderOfAnswers) {
  CUPEL_NEED_CAPTURE(tree, GetParam());
  asio::io_context io;
  test::CapturedFetch in_turn{tree};
  const auto expected = run_to_end(io, redfish::read_inventory(in_turn, Deadline::in(60s)));
  ASSERT_TRUE(expected);

  for (unsigned seed = 1; seed <= 5; ++seed) {
    InAnyOrder fetch{tree, seed};
    const auto seen = run_to_end(io, redfish::read_inventory(fetch, Deadline::in(60s)));

    ASSERT_TRUE(seen) << seen.error().what;
    EXPECT_EQ(seen->parts, expected->parts);
    EXPECT_EQ(seen->unknown, expected->unknown);
    EXPECT_EQ(seen->requests, expected->requests);
    EXPECT_EQ(fetch.answered, in_turn.requests);
    EXPECT_LE(fetch.most_in_flight, 3);
  }
}

INSTANTIATE_TEST_SUITE_P(Captured, ReadingOrder,
                         ::testing::Values("nvidia_viking", "supermicro", "dell", "nvidia_gb200"),
                         [](const auto& which) { return which.param; });

TEST(Reading, ThatIsStoppedHalfwayEndsWithAllOfItsSections) {
  CUPEL_NEED_CAPTURE(tree, "nvidia_viking");
  asio::io_context io;
  InAnyOrder fetch{tree, 1};
  asio::cancellation_signal stop;
  fetch.stop = &stop;
  fetch.stop_at = 60;
  std::optional<Result<Observed>> seen;

  const auto read = [](redfish::Fetch& from, std::optional<Result<Observed>>& into) -> Task<void> {
    co_await asio::this_coro::throw_if_cancelled(false);
    into.emplace(co_await redfish::read_inventory(from, Deadline::in(60s)));
  };
  asio::co_spawn(io, read(fetch, seen),
                 asio::bind_cancellation_slot(stop.slot(), [](std::exception_ptr) {}));
  io.run();

  ASSERT_TRUE(seen);
  ASSERT_FALSE(*seen);
  EXPECT_EQ(seen->error().code, Code::kCancelled);
  EXPECT_LE(fetch.answered, 63);
}

}  // namespace
}  // namespace cupel::bmc
