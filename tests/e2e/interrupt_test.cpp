// A signal ends a command whose work does not end by itself.
#include "orchestrator/cli/interrupt.h"

#include <gtest/gtest.h>

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
