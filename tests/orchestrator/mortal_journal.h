#pragma once
#include <vector>

#include "orchestrator/engine/interfaces.h"

namespace cupel::test {

/// What was written survives a controller. After `room` events this one dies: before the next is
/// written, or with it written and nothing reported.
struct MortalJournal : engine::Journal {
  std::vector<engine::Event> events{};
  std::size_t room = 1'000;
  bool dies_after_writing = false;

  Task<Result<void>> append(std::span<engine::Event> more) override {
    const bool dies = events.size() + more.size() > room;
    const Error died{Code::kStorage, "the controller died"};
    if (dies && !dies_after_writing) co_return died;
    for (auto& event : more) {
      event.sequence = static_cast<std::int64_t>(events.size()) + 1;
      events.push_back(event);
    }
    if (dies) co_return died;
    co_return ok();
  }
};

}  // namespace cupel::test
