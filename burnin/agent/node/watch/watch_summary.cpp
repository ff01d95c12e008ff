#include "burnin/agent/node/watch/watch_summary.h"

#include <algorithm>

namespace cupel::agent {

void WatchSummary::Series::add(double value, bool counts) {
  if (count == 0) least = most = first = value;
  // A counter that is less than before was set to nought in between.
  if (counts && count > 0) grown += value >= last ? value - last : value;
  least = std::min(least, value);
  most = std::max(most, value);
  sum += value;
  last = value;
  ++count;
}

void WatchSummary::add(const std::vector<Reading>& readings, double seconds) {
  for (const auto& [part, name, value] : readings) {
    const auto* known = quantity(name);
    if (known == nullptr || series_.size() + throttled_.size() > kMostRows) continue;
    if (name != "throttle") {
      series_[{std::string{part}, known->name}].add(value, known->counts);
      continue;
    }
    // Idleness and what somebody set on purpose are no throttling, and are reported all the same.
    for (const auto word : nvml::throttle_words(static_cast<std::uint64_t>(value)))
      throttled_[{std::string{part}, word}] += seconds;
  }
}

bool WatchSummary::add(const KernelMessage& message, const std::string& part) {
  const MessageKey key{message.kind, message.weight, message.code.value_or(-1), part};
  const auto found = messages_.find(key);
  if (found != messages_.end()) {
    ++found->second;
    return false;
  }
  if (messages_.size() < kMostRows) messages_.emplace(key, 1);
  return true;
}

void WatchSummary::write(JsonLine& line) const {
  line.array("values");
  for (const auto& [key, series] : series_) {
    const auto* known = quantity(key.second);
    if (known->counts) continue;
    line.object().add("part", std::string_view{key.first}).add("name", key.second);
    line.add("unit", known->unit).add("min", series.least);
    line.add("mean", series.sum / static_cast<double>(series.count));
    line.add("max", series.most).add("last", series.last).add("count", series.count).end();
  }
  line.end().array("counters");
  for (const auto& [key, series] : series_) {
    const auto* known = quantity(key.second);
    if (!known->counts) continue;
    line.object().add("part", std::string_view{key.first}).add("name", key.second);
    line.add("unit", known->unit).add("first", series.first).add("last", series.last);
    line.add("grown", series.grown).end();
  }
  line.end().array("throttled");
  for (const auto& [key, seconds] : throttled_) {
    line.object().add("part", std::string_view{key.first}).add("reason", key.second);
    line.add("seconds", seconds).end();
  }
  line.end().array("messages");
  for (const auto& [key, count] : messages_) {
    line.object().add("class", to_string(key.kind)).add("weight", to_string(key.weight));
    if (key.code >= 0) line.add("code", key.code);
    line.add("part", std::string_view{key.part}).add("count", count).end();
  }
  line.end();
}

}  // namespace cupel::agent
