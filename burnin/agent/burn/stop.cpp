#include "burnin/agent/burn/stop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>

namespace cupel::burn {
namespace {

std::atomic<bool> signalled{false};
std::atomic<int> to_wake{-1};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void light(int event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event, &one, sizeof one);  // lit already: as well
}

void on_signal(int) {
  signalled = true;
  if (const int event = to_wake; event >= 0) light(event);
}

}  // namespace

Stop::Stop(Clock::duration time)
    : begun_{Clock::now()},
      deadline_{begun_ + time},
      event_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {}

Stop::~Stop() {
  int mine = event_;
  to_wake.compare_exchange_strong(mine, -1);
  if (event_ >= 0) ::close(event_);
}

void Stop::listen() {
  signalled = false;
  to_wake = event_;
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
}

bool Stop::by_signal() const { return to_wake == event_ && signalled; }

void Stop::give_up() {
  given_up_ = true;
  light(event_);
}

bool Stop::over() const { return given_up_ || by_signal() || Clock::now() >= deadline_; }

bool Stop::wait_until(Clock::time_point moment) {
  const auto until = std::min(moment, deadline_);
  while (!over()) {
    const auto left = until - Clock::now();
    if (left <= Clock::duration::zero()) return !over();
    const auto whole = std::chrono::ceil<std::chrono::nanoseconds>(left).count();
    const timespec wait{.tv_sec = whole / 1'000'000'000, .tv_nsec = whole % 1'000'000'000};
    pollfd lit{.fd = event_, .events = POLLIN, .revents = 0};
    ::ppoll(&lit, 1, &wait, nullptr);
  }
  return false;
}

}  // namespace cupel::burn
