#pragma once
// Where the threads of all GPUs meet before each step, so that all do it or none: one that went on
// alone would wait for the others for ever.
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace cupel::burn {

class Gathering {
 public:
  Gathering(std::size_t of, std::function<bool()> goes_on)
      : of_{of}, goes_on_{std::move(goes_on)} {}

  /// Waits for all others. The last one decides for all; false as well once someone has left.
  bool go();
  /// For good: whoever waits or comes is told not to go on.
  void leave();

 private:
  const std::size_t of_;
  const std::function<bool()> goes_on_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::size_t here_ = 0;
  std::uint64_t turn_ = 0;
  bool goes_ = true;
  bool left_ = false;
};

}  // namespace cupel::burn
