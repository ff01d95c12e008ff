#include "bmc/ipmi/sensors.h"

#include "base/text.h"
#include "bmc/bmc.h"
#include "bmc/ipmi/commands.h"
#include "bmc/ipmi/sel.h"

namespace cupel::bmc::ipmi {
namespace {

constexpr std::uint8_t kOfTheBmc = 0x20;
constexpr std::uint8_t kThreshold = 0x01;
constexpr std::uint8_t kUnavailable = 0x20, kScanning = 0x40;  // of a reading's second byte
constexpr std::uint8_t kCoolingDevice = 0x0a, kFan = 0x04;

bool says(const SensorRecord& record, std::string_view word) {
  return lower_case(record.name).find(word) != std::string::npos;
}

SensorKind kind_by_unit(const SensorRecord& record) {
  switch (record.unit.base) {
    case 1:
    case 2:
    case 3:
      return SensorKind::temperature;
    case 4:
      return SensorKind::voltage;
    case 5:
      return SensorKind::current;
    case 6:
      return SensorKind::power;
    case 7:
      return SensorKind::energy;
    case 14:
    case 15:
      return SensorKind::pressure;
    case 18:
      return SensorKind::fan;
    case 37:
      return record.unit.rate == 4 ? SensorKind::flow : SensorKind::other;
    default:
      return SensorKind::other;
  }
}

struct Scale {
  const char* unit;
  double factor;
  double shift;
};

/// In the units that sensor.h promises.
Scale scale_of(const Unit& unit) {
  const bool plain_unit = unit.relation == Unit::Relation::none && unit.rate == 0 && !unit.percent;
  if (plain_unit && unit.base == 2) return {"°C", 5.0 / 9.0, -160.0 / 9.0};
  if (plain_unit && unit.base == 3) return {"°C", 1.0, -273.15};
  if (plain_unit && unit.base == 15) return {"kPa", 6.894757293168361, 0};
  return {nullptr, 1, 0};
}

/// "Warning" and "Critical" from a reading's comparison bits: 35.14.
std::string health_of(std::uint8_t below_or_above) {
  if ((below_or_above & 0b110110) != 0) return "Critical";
  if ((below_or_above & 0b001001) != 0) return "Warning";
  return "OK";
}

void set_number(Sensor& sensor, const SensorRecord& record, std::uint8_t raw,
                const Thresholds& thresholds) {
  const auto scale = scale_of(record.unit);
  const auto converted = [&](std::optional<std::uint8_t> from) -> std::optional<double> {
    if (!from) return std::nullopt;
    const auto value = record.formula(*from);
    return value ? std::optional{*value * scale.factor + scale.shift} : std::nullopt;
  };
  sensor.value = converted(raw);
  sensor.warn_below = converted(thresholds.lower_warn);
  sensor.warn_above = converted(thresholds.upper_warn);
  sensor.critical_below = converted(thresholds.lower_critical);
  sensor.critical_above = converted(thresholds.upper_critical);
}

void set_states(Sensor& sensor, const SensorRecord& record, unsigned bits) {
  char worst = 0;
  bool known = false;
  for (std::uint8_t offset = 0; offset < 15; ++offset) {
    if ((bits >> offset & 1) == 0) continue;
    const auto state = state_of(record.reading, record.type, offset);
    if (!sensor.state.empty()) sensor.state += ", ";
    sensor.state += state ? state->words : "state " + std::to_string(offset);
    known = known || state.has_value();
    if (state && (state->severity == 'C' || (state->severity == 'W' && worst == 0)))
      worst = state->severity;
  }
  // No bit set: a PSU bay without a PSU, a fault sensor without a fault. The standard has no word.
  if (worst != 0) sensor.health = worst == 'C' ? "Critical" : "Warning";
  if (worst == 0 && known) sensor.health = "OK";
}

bool ends_everything(Code code) {
  return code == Code::kTimeout || code == Code::kUnreachable || code == Code::kCancelled ||
         code == Code::kRefused;
}

/// One sensor number of a record that may stand for several.
Task<Result<void>> read_one(Client& client, const SensorRecord& record, Sensors& into,
                            Deadline deadline) {
  const auto source = "ipmi:sdr/" + hex(record.id, 4);
  Bytes number{record.number};
  auto reported = co_await client.ask(kGetSensorReading, number, deadline, record.unit_number);
  if (!reported) {
    if (ends_everything(reported.error().code)) co_return std::move(reported).error();
    into.unknown.push_back({"sensor " + record.name, source, reported.error().what});
    co_return ok();
  }
  auto thresholds = record.thresholds;
  if (record.reading == kThreshold && thresholds != Thresholds{}) {
    auto now =
        co_await client.ask(kGetSensorThresholds, std::move(number), deadline, record.unit_number);
    if (!now && ends_everything(now.error().code)) co_return std::move(now).error();
    if (now) thresholds = parse_thresholds(*now);
  }
  auto sensor = understood(record, *reported, thresholds);
  const bool has_number = record.formula.format != Formula::Format::none;
  if (has_number && record.formula.linearisation > 11)
    into.unknown.push_back({"sensor " + record.name, source,
                            "its readings follow a formula of the vendor's own (linearisation " +
                                hex(record.formula.linearisation, 2) + ")"});
  into.sensors.push_back(std::move(sensor));
  co_return ok();
}

/// The machine's draw: a sensor in watts that says so, or the only one that is not of a PSU.
std::optional<double> watts_of(const Sensors& all) {
  std::optional<double> only;
  int candidates = 0;
  for (const auto& sensor : all.sensors) {
    if (sensor.kind != SensorKind::power || !sensor.value) continue;
    const auto name = lower_case(sensor.name);
    const auto has = [&](std::string_view word) { return name.find(word) != std::string::npos; };
    if (has("total") || has("sys") || has("pwr consumption") || has("power meter"))
      return sensor.value;
    if (has("psu") || has("ps") || has("cpu") || has("gpu") || has("dimm") || has("mem") ||
        has("fan"))
      continue;
    only = sensor.value;
    ++candidates;
  }
  return candidates == 1 ? only : std::nullopt;
}

}  // namespace

SensorKind kind_of(const SensorRecord& record) {
  // Table 42-3 has no type for coolant: names are all that there is.
  if (record.formula.format == Formula::Format::none && says(record, "leak"))
    return SensorKind::leak;
  if (record.reading == 0x0b) return SensorKind::redundancy;
  if (record.unit.percent && says(record, "humid")) return SensorKind::humidity;
  if (record.formula.format != Formula::Format::none) {
    const auto by_unit = kind_by_unit(record);
    if (by_unit != SensorKind::other) return by_unit;
  }
  switch (record.type) {
    case 0x01:
      return SensorKind::temperature;
    case 0x02:
      return SensorKind::voltage;
    case 0x03:
      return SensorKind::current;
    case kFan:
    case kCoolingDevice:
      return SensorKind::fan;
    default:
      return SensorKind::other;
  }
}

Thresholds parse_thresholds(View reported) {
  if (reported.size() < 7) return {};
  const auto one = [&](int bit) {
    return (reported[0] >> bit & 1) != 0
               ? std::optional{reported[1 + static_cast<std::size_t>(bit)]}
               : std::nullopt;
  };
  return {.lower_warn = one(0),
          .lower_critical = one(1),
          .lower_dead = one(2),
          .upper_warn = one(3),
          .upper_critical = one(4),
          .upper_dead = one(5)};
}

Sensor understood(const SensorRecord& record, View reading, const Thresholds& thresholds) {
  Sensor sensor{.kind = kind_of(record), .name = record.name};
  sensor.source = "ipmi:sdr/" + hex(record.id, 4);
  const bool has_number = record.formula.format != Formula::Format::none;
  if (has_number) {
    const auto* better = scale_of(record.unit).unit;
    sensor.unit = better != nullptr ? better : record.unit.text();
  }
  if (reading.size() < 2) return sensor;
  if ((reading[1] & kUnavailable) != 0 || (reading[1] & kScanning) == 0) return sensor;
  if (has_number) set_number(sensor, record, reading[0], thresholds);
  if (reading.size() < 3) return sensor;
  if (record.reading == kThreshold) {
    sensor.health = health_of(reading[2] & 0x3f);
  } else {
    const unsigned high = reading.size() > 3 ? reading[3] & 0x7f : 0;
    set_states(sensor, record, reading[2] | high << 8);
  }
  return sensor;
}

Task<Result<Sensors>> read_sensors(Client& client, const Repository& repository,
                                   Deadline deadline) {
  Sensors all{.unknown = repository.unknown, .by = Protocol::ipmi};
  for (const auto& record : repository.sensors) {
    if (!record.readable) continue;
    if (record.owner != kOfTheBmc) {
      all.unknown.push_back(
          {"sensor " + record.name, "ipmi:sdr/" + hex(record.id, 4),
           "belongs to the controller at " + hex(record.owner, 2) + ", which is not asked"});
      continue;
    }
    for (int i = 0; i < record.share; ++i) {
      auto each = record;
      each.number = static_cast<std::uint8_t>(record.number + i);
      if (record.share > 1) each.name += " " + std::to_string(i + 1);
      CO_TRY(co_await read_one(client, each, all, deadline));
    }
  }
  all.watts = watts_of(all);
  co_return all;
}

}  // namespace cupel::bmc::ipmi
