// A signal ends a command whose work does not end by itself.
#include "orchestrator/cli/interrupt.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/post.hpp>

#include "orchestrator/cli/command_rows.h"

namespace cupel::cli {
namespace {

/// Misses its cancellation, and goes on. The signal comes once it is listened for.
Task<int> go_on() {
  co_await asio::post(asio::use_awaitable);
  ::raise(SIGTERM);
  for (;;) [[maybe_unused]]
    const auto paused = co_await pause_for(std::chrono::hours{1});
}

/// Gets a signal before it has waited for anything.
Task<Result<void>> signalled_at_once() {
  ::raise(SIGTERM);
  co_return co_await pause_for(std::chrono::hours{1});
}

TEST(Interrupt, IsHeardFromBeforeTheWorkBegins) {
  const auto interrupted = [] {
    asio::io_context io;
    const auto ended = run_to_end(io, until_interrupted(signalled_at_once()));
    ::_exit(ended.interrupted && ended.value.error().code == Code::kCancelled ? 0 : 1);
  };

  EXPECT_EXIT(interrupted(), ::testing::ExitedWithCode(0), "");
}

TEST(Interrupt, LeavesWorkThatDoesNotEndAfterASignal) {
  const auto interrupted = [] {
    asio::io_context io;
    (void)run_to_end(io, until_interrupted(go_on(), std::chrono::seconds{0}));
  };

  EXPECT_EXIT(interrupted(), ::testing::ExitedWithCode(static_cast<int>(Exit::unfinished)),
              "what was under way did not end within 0 s");
}

}  // namespace
}  // namespace cupel::cli
