#pragma once
// Misplaced cables to the fewest moves of plugs. Pure.
#include <optional>
#include <vector>

#include "inventory/fabric.h"

namespace cupel::inventory {

/// A cable that is in `at` and belongs in `wanted`; `cable` is its other end.
struct Misplaced {
  CableEnd cable;
  CableEnd at;
  CableEnd wanted;
};

/// Cables that wait for each other's ports, in the order in which they can be moved.
struct MoveGroup {
  bool cycle = false;                 // the first one has to be unplugged before there is room
  std::vector<Misplaced> in_order{};  // of a cycle: the first one is plugged in last
};

/// Each misplaced cable is in one group, and moves once: fewer moves are not possible. Every `at`
/// and every `wanted` must be different.
std::vector<MoveGroup> groups_of_moves(const std::vector<Misplaced>& misplaced);

}  // namespace cupel::inventory
