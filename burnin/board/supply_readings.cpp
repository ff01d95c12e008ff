#include "burnin/board/supply_readings.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "base/text.h"
#include "burnin/board/part_names.h"
#include "burnin/node/inlet.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kMostReadings = 20'000;
constexpr std::size_t kMostSensors = 1000;
/// V; no mains has less, and none of a supply's outputs so much.
constexpr double kLeastInput = 60;
constexpr double kColdest = -40, kHottest = 100;  // C, of the air

/// The one phase that all of these are of; empty where they differ.
std::string one_of(const json::value& heard) {
  if (!heard.is_array() || heard.get_array().empty()) return {};
  const auto& all = heard.get_array();
  const bool same = std::ranges::all_of(all, [&](const auto& each) { return each == all.front(); });
  return same && all.front().is_string() ? std::string{all.front().get_string()} : std::string{};
}

std::string last_of(const json::value& heard) {
  if (!heard.is_array() || heard.get_array().empty()) return {};
  const auto& last = heard.get_array().back();
  return last.is_string() ? std::string{last.get_string()} : std::string{};
}

std::optional<double> finite_at(const json::value& from, const char* name) {
  const auto value = number_at(from, name);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

void take_power(Supply& supply, const std::string& name, std::optional<double> value) {
  const bool in = name.contains("input") || name.ends_with("_in") || name.ends_with(" in") ||
                  name.contains("pin");
  auto& place = in ? supply.input : supply.output;
  if (!place) place = value;
}

bool is_well(const std::string& health) { return health == "OK"; }

/// Of several words on one supply the worst.
void take_health(Supply& supply, const std::string& reported) {
  if (reported.empty()) return;
  if (supply.health.empty() || is_well(supply.health)) supply.health = reported;
}

/// Of a supply, by the BMC's own limits; of chips and of the air that comes in, what is critical: a
/// warm room is no fault of the machine, and chips slow down by themselves before that.
void take_temperature(SupplyReading& reading, const std::string& part, const std::string& name,
                      const std::string& health, std::optional<double> value) {
  const bool supply = part.starts_with("psu");
  const bool chip = part.starts_with("gpu") || part.starts_with("cpu");
  const bool inlet = !supply && !chip && is_inlet(name);
  if (!supply && !chip && !inlet) return;
  if (!health.empty()) {
    auto& hot = reading.hot[inlet ? std::string{"inlet air"} : part];
    hot = hot || (supply ? !is_well(health) : health == "Critical");
  }
  if (inlet && value && *value > kColdest && *value < kHottest)
    reading.inlet = std::min(reading.inlet.value_or(*value), *value);
}

void take_sensor(SupplyReading& reading, const json::value& sensor, const PartNames& names) {
  const auto kind = text_at(sensor, "kind").value_or("");
  const auto name = text_at(sensor, "name").value_or("");
  const auto health = text_at(sensor, "health").value_or("");
  if (kind == "leak") {
    const auto state = lower_case(text_at(sensor, "state").value_or(health));
    // One that reports nothing is neither dry nor wet.
    // Nor is one that is switched off, unless another of its words is of a leak.
    const bool is_off = (state.starts_with("disabled") || state.starts_with("unavailableoffline") ||
                         state.starts_with("standbyoffline")) &&
                        !state.contains("critical") && !state.contains("warning");
    if (!state.empty() && !is_off) reading.wet = reading.wet.value_or(0) + (state == "ok" ? 0 : 1);
    return;
  }
  const auto lower = lower_case(name);
  if (kind == "redundancy") {
    if (lower.contains("fan")) return;
    // IPMI tells a state in words, Redfish a health.
    const auto state = lower_case(text_at(sensor, "state").value_or(""));
    const bool lost =
        state.contains("lost") || state.contains("degraded") || state.contains("non-redundant");
    reading.redundancy.push_back(lost ? "Warning" : health);
    return;
  }
  const auto source = text_at(sensor, "source").value_or("");
  const auto part = names.of(name, source);
  const auto value = finite_at(sensor, "value");
  if (kind == "temperature") take_temperature(reading, part, name, health, value);
  if (!part.starts_with("psu")) return;
  reading.by_ipmi = source.starts_with("ipmi:");
  auto& supply = reading.supplies[part];
  if (kind == "power" && value) take_power(supply, lower, *value);
  const bool input = lower.contains("input") || (value && *value >= kLeastInput);
  if (kind == "voltage" && value && input) supply.volts = value;
  const auto state = lower_case(text_at(sensor, "state").value_or(""));
  const bool failed = state.contains("lost") || state.contains("fail") || state.contains("loss");
  // IPMI tells states alone.
  const auto well = health.empty() && !state.empty() ? std::string{"OK"} : health;
  const auto own = failed ? std::string{"Critical"} : well;
  // What is too hot still carries its load.
  if (kind != "temperature" || is_well(own)) take_health(supply, own);
}

class Reader {
 public:
  SupplyTranscript take() && {
    const auto phases = phases_.all();
    for (std::size_t i = 0; i < found_.readings.size(); ++i) found_.readings[i].phase = phases[i];
    return std::move(found_);
  }

  void line(const json::value& reported) {
    if (const auto* parts = find(reported, "parts")) names_ = PartNames::from_json(parts);
    if (const auto* heard = find(reported, "heard")) phases_.hear(*heard);
    if (find(reported, "began") != nullptr) {
      phases_.begin();
      touched_ = false;
      beside_ = unsettled_;
      began_off_ = off_;
    }
    if (find(reported, "reading") != nullptr) end(reported);
    if (const auto count = finite_at(reported, "feeds"))
      found_.feeds = static_cast<int>(std::clamp(*count, 0.0, double{kMostFeeds}));
    if (const auto number = finite_at(reported, "feed"))
      feed(reported, static_cast<int>(std::clamp(*number, 0.0, double{kMostFeeds})));
  }

 private:
  static constexpr int kMostFeeds = 16;

  void feed(const json::value& reported, int number) {
    auto& cuts = found_.cuts;
    if (const auto name = text_at(reported, "name"); name && cuts.size() < kMostFeeds) {
      cuts.push_back({.number = number, .name = script::clean(*name)});
      off_ = unsettled_ = true;
    }
    if (cuts.empty() || cuts.back().number != number) return;
    auto& cut = cuts.back();
    if (find(reported, "back") != nullptr) off_ = !(cut.back = true);
    if (find(reported, "well") != nullptr) unsettled_ = !(cut.well = true);
    if (find(reported, "fell") != nullptr) cut.fell = true;
    if (const auto why = text_at(reported, "failed")) {
      cut.why = script::clean(*why);
      off_ = false;
    }
    touched_ = true;
  }

  void end(const json::value& reported) {
    if (const auto why = text_at(reported, "failed")) {
      phases_.drop();
      if (found_.failed++ == 0) found_.why = script::clean(*why);
      return;
    }
    SupplyReading reading;
    reading.seconds = finite_at(reported, "seconds").value_or(0);
    const auto* sensors = find(reported, "sensors");
    std::size_t count = 0;
    if (sensors != nullptr && sensors->is_array())
      for (const auto& sensor : sensors->get_array())
        if (count++ < kMostSensors) take_sensor(reading, sensor, names_);
    if (!listing_.is_whole(count, reading.supplies)) {
      phases_.drop();
      if (found_.failed++ == 0) found_.why = "its answer listed no supply";
      return;
    }
    if (!phases_.end()) return;
    // What has no input may call its sensors anything.
    std::erase_if(reading.hot, [&](const auto& each) {
      const auto supply = reading.supplies.find(each.first);
      return supply != reading.supplies.end() && !supply->second.well();
    });
    reading.beside_feed = beside_ || unsettled_;
    if (!reading.beside_feed) settled_ = reading.supplies;
    if (began_off_ && !touched_) count_lost(reading);
    found_.readings.push_back(std::move(reading));
  }

  /// What was not well before is none of the feed's.
  void count_lost(const SupplyReading& reading) {
    auto& cut = found_.cuts.back();
    ++cut.readings;
    for (const auto& [part, before] : settled_) {
      const auto now = reading.supplies.find(part);
      const bool well = now != reading.supplies.end() && now->second.well();
      if (before.well() && !well) cut.lost.insert(part);
    }
  }

  bool off_ = false;        // a feed is
  bool unsettled_ = false;  // since a feed went off, until all supplies were well again
  bool touched_ = false;    // something was reported of a feed since the reading has begun
  bool began_off_ = false, beside_ = false;
  SupplyListing listing_{};
  Supplies settled_{};  // of the newest reading beside no feed
  SupplyTranscript found_{};
  PartNames names_{{}};
  PhasesOfReadings phases_{};
};

}  // namespace

