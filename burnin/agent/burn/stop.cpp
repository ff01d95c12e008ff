#include "burnin/agent/burn/stop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <limits>

namespace cupel::burn {
namespace {

std::atomic<bool> signalled{false};
std::atomic<int> to_wake{-1};
std::atomic<std::int64_t> last_of_request{0};  // nanoseconds of CLOCK_MONOTONIC
std::atomic<std::int64_t> request_lasts{0};    // nanoseconds
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
              std::atomic<std::int64_t>::is_always_lock_free);

void light(int event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event, &one, sizeof one);  // lit already: as well
}

/// Calls nothing but what signal-safety(7) allows.
void on_signal(int number) {
  const int kept = errno;
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  const std::int64_t now = time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
  if (signalled.exchange(true)) {
    if (now > last_of_request) {
      ::signal(number, SIG_DFL);
      ::raise(number);  // blocked until this function returns
    }
  } else {
    last_of_request = now + request_lasts;
    if (const int event = to_wake; event >= 0) light(event);
  }
  errno = kept;
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

void Stop::listen(Clock::duration same_request) {
  signalled = false;
  request_lasts = std::chrono::nanoseconds{same_request}.count();
  last_of_request = std::numeric_limits<std::int64_t>::max();
  to_wake = event_;
  struct sigaction action{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
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
