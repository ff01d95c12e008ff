#include "orchestrator/steps/sensor_series.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace cupel::steps {
namespace {

using bmc::SensorKind;

constexpr std::size_t kMostSensors = 600;  // of one reading
constexpr std::size_t kLongestName = 60;

std::string name_of(const bmc::Sensor& sensor) {
  return printable(shortened(valid_utf8(sensor.name), kLongestName));
}

int order_of(SensorKind kind) {
  return kind == SensorKind::power ? 0 : kind == SensorKind::temperature ? 1 : 2;
}

/// Nothing: it is not reported.
std::optional<int> rank_of(std::string_view health) {
  if (health == "OK") return 0;
  if (health == "Warning") return 1;
  return health == "Critical" ? std::optional{2} : std::nullopt;
}

}  // namespace

void SensorSeries::take(const bmc::Sensors& sensors, Time now) {
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  if (sensors.watts) recorder_.add({"", "bmc.power", "W"}, seconds, *sensors.watts);
  std::vector<const bmc::Sensor*> sorted;
  for (const auto& each : sensors.sensors)
    if (sorted.size() < kMostSensors) sorted.push_back(&each);
  std::ranges::stable_sort(sorted, {}, [](const auto* each) { return order_of(each->kind); });
  for (const auto* each : sorted)
    if (each->value)
      recorder_.add({name_of(*each), fmt::format("bmc.{}", to_string(each->kind)),
                     printable(shortened(each->unit, kLongestName))},
                    seconds, *each->value);
  for (const auto* each : sorted) note_health(*each, seconds);
}

void SensorSeries::note_health(const bmc::Sensor& sensor, double seconds) {
  const auto rank = rank_of(sensor.health);
  const auto name = name_of(sensor);
  const bool known = health_.contains(name);
  if (!rank || (!known && health_.size() == kMostSensors)) return;
  const auto [before, first] = health_.try_emplace(name, *rank);
  if (!first && *rank > before->second)
    recorder_.fault(seconds, fmt::format("{}: {}", name, sensor.health));
  before->second = *rank;
}

}  // namespace cupel::steps
