#pragma once
// Time as the engine sees it. The real clock is the machine's; a virtual one lets a 72-hour
// campaign pass in seconds, and the same from the same seed.
#include "base/task.h"
#include "orchestrator/engine/event.h"

namespace cupel::engine {

class Clock {
 public:
  using Time = Deadline::Clock::time_point;

  virtual ~Clock() = default;

  /// Never goes back, never jumps: what patience is measured with.
  virtual Time now() const = 0;
  /// What people and the journal call it. May jump, both ways.
  virtual WallTime wall() const = 0;
  /// Errors: kCancelled.
  virtual Task<Result<void>> pause_until(Time when) = 0;
};

/// The machine's. Needs no object of its own: all of them tell the same.
class RealClock final : public Clock {
 public:
  Time now() const override { return Deadline::Clock::now(); }
  WallTime wall() const override;
  Task<Result<void>> pause_until(Time when) override;
};

}  // namespace cupel::engine