bool Supply::well() const {
  return (health.empty() || is_well(health)) && (!volts || *volts >= kLeastInput);
}

Supplies read_supplies(const json::value& sensors, const json::value& parts) {
  const auto names = PartNames::from_json(&parts);
  SupplyReading reading;
  std::size_t count = 0;
  if (sensors.is_array())
    for (const auto& sensor : sensors.get_array())
      if (count++ < kMostSensors) take_sensor(reading, sensor, names);
  return std::move(reading.supplies);
}

void PhasesOfReadings::hear(const json::value& heard) {
  const auto phase = one_of(heard);
  if (open_ && *open_ != phase) open_->clear();
  for (; confirmed_ < phases_.size(); ++confirmed_)
    if (phases_[confirmed_] != phase) phases_[confirmed_].clear();
  now_ = last_of(heard);
}

void PhasesOfReadings::begin() { open_ = now_; }

bool PhasesOfReadings::end() {
  if (!open_ || phases_.size() >= kMostReadings) return false;
  phases_.push_back(std::move(*open_));
  open_.reset();
  return true;
}

std::vector<std::string> PhasesOfReadings::all() const {
  auto phases = phases_;
  for (auto i = confirmed_; i < phases.size(); ++i) phases[i].clear();
  return phases;
}

int PhasesOfReadings::count(std::string_view phase) const {
  const auto heard = std::span{phases_}.first(confirmed_);
  return static_cast<int>(std::ranges::count(heard, phase));
}

SupplyTranscript read_transcript(std::string_view text) {
  Reader reader;
  std::size_t count = 0;
  for (const auto line : lines(text)) {
    if (trimmed(line).empty() || ++count > 4 * kMostReadings) continue;
    const auto parsed = parse_json(line);
    if (parsed && parsed->is_object()) reader.line(*parsed);
  }
  return std::move(reader).take();
}

}  // namespace cupel::burnin
