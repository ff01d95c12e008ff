#include "orchestrator/engine/clock.h"

namespace cupel::engine {

WallTime RealClock::wall() const {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

Task<Result<void>> RealClock::pause_until(Time when) {
  co_return co_await pause_for(Deadline::at(when).left());
}

}  // namespace cupel::engine
