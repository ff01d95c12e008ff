#include "burnin/agent/burn/gathering.h"

namespace cupel::burn {

bool Gathering::go() {
  std::unique_lock lock{mutex_};
  if (left_) return false;
  if (++here_ == of_) {
    here_ = 0;
    ++turn_;
    goes_ = goes_on_();
    came_.notify_all();
    return goes_;
  }
  came_.wait(lock, [this, turn = turn_] { return left_ || turn_ != turn; });
  return !left_ && goes_;
}

void Gathering::leave() {
  const std::scoped_lock lock{mutex_};
  left_ = true;
  came_.notify_all();
}

}  // namespace cupel::burn
