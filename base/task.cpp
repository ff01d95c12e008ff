#include "base/task.h"

namespace cupel {

Task<Result<void>> pause_for(std::chrono::milliseconds pause) {
  asio::steady_timer timer{co_await asio::this_coro::executor, pause};
  const auto [stopped] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  if (stopped) co_return Error{Code::kCancelled, "stopped while waiting"};
  co_return ok();
}

}  // namespace cupel
