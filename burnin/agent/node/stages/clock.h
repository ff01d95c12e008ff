#pragma once
// Time as a stage sees it: a node's monotonic clock, or the time of a virtual rack.
#include <chrono>

#include "burnin/agent/node/stages/work.h"

namespace cupel::agent {

class StageClock {
 public:
  struct Passed {};

  StageClock() = default;
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;
  virtual ~StageClock() = default;

  /// Since some moment of the past; never goes back.
  virtual std::chrono::milliseconds now() const = 0;

  /// How long to wait before something is only looked at again: `span`, or longer in a virtual rack
  /// whose loop is busy.
  virtual std::chrono::milliseconds until_next_look(std::chrono::milliseconds span) const {
    return span;
  }

  /// At least so long.
  Wait<Passed> pause(std::chrono::milliseconds span) {
    return Wait<Passed>{[this, span](Wait<Passed>& wait) { return begin(span, wait); }};
  }

 private:
  /// As Wait::Begin.
  virtual bool begin(std::chrono::milliseconds span, Wait<Passed>& wait) = 0;
};

}  // namespace cupel::agent
