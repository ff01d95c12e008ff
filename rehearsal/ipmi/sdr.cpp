#include "rehearsal/ipmi/sdr.h"

namespace cupel::rehearsal::ipmi {
namespace {

constexpr std::uint8_t kVersion = 0x51;
constexpr std::uint8_t kBmc = 0x20;
constexpr std::uint8_t kFull = 0x01, kCompact = 0x02, kEventOnly = 0x03, kFruLocator = 0x11,
                       kMcLocator = 0x12;

/// 43.15: 8-bit ASCII.
void put_name(Bytes& into, std::string_view name) {
  constexpr std::size_t kMost = 16;
  const auto cut = name.substr(0, kMost);
  put8(into, 0xC0u | static_cast<unsigned>(cut.size()));
  put(into, cut);
}

void put_owner(Bytes& into, const Sensor& sensor) {
  put(into, Bytes{kBmc, 0, sensor.number, sensor.entity, sensor.instance});
}

/// Table 43-1, from byte 6 on.
Bytes full(const Sensor& sensor) {
  constexpr std::uint8_t kInitialized = 0x7F, kReadableThresholds = 0x44;
  const auto mask = threshold_mask(sensor);
  const auto values = raw_thresholds(sensor);
  Bytes body;
  put_owner(body, sensor);
  put(body, Bytes{kInitialized, kReadableThresholds, static_cast<std::uint8_t>(sensor.type),
                  sensor.event_type});
  put16(body, 0);  // assertions: none are logged
  put16(body, 0);
  put(body, Bytes{mask, 0});
  put(body, Bytes{0, static_cast<std::uint8_t>(sensor.unit), 0, 0});
  const auto m = static_cast<unsigned>(sensor.m);
  put(body, Bytes{static_cast<std::uint8_t>(m & 0xFF), static_cast<std::uint8_t>(m >> 2 & 0xC0)});
  put(body, Bytes{0, 0, 0, static_cast<std::uint8_t>((sensor.r_exp & 0x0F) << 4)});
  put(body, Bytes{0, 0, 0, 0, 0xFF, 0});  // no nominal values; the range
  put(body, Bytes{values[5], values[4], values[3], values[2], values[1], values[0]});
  put(body, Bytes{0, 0, 0, 0, 0});  // hysteresis, reserved, OEM
  put_name(body, sensor.name);
  return body;
}

/// Tables 43-2 and 43-3.
Bytes discrete(const Sensor& sensor) {
  constexpr std::uint8_t kInitialized = 0x67, kAutoRearm = 0x40, kNotAnalog = 0xC0;
  Bytes body;
  put_owner(body, sensor);
  if (sensor.event_only()) {
    put(body, Bytes{static_cast<std::uint8_t>(sensor.type), sensor.event_type, 1, 0, 0, 0});
  } else {
    put(body,
        Bytes{kInitialized, kAutoRearm, static_cast<std::uint8_t>(sensor.type), sensor.event_type});
    for (int masks = 0; masks < 3; ++masks) put16(body, sensor.possible);
    put(body, Bytes{kNotAnalog, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0});
  }
  put_name(body, sensor.name);
  return body;
}

/// Table 43-7.
Bytes locator(const Fru& fru) {
  constexpr std::uint8_t kLogical = 0x80, kEeprom = 0x10;
  Bytes body{kBmc, fru.id, kLogical, 0, 0, kEeprom, 0, fru.entity, fru.instance, 0};
  put_name(body, fru.name);
  return body;
}

/// Table 43-9.
Bytes controller() {
  constexpr std::uint8_t kSystemBoard = 0x07, kDevices = 0x8F;
  Bytes body{kBmc, 0, 0, kDevices, 0, 0, 0, kSystemBoard, 1, 0};
  put_name(body, "BMC");
  return body;
}

}  // namespace

std::uint8_t threshold_mask(const Sensor& sensor) {
  const auto& limits = sensor.thresholds;
  return static_cast<std::uint8_t>(
      (limits.lower_warning ? 0x01 : 0) | (limits.lower_critical ? 0x02 : 0) |
      (limits.upper_warning ? 0x08 : 0) | (limits.upper_critical ? 0x10 : 0));
}

std::array<std::uint8_t, 6> raw_thresholds(const Sensor& sensor) {
  const auto raw = [&](const std::optional<double>& limit) -> std::uint8_t {
    return limit ? sensor.raw(*limit) : std::uint8_t{0};
  };
  const auto& limits = sensor.thresholds;
  return {raw(limits.lower_warning), raw(limits.lower_critical), 0,
          raw(limits.upper_warning), raw(limits.upper_critical), 0};
}

std::vector<Bytes> sdr_of(const std::vector<Sensor>& sensors, const std::vector<Fru>& frus) {
  std::vector<Bytes> records;
  const auto add = [&](std::uint8_t type, const Bytes& body) {
    Bytes record;
    put16(record, static_cast<unsigned>(records.size() + 1));
    put(record, Bytes{kVersion, type, static_cast<std::uint8_t>(body.size())});
    put(record, body);
    records.push_back(std::move(record));
  };
  add(kMcLocator, controller());
  for (const auto& sensor : sensors) {
    if (sensor.analog())
      add(kFull, full(sensor));
    else
      add(sensor.event_only() ? kEventOnly : kCompact, discrete(sensor));
  }
  // FRU 0 is the controller's own and has no locator (43.8).
  for (const auto& fru : frus)
    if (fru.id != 0) add(kFruLocator, locator(fru));
  return records;
}

}  // namespace cupel::rehearsal::ipmi
