#include "burnin/agent/node/stages/beside.h"

#include <algorithm>

namespace cupel::agent {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLongestWait{3'600'000};

}  // namespace

Work<std::map<int, Ran>> sample_until_ended(Node& node, std::size_t started, Pace pace,
                                            std::function<void()> sample) {
  std::map<int, Ran> all;
  auto next = node.clock.now() + pace.interval;
  const auto end = node.clock.now() + pace.span;
  while (all.size() < started) {
    const bool samples_on = pace.samples > 0 && next <= end;
    const auto span =
        samples_on ? std::max(next - node.clock.now(), milliseconds{0}) : kLongestWait;
    auto ended = co_await node.programs.first_end(span);
    if (ended) {
      all.emplace(ended->number, std::move(ended->ran));
    } else if (samples_on) {
      sample();
      --pace.samples;
      next = std::max(next + pace.interval, node.clock.now());
    }
  }
  co_return all;
}

}  // namespace cupel::agent
