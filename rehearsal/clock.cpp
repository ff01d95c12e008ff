#include "rehearsal/clock.h"

#include <algorithm>
#include <utility>

namespace cupel::rehearsal {

/// The time when it was last settled, and how it goes on from there.
struct Clock::Due::Now {
  VirtualTime at{0};
  Real::time_point since = Real::now();
  double rate = 1;
  std::multiset<VirtualTime> due{};
  Real::time_point next_nap_ends{};
  Real::time_point work_began{};
  Real::duration worked{0};         // since the last nap began
  Real::duration work_of_a_nap{0};  // what follows one, on average

  VirtualTime elapsed(Real::time_point now) const {
    const auto gone = at + VirtualTime{now - since} * rate;
    return due.empty() ? gone : std::max(at, std::min(gone, *due.begin() + kLate));
  }
  void settle() {
    const auto now = Real::now();
    at = elapsed(now);
    since = now;
  }
};

Clock::Clock(double speed) : speed_{speed}, now_{std::make_shared<Due::Now>()} {
  now_->since = start_;
  now_->rate = speed;
}

Clock::Real::duration Clock::real(VirtualTime span) const {
  constexpr VirtualTime kYear{365.0 * 86400};
  const auto capped = std::min(std::max(span, VirtualTime{0}), kYear);
  return std::chrono::ceil<Real::duration>(capped / speed_);
}

VirtualTime Clock::elapsed() const { return now_->elapsed(Real::now()); }

double Clock::epoch() const {
  const std::chrono::duration<double> began = wall_start_.time_since_epoch();
  return (began + elapsed()).count();
}

VirtualTime Clock::lost() const {
  const auto now = Real::now();
  return std::max(VirtualTime{0}, VirtualTime{now - start_} * speed_ - now_->elapsed(now));
}

VirtualTime Clock::shortest_nap() const {
  constexpr std::chrono::milliseconds kApart{2}, kLongest{1000};
  constexpr int kFew = 64, kRest = 4, kSmooth = 16;
  const auto now = Real::now();
  auto& work = now_->work_of_a_nap;
  work += (std::exchange(now_->worked, Real::duration{0}) - work) / kSmooth;
  const auto apart = std::max<Real::duration>(kApart, work * kRest);
  auto& ends = now_->next_nap_ends;
  ends = std::max(ends, now - kFew * Real::duration{kApart}) + apart;
  ends = std::min(ends, now + kLongest);
  return std::max(VirtualTime{0}, VirtualTime{ends - now} * speed_);
}

void Clock::begin() {
  start_ = now_->since = Real::now();
  wall_start_ = std::chrono::system_clock::now();
  now_->at = VirtualTime{0};
}

void Clock::go_on(double rate) {
  if (now_->rate == rate) return;
  now_->settle();
  if (rate < speed_)
    now_->work_began = now_->since;
  else
    now_->worked += now_->since - now_->work_began;
  now_->rate = rate;
}

Clock::Due::Due(const Clock& clock, VirtualTime when) : now_{clock.now_} {
  now_->settle();
  mine_ = now_->due.insert(when);
}

Clock::Due::~Due() {
  // What was passed over until now stays passed over.
  now_->settle();
  now_->due.erase(mine_);
}

}  // namespace cupel::rehearsal
