#pragma once
// A ticket's events until somebody takes them. Bounded: of progress, fetches and refusals only the
// last may be left; of the others none is dropped, the machine is asked to come again.
#include <deque>
#include <optional>

#include "orchestrator/netboot/ticket.h"

namespace cupel::netboot {

class EventQueue {
 public:
  static constexpr std::size_t kMost = 32;

  /// False: there is no room, and it must not be dropped.
  bool push(BootEvent event);
  std::optional<BootEvent> pop();
  bool empty() const { return events_.empty(); }

 private:
  bool make_room();

  std::deque<BootEvent> events_{};
};

}  // namespace cupel::netboot
