#include "burnin/agent/node/boot/report.h"

#include <optional>

namespace cupel::agent::boot {

Progress paced(Progress progress) {
  using Clock = std::chrono::steady_clock;
  return [progress = std::move(progress), last = Clock::time_point{},
          last_phase = std::optional<Phase>{}](Phase phase, std::uint64_t bytes,
                                               std::uint64_t of) mutable {
    const auto now = Clock::now();
    if (last_phase == phase && now - last < std::chrono::seconds{1}) return;
    last_phase = phase;
    last = now;
    progress(phase, bytes, of);
  };
}

JsonLine progress_line(Phase phase, std::uint64_t bytes, std::uint64_t of) {
  JsonLine line;
  line.add("state", to_string(phase)).add("bytes", bytes).add("of", of);
  return line;
}

JsonLine failure_line(const Failure& failure) {
  JsonLine line;
  line.add("cause", to_string(failure.cause)).add("text", failure.text);
  return line;
}

}  // namespace cupel::agent::boot
