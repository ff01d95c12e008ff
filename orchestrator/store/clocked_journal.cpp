#include "orchestrator/store/clocked_journal.h"

namespace cupel::store {

using std::chrono::milliseconds;

milliseconds ClockedJournal::lead() const {
  const auto passed = std::chrono::floor<milliseconds>(clock_.now().time_since_epoch());
  return clock_.wall().time_since_epoch() - passed;
}

Task<Result<void>> ClockedJournal::append(std::span<engine::Event> events) {
  const auto now = lead();
  const auto set = now - lead_;
  if (std::chrono::abs(set) > kNoticed && !events.empty())
    events.front().data["clock_set_ms"] = set.count();
  CO_TRY(co_await journal_.append(events));
  lead_ = now;
  co_return ok();
}

}  // namespace cupel::store
