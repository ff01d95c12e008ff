#include "burnin/agent/burn/hang.h"

#include <algorithm>

namespace cupel::burn {
namespace {

using States = std::vector<const WorkerState*>;

std::vector<std::string> parts_of(const States& workers) {
  std::vector<std::string> parts;
  for (const auto* worker : workers)
    if (!worker->part.empty()) parts.push_back(worker->part);
  return parts;
}

Hang hang_of(const WorkerState& worker, std::string part, const States& late) {
  return {.part = std::move(part),
          .doing = worker.doing,
          .seconds = worker.seconds,
          .late = parts_of(late)};
}

/// Of workers that wait for each other: those that are behind the others, and those of which it is
/// not known. All of them where none is behind.
States behind_of(const States& stalled) {
  std::optional<std::uint64_t> least;
  std::optional<std::uint64_t> most;
  for (const auto* worker : stalled) {
    if (!worker->passed) continue;
    least = std::min(least.value_or(*worker->passed), *worker->passed);
    most = std::max(most.value_or(*worker->passed), *worker->passed);
  }
  States behind;
  std::ranges::copy_if(stalled, std::back_inserter(behind), [&](const WorkerState* worker) {
    return !worker->passed || (*least < *most && *worker->passed == *least);
  });
  return behind.empty() ? stalled : behind;
}

}  // namespace

std::vector<Hang> judge_hangs(std::span<const WorkerState> workers,
                              std::chrono::duration<double> hang_after) {
  States stalled;
  for (const auto& worker : workers)
    if (!worker.idle && worker.seconds >= hang_after.count() / 4) stalled.push_back(&worker);
  if (stalled.empty()) return {};
  const auto& longest = **std::ranges::max_element(stalled, {}, &WorkerState::seconds);
  if (longest.seconds < hang_after.count()) return {};
  if (stalled.size() == 1) return {hang_of(longest, longest.part, stalled)};
  if (longest.in_step) {
    const auto behind = behind_of(stalled);
    const bool is_known = behind.size() == 1 && behind.front()->passed;
    return {hang_of(longest, is_known ? behind.front()->part : "", behind)};
  }
  if (stalled.size() == workers.size()) return {hang_of(longest, "", stalled)};
  std::vector<Hang> hangs;
  for (const auto* worker : stalled)
    if (worker->seconds >= hang_after.count())
      hangs.push_back(hang_of(*worker, worker->part, stalled));
  return hangs;
}

}  // namespace cupel::burn
