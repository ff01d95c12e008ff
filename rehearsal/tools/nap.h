#pragma once
// How long a pause of a virtual process lasts.
#include <algorithm>

#include "rehearsal/shell/host.h"

namespace cupel::rehearsal {

/// Of `span`, on a machine of the rack. One as short as those that end only to look again is
/// lengthened where the rack's loop is busy (Clock::shortest_nap); a longer one is
/// a stage's own time, which its result depends on.
inline VirtualTime nap_of(const Machine& machine, VirtualTime span) {
  constexpr VirtualTime kLooksAgain{10};
  return span > kLooksAgain ? span : std::max(span, machine.clock().shortest_nap());
}

}  // namespace cupel::rehearsal
