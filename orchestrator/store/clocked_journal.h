#pragma once
// A journal that also writes down when the machine's clock was set: all times in it are that
// clock's, and nobody could tell otherwise how long anything took.
#include "orchestrator/engine/clock.h"
#include "orchestrator/engine/interfaces.h"

namespace cupel::store {

class ClockedJournal : public engine::Journal {
 public:
  ClockedJournal(engine::Journal& journal, const engine::Clock& clock)
      : journal_{journal}, clock_{clock}, lead_{lead()} {}

  /// The first event after the clock was set by more than kNoticed carries `clock_set_ms`: by how
  /// much, forward or back. Errors: as the journal's.
  Task<Result<void>> append(std::span<engine::Event> events) override;

  /// Less is what a clock is corrected by that is kept right by NTP.
  static constexpr std::chrono::milliseconds kNoticed{2000};

 private:
  /// How far the time of day is ahead of the time that passes.
  std::chrono::milliseconds lead() const;

  engine::Journal& journal_;
  const engine::Clock& clock_;
  std::chrono::milliseconds lead_;
};

}  // namespace cupel::store
