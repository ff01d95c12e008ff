// Leak detectors: each by its own word, by the sensor behind it and by the roll-up above it.
#include "bmc/redfish/leaks.h"

#include "bmc/leak.h"
#include "bmc/redfish/readings.h"
#include "bmc/redfish/spelling.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

/// A detector, or an excerpt of one in a group.
struct Detector {
  std::string name{}, id{}, source{};
  LeakWords words{};
  bool is_read = true;
};

/// What it says of itself. One that is switched off says OK of nothing.
/// Source: DSP0268, LeakDetector.DetectorState, Status.
std::string own_word(const json::value& body) {
  const auto word = worse_leak(reported(body, "DetectorState"),
                               canonical_severity(reported(body, "Status/Health")));
  const auto state = reported(body, "Status/State");
  const bool is_off =
      state == "Disabled" || state == "UnavailableOffline" || state == "StandbyOffline";
  if (word == "OK" && is_off) return state;
  return word;
}

Detector detector_of(const Document& from) {
  return {.name = name_of(from.body, from.uri),
          .id = std::string{last_name(from.uri)},
          .source = from.uri,
          .words = {.detector = own_word(from.body)}};
}

/// Its health; and by its limits, where the BMC says OK beyond them.
std::string word_of_sensor(const json::value& body) {
  const auto sensor = parse_sensor(body, "");
  const auto& at = sensor.value;
  const auto is_below = [&](const auto& limit) { return at && limit && *at < *limit; };
  const auto is_above = [&](const auto& limit) { return at && limit && *at > *limit; };
  std::string word = sensor.health;
  if (is_below(sensor.warn_below) || is_above(sensor.warn_above))
    word = worse_leak(word, "Warning");
  if (is_below(sensor.critical_below) || is_above(sensor.critical_above))
    word = worse_leak(word, "Critical");
  return word;
}

/// The sensors of these detectors have their Ids.
Task<void> add_sensors(Readings& to, std::vector<Detector>& detectors, std::string collection) {
  if (collection.empty() || detectors.empty() || !to.may_ask()) co_return;
  const auto uris = co_await to.survey.links(std::move(collection), "sensors of leak detectors");
  for (auto& one : detectors) {
    const auto is_its = [&](const std::string& uri) { return last_name(uri) == one.id; };
    const auto uri = std::ranges::find_if(uris, is_its);
    if (uri == uris.end() || !to.may_ask()) continue;
    const auto sensor = co_await to.survey.read(*uri, "sensor of " + one.name);
    if (sensor) one.words.sensor = word_of_sensor(sensor->body);
  }
}

/// Groups of a cooling unit name detectors that its chassis has, with their states.
/// Source: DSP0268, LeakDetection.LeakDetectorGroups.
void add_groups(Readings& to, const Document& detection, std::vector<Detector>& detectors) {
  if (find(detection.body, "LeakDetectorGroups") == nullptr) return;
  for (const auto& group : rows_of(to.survey, detection, "LeakDetectorGroups", "leak detectors")) {
    if (group.body.is_null()) continue;
    for (const auto& row : rows_of(to.survey, group, "Detectors", "leak detectors")) {
      if (row.body.is_null()) continue;
      const auto source = path_of(text_at(row.body, "DataSourceUri").value_or(""));
      auto one = detector_of(row);
      if (!source.empty()) one.source = source;
      if (!source.empty()) one.id = last_name(source);
      detectors.push_back(std::move(one));
    }
  }
}

Task<void> add_members(Readings& to, std::string collection, std::vector<Detector>& detectors) {
  if (collection.empty() || !to.may_ask()) co_return;
  const auto members = co_await to.survey.members(std::move(collection), "leak detector");
  for (const auto& one : members) {
    if (!one.body.is_null() && is_absent(one.body)) continue;
    if (one.body.is_null()) {
      detectors.push_back({.id = std::string{last_name(one.uri)}, .is_read = false});
      continue;
    }
    detectors.push_back(detector_of(one));
  }
}

/// `roll_up` speaks for all of them: of a leak that a detector tells it says nothing new, and one
/// that no detector tells is a row of its own.
void add_rows(Readings& to, const std::vector<Detector>& detectors, const std::string& roll_up,
              const Document& of) {
  std::string worst;
  for (const auto& one : detectors)
    worst = worse_leak(worse_leak(worst, one.words.detector), one.words.sensor);
  const bool all_read = std::ranges::all_of(detectors, &Detector::is_read);
  for (const auto& one : detectors) {
    if (!one.is_read) continue;
    auto words = one.words;
    if (roll_up == "OK") words.roll_up = roll_up;
    Sensor leak{.kind = SensorKind::leak,
                .name = one.name,
                .state = leak_state(words),
                .health = canonical_severity(words.detector),
                .source = one.source};
    if (leak.state.empty()) to.survey.unknown("state of " + leak.name, one.source, "absent");
    to.add(std::move(leak));
  }
  const bool is_bad = !roll_up.empty() && roll_up != "OK";
  if (!is_bad || (worst != "OK" && !worst.empty())) return;
  const auto why = !all_read || worst.empty() ? "no detector reports why" : "every detector OK";
  to.add({.kind = SensorKind::leak,
          .name = std::string{last_name(of.uri)} + " leak detection",
          .state = roll_up + " (contradiction: " + why + ")",
          .health = roll_up,
          .source = of.uri});
}

}  // namespace

Task<void> read_leaks(Readings& to, const Document& of, std::string sensors) {
  const auto detection = co_await linked(to, of.body, "LeakDetection", "leak detection");
  if (!detection) co_return;
  std::vector<Detector> detectors;
  co_await add_members(to, link_at(detection->body, "LeakDetectors"), detectors);
  add_groups(to, *detection, detectors);
  co_await add_sensors(to, detectors, std::move(sensors));
  const auto roll_up =
      worse_leak(canonical_severity(reported(detection->body, "Status/Health")),
                 canonical_severity(reported(detection->body, "Status/HealthRollup")));
  add_rows(to, detectors, roll_up, *detection);
}

Task<void> read_leak_detectors(Readings& to, const Document& chassis) {
  std::vector<Detector> detectors;
  co_await add_members(to, link_at(chassis.body, "LeakDetectors"), detectors);
  co_await add_sensors(to, detectors, link_at(chassis.body, "Sensors"));
  add_rows(to, detectors, {}, chassis);
}

Task<Result<Sensors>> read_leak_sensors(Fetch& fetch, Deadline deadline) {
  Observed seen;
  Survey survey{fetch, deadline, seen};
  CO_TRY(Machine machine, co_await find_machine(survey, Without::goes_on));
  Sensors found;
  Readings readings{survey, found};
  co_await read_chassis(survey, machine);
  readings.learn_nesting(*machine.chassis);
  for (const auto& chassis : *machine.chassis) {
    if (chassis.body.is_null()) continue;
    readings.begin(chassis.uri);
    const auto thermal = co_await linked(readings, chassis.body, "ThermalSubsystem", "cooling");
    if (thermal) co_await read_leaks(readings, *thermal, link_at(chassis.body, "Sensors"));
    co_await read_leak_detectors(readings, chassis);
  }
  readings.name_apart();
  if (survey.stopped()) co_return *survey.stopped();
  found.unknown = std::move(seen.unknown);
  found.by = Protocol::redfish;
  co_return found;
}

}  // namespace cupel::bmc::redfish
