#include "rehearsal/rack_timer.h"

namespace cupel::rehearsal {

struct RackTimer::Wait {
  Wait(const Clock& clock, VirtualTime until, std::function<void()> act)
      : when{until}, due{clock, until}, then{std::move(act)} {}

  VirtualTime when;
  Clock::Due due;
  std::function<void()> then;
};

RackTimer::RackTimer(asio::any_io_executor executor, const Clock& clock)
    : clock_{clock}, timer_{executor} {}

void RackTimer::start(VirtualTime span, std::function<void()> then) {
  wait_ = std::make_shared<Wait>(clock_, clock_.elapsed() + span, std::move(then));
  wait();
}

void RackTimer::cancel() {
  wait_.reset();
  timer_.cancel();
}

void RackTimer::wait() {
  timer_.expires_after(clock_.real(wait_->when - clock_.elapsed()));
  timer_.async_wait([this, mine = std::weak_ptr{wait_}](boost::system::error_code stopped) {
    // Where this lives no more, neither does the wait.
    const auto waited = mine.lock();
    if (stopped || !waited || waited != wait_) return;
    if (clock_.elapsed() < waited->when) return wait();
    const auto then = std::move(waited->then);
    wait_.reset();
    then();
  });
}

}  // namespace cupel::rehearsal
