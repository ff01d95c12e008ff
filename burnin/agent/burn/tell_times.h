#pragma once
// When figures are printed while they are still being measured: a run that is cut off has then lost
// the last minute, or the last tenth. Pure.
#include <algorithm>

namespace cupel::burn {

class TellTimes {
 public:
  /// `seconds`: since the beginning. True at once, then a minute or a tenth of the time later,
  /// whichever is more: 74 times in three days.
  bool due(double seconds) {
    if (seconds < next_) return false;
    next_ = seconds + std::max(60.0, seconds / 10);
    return true;
  }

 private:
  double next_ = 0;
};

}  // namespace cupel::burn
