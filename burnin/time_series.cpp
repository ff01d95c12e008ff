#include "burnin/time_series.h"

#include <algorithm>
#include <cmath>

namespace cupel::burnin {
namespace {

constexpr double kLongest = 30 * 86'400.0;  // seconds
constexpr double kLargest = 1e30;           // of a value
constexpr std::size_t kMostRecent = 64;     // samples of one series

float beginning_of(float seconds, float width) { return std::floor(seconds / width) * width; }

/// Each two of them are one.
void widen(TimeSeries& series) {
  series.width *= 2;
  std::vector<SeriesSpan> wider;
  for (auto span : series.spans) {
    span.seconds = beginning_of(span.seconds, series.width);
    if (!wider.empty() && wider.back().seconds == span.seconds)
      merge(wider.back(), span);
    else
      wider.push_back(span);
  }
  series.spans = std::move(wider);
}

}  // namespace

void merge(SeriesSpan& into, const SeriesSpan& later) {
  const auto samples = static_cast<float>(into.samples + later.samples);
  const auto share = static_cast<float>(later.samples) / samples;
  into.least = std::min(into.least, later.least);
  into.mean += (later.mean - into.mean) * share;
  into.most = std::max(into.most, later.most);
  into.samples += later.samples;
}

void SeriesRecorder::add(const SeriesName& name, double seconds, double value) {
  const bool sound =
      std::isfinite(value) && std::abs(value) < kLargest && seconds >= 0 && seconds <= kLongest;
  if (!sound) return;
  auto found = series_.find(name);
  if (found == series_.end()) {
    if (series_.size() == limits_.series) {
      ++left_out_;
      return;
    }
    found = series_.try_emplace(name).first;
    found->second.series.width = limits_.finest;
  }
  auto& recorded = found->second;
  const Sample sample{static_cast<float>(seconds), static_cast<float>(value)};
  if (!recorded.series.spans.empty() && sample.seconds < recorded.series.spans.back().seconds)
    return;
  add_to_spans(recorded.series, sample);
  add_around(recorded, sample);
}

void SeriesRecorder::add_to_spans(TimeSeries& series, Sample sample) const {
  const SeriesSpan one{beginning_of(sample.seconds, series.width), sample.value, sample.value,
                       sample.value, 1};
  if (!series.spans.empty() && series.spans.back().seconds == one.seconds) {
    merge(series.spans.back(), one);
    return;
  }
  series.spans.push_back(one);
  while (series.spans.size() > limits_.spans) widen(series);
}

void SeriesRecorder::add_around(Recorded& recorded, Sample sample) const {
  if (sample.seconds <= keep_until_) {
    keep(recorded, sample);
    return;
  }
  auto& recent = recorded.recent;
  recent.push_back(sample);
  const auto is_near = [&](Sample each) { return each.seconds >= sample.seconds - limits_.reach; };
  const auto surplus = recent.size() - std::min(recent.size(), kMostRecent);
  recent.erase(recent.begin(),
               std::ranges::find_if(recent.begin() + static_cast<std::ptrdiff_t>(surplus),
                                    recent.end(), is_near));
}

void SeriesRecorder::keep(Recorded& recorded, Sample sample) const {
  auto& around = recorded.series.around;
  if (around.size() < limits_.around) around.push_back(sample);
}

void SeriesRecorder::fault(double seconds, std::string what) {
  if (!(seconds >= 0) || seconds > kLongest) return;
  const auto at = static_cast<float>(seconds);
  if (faults_.size() < limits_.faults) faults_.push_back({at, std::move(what)});
  keep_until_ = std::max(keep_until_, at + limits_.reach);
  for (auto& [name, recorded] : series_) {
    for (const auto& sample : recorded.recent)
      if (sample.seconds >= at - limits_.reach) keep(recorded, sample);
    recorded.recent.clear();
  }
}

std::map<SeriesName, TimeSeries> SeriesRecorder::all() const {
  std::map<SeriesName, TimeSeries> all;
  for (const auto& [name, recorded] : series_) all.emplace(name, recorded.series);
  return all;
}

}  // namespace cupel::burnin
