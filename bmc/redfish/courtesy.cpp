#include "bmc/redfish/courtesy.h"

namespace cupel::bmc::redfish {

Task<Result<Gate::Pass>> Gate::enter(Deadline deadline) {
  if (free_ > 0) {
    --free_;
    co_return Pass{*this};
  }
  if (line_.size() >= kMostWaiting)
    co_return Error{Code::kBusy, "too many requests wait for this BMC"};
  const auto executor = co_await asio::this_coro::executor;
  Waiter self{asio::steady_timer{executor, deadline.when()}};
  line_.push_back(&self);
  const auto [stopped] = co_await self.wake.async_wait(asio::as_tuple(asio::use_awaitable));
  if (self.admitted) co_return Pass{*this};
  std::erase(line_, &self);
  if (!stopped) co_return Error{Code::kTimeout, "no turn among the requests to this BMC"};
  co_return Error{Code::kCancelled, "stopped while waiting for a turn"};
}

// The place goes straight to the first in line: nobody who comes later can take it.
void Gate::leave() {
  if (line_.empty()) {
    ++free_;
    return;
  }
  Waiter* next = line_.front();
  line_.pop_front();
  next->admitted = true;
  next->wake.cancel();
}

}  // namespace cupel::bmc::redfish
