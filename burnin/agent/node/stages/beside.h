#pragma once
// Tools that were started work, and meanwhile the node is sampled.
#include <functional>
#include <map>

#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {

struct Pace {
  std::chrono::milliseconds interval{};
  std::chrono::milliseconds span{};  // none is taken later
  std::uint64_t samples = 0;         // at most so many
};

/// What each of them printed, by the numbers of Programs::start(), when all have ended.
/// `sample`: called at that pace until then.
Work<std::map<int, Ran>> sample_until_ended(Node& node, std::size_t started, Pace pace,
                                            std::function<void()> sample);

}  // namespace cupel::agent
