#include "burnin/agent/burn/way_choice.h"

#include <algorithm>

namespace cupel::burn {

WayChoice choose_way(std::span<const WayTrials> of_gpus) {
  std::size_t ways = 0;
  for (const auto& trials : of_gpus) ways = std::max(ways, trials.size());
  const bool must_rotate =
      of_gpus.size() == 1 && std::ranges::any_of(of_gpus.front(), &WayTrial::rotates);
  WayChoice choice;
  double least = 0;
  for (std::size_t way = 0; way < ways; ++way) {
    int tried = 0;
    int repeats = 0;
    double seconds = 0;
    for (const auto& trials : of_gpus) {
      if (way >= trials.size()) continue;
      ++tried;
      repeats += trials[way].repeats ? 1 : 0;
      seconds += trials[way].seconds;
    }
    if (tried >= 2 && repeats == 0) {
      ++choice.dropped;
      continue;
    }
    if (must_rotate && !of_gpus.front()[way].rotates) continue;
    seconds /= tried;
    if (choice.way && seconds >= least) continue;
    least = seconds;
    choice.way = way;
    choice.rotates = std::ranges::any_of(of_gpus, [way](const WayTrials& trials) {
      return way < trials.size() && trials[way].rotates;
    });
  }
  if (ways == 0) choice.way = 0;
  return choice;
}

}  // namespace cupel::burn
