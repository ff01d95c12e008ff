#include "inventory/cable_moves.h"

#include <algorithm>
#include <unordered_map>

namespace cupel::inventory {

std::vector<MoveGroup> groups_of_moves(const std::vector<Misplaced>& misplaced) {
  std::unordered_map<CableEnd, std::size_t, CableEndHash> occupant, wanted_by;
  for (std::size_t i = 0; i < misplaced.size(); ++i) {
    occupant.try_emplace(misplaced[i].at, i);
    wanted_by.try_emplace(misplaced[i].wanted, i);
  }
  const auto look = [](const auto& ends, const CableEnd& end) {
    const auto found = ends.find(end);
    return found == ends.end() ? std::optional<std::size_t>{} : std::optional{found->second};
  };
  std::vector<bool> done(misplaced.size(), false);
  std::vector<MoveGroup> groups;
  // From a cable whose port is free, to the one that waits for its port, and so on.
  const auto follow = [&](std::size_t first, bool cycle) {
    MoveGroup group{.cycle = cycle};
    for (std::optional<std::size_t> at = first; at && !done[*at];
         at = look(wanted_by, misplaced[*at].at)) {
      done[*at] = true;
      group.in_order.push_back(misplaced[*at]);
    }
    groups.push_back(std::move(group));
  };
  for (std::size_t i = 0; i < misplaced.size(); ++i)
    if (!look(occupant, misplaced[i].wanted)) follow(i, false);
  for (std::size_t i = 0; i < misplaced.size(); ++i)
    if (!done[i]) follow(i, true);
  return groups;
}

}  // namespace cupel::inventory
