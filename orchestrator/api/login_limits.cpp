#include "orchestrator/api/login_limits.h"

#include <algorithm>

namespace cupel::api {
namespace {

/// The one that was idle longest goes where there are too many.
template <class Map, class Last>
void bound_by_age(Map& map, std::size_t most, Last last) {
  if (map.size() < most) return;
  const auto oldest =
      std::ranges::min_element(map, {}, [&](const auto& entry) { return last(entry.second); });
  map.erase(oldest);
}

}  // namespace

std::chrono::seconds LoginLimits::wait(const std::string& who, Clock::time_point now) {
  const std::scoped_lock lock{mutex_};
  const auto found = records_.find(who);
  if (found == records_.end() || found->second.until <= now) return {};
  return std::chrono::ceil<std::chrono::seconds>(found->second.until - now);
}

void LoginLimits::refused(const std::string& who, Clock::time_point now) {
  const std::scoped_lock lock{mutex_};
  if (!records_.contains(who))
    bound_by_age(records_, kMost, [](const Record& each) { return each.last; });
  auto& record = records_[who];
  if (now - record.last > kForgotten) record = {};
  record.last = now;
  ++record.refused;
  if (record.refused < kFree) return;
  const auto doubled = std::chrono::seconds{1} * (1 << std::min(record.refused - kFree, 20));
  record.until = now + std::min<std::chrono::seconds>(doubled, kLongest);
}

void LoginLimits::accepted(const std::string& who) {
  const std::scoped_lock lock{mutex_};
  records_.erase(who);
}

void RequestRate::limit(double per_second) {
  const std::scoped_lock lock{mutex_};
  per_second_ = per_second;
}

bool RequestRate::may(const std::string& who, Clock::time_point now) {
  const std::scoped_lock lock{mutex_};
  const double most = burst_ > 0 ? burst_ : 2 * per_second_;
  if (!buckets_.contains(who)) {
    bound_by_age(buckets_, LoginLimits::kMost, [](const Bucket& each) { return each.at; });
    buckets_[who] = {most, now};
  }
  auto& bucket = buckets_[who];
  const auto passed = std::chrono::duration<double>(now - bucket.at).count();
  bucket.left = std::min(most, bucket.left + passed * per_second_);
  bucket.at = now;
  if (bucket.left < 1) return false;
  bucket.left -= 1;
  return true;
}

}  // namespace cupel::api
