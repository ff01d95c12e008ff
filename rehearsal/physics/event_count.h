#pragma once
// How many errors there have been: a Poisson process that can be asked for any moment, in any
// order, and always tells of the same errors. Time here is exposure: the integral of the rate, so
// that a rate that changes needs no other process (the time-rescaling theorem).
#include <cstdint>

#include "rehearsal/physics/random.h"

namespace cupel::rehearsal {

/// Events of unit rate in [0, exposure). Never falls as `exposure` grows. Costs some sixty draws,
/// however many events there are.
std::uint64_t events_until(Draw of, double exposure);

/// The exposure at which the first of them came; there must be one in [0, exposure).
double first_event(Draw of, double exposure);

/// Exposure that grows by a rate, which changes at events.
class Exposure {
 public:
  /// From `at` on, so many a second. The same as before changes nothing.
  void rate(double a_second, double at) {
    if (a_second == rate_) return;
    sum_ = until(at);
    since_ = at;
    rate_ = a_second;
  }
  double until(double at) const { return sum_ + rate_ * (at > since_ ? at - since_ : 0); }
  /// When it had come to so much; of what was before the last change, the moment of that.
  double moment_of(double exposure) const {
    return exposure > sum_ && rate_ > 0 ? since_ + (exposure - sum_) / rate_ : since_;
  }

 private:
  double sum_ = 0, since_ = 0, rate_ = 0;
};

}  // namespace cupel::rehearsal
