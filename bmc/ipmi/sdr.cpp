#include "bmc/ipmi/sdr.h"

#include <cmath>

#include "base/text.h"

namespace cupel::bmc::ipmi {
namespace {

constexpr std::uint8_t kFull = 0x01, kCompact = 0x02, kEventOnly = 0x03, kFruLocator = 0x11;

/// The lowest `bits` of `value` as a signed number.
int signed_bits(unsigned value, int bits) {
  const auto sign = 1u << (bits - 1);
  const auto kept = value & ((1u << bits) - 1);
  return static_cast<int>(kept ^ sign) - static_cast<int>(sign);
}

std::optional<double> linearised(std::uint8_t how, double x) {
  switch (how) {
    case 0:
      return x;
    case 1:
      return std::log(x);
    case 2:
      return std::log10(x);
    case 3:
      return std::log2(x);
    case 4:
      return std::exp(x);
    case 5:
      return std::pow(10.0, x);
    case 6:
      return std::exp2(x);
    case 7:
      return 1.0 / x;
    case 8:
      return x * x;
    case 9:
      return x * x * x;
    case 10:
      return std::sqrt(x);
    case 11:
      return std::cbrt(x);
    default:
      return std::nullopt;  // 70h and above: a factor for each reading, the vendor's own
  }
}

/// Bytes 24 to 30 of a full record, from "units 1" on: 43.1.
void read_numbers(Reader& reader, SensorRecord& sensor, std::uint8_t units) {
  const auto linearisation = reader.u8();
  const unsigned m = reader.u8(), m_and_tolerance = reader.u8();
  const unsigned b = reader.u8(), b_and_accuracy = reader.u8();
  reader.u8();
  const unsigned exponents = reader.u8();
  sensor.formula = {.format = static_cast<Formula::Format>(units >> 6),
                    .m = signed_bits(m | (m_and_tolerance & 0xc0) << 2, 10),
                    .b = signed_bits(b | (b_and_accuracy & 0xc0) << 2, 10),
                    .result_exponent = signed_bits(exponents >> 4, 4),
                    .b_exponent = signed_bits(exponents, 4),
                    .linearisation = static_cast<std::uint8_t>(linearisation & 0x7f)};
}

/// `readable`: the mask's bits, as Get Sensor Thresholds has them.
Thresholds thresholds_of(View six, std::uint8_t readable) {
  const auto one = [&](std::size_t at, int bit) {
    return (readable >> bit & 1) != 0 ? std::optional{six[at]} : std::nullopt;
  };
  // The record goes from the highest to the lowest.
  return {.lower_warn = one(5, 0),
          .lower_critical = one(4, 1),
          .lower_dead = one(3, 2),
          .upper_warn = one(2, 3),
          .upper_critical = one(1, 4),
          .upper_dead = one(0, 5)};
}

void read_name(Reader& reader, SensorRecord& sensor) {
  const auto length = reader.u8();
  sensor.name = sdr_text(length, reader.rest());
}

SensorRecord sensor_start(std::uint16_t id, Reader& reader) {
  SensorRecord sensor{.id = id};
  sensor.owner = reader.u8();
  sensor.unit_number = reader.u8() & 3;
  sensor.number = reader.u8();
  sensor.entity = reader.u8();
  sensor.instance = reader.u8();
  return sensor;
}

Unit read_unit(Reader& reader, std::uint8_t units) {
  Unit unit;
  unit.base = reader.u8();
  unit.modifier = reader.u8();
  unit.rate = units >> 3 & 7;
  const auto relation = units >> 1 & 3;
  if (relation == 1) unit.relation = Unit::Relation::divided;
  if (relation == 2) unit.relation = Unit::Relation::times;
  unit.percent = (units & 1) != 0;
  return unit;
}

SensorRecord full_or_compact(std::uint16_t id, Reader& reader, bool full) {
  auto sensor = sensor_start(id, reader);
  reader.u8();  // initialisation
  reader.u8();  // capabilities
  sensor.type = reader.u8();
  sensor.reading = reader.u8();
  reader.u16();
  reader.u16();
  const auto masks = reader.u16();
  const auto units = reader.u8();
  sensor.unit = read_unit(reader, units);
  if (!full) {
    sensor.share = std::max<std::uint8_t>(1, reader.u8() & 0x0f);
    reader.take(7);  // instance modifier, hysteresis, reserved, OEM
    read_name(reader, sensor);
    return sensor;
  }
  read_numbers(reader, sensor, units);
  reader.take(6);  // analog flags, nominal, normal, sensor's ends
  const auto six = reader.take(6);
  if (sensor.reading == 1 && six.size() == 6)
    sensor.thresholds = thresholds_of(six, static_cast<std::uint8_t>(masks & 0x3f));
  reader.take(5);  // hysteresis, reserved, OEM
  read_name(reader, sensor);
  return sensor;
}

SensorRecord event_only(std::uint16_t id, Reader& reader) {
  auto sensor = sensor_start(id, reader);
  sensor.readable = false;
  sensor.type = reader.u8();
  sensor.reading = reader.u8();
  sensor.share = std::max<std::uint8_t>(1, reader.u8() & 0x0f);
  reader.take(3);
  read_name(reader, sensor);
  return sensor;
}

FruLocator fru_locator(std::uint16_t id, Reader& reader) {
  FruLocator fru{.id = id};
  fru.address = reader.u8();
  fru.device = reader.u8();
  fru.logical = (reader.u8() & 0x80) != 0;
  reader.take(4);  // channel, reserved, device type and modifier
  fru.entity = reader.u8();
  fru.instance = reader.u8();
  reader.u8();
  const auto length = reader.u8();
  fru.name = sdr_text(length, reader.rest());
  return fru;
}

}  // namespace

std::optional<double> Formula::operator()(std::uint8_t raw) const {
  double x = 0;
  switch (format) {
    case Format::from_zero:
      x = raw;
      break;
    case Format::ones_complement:  // there is a negative zero
      x = raw < 0x80 ? raw : -static_cast<double>(0xff - raw);
      break;
    case Format::twos_complement:
      x = static_cast<std::int8_t>(raw);
      break;
    case Format::none:
      return std::nullopt;
  }
  const double scaled = (m * x + b * std::pow(10.0, b_exponent)) * std::pow(10.0, result_exponent);
  const auto value = linearised(linearisation, scaled);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

Result<Record> parse_sdr(View record) {
  Reader reader{record};
  const auto id = reader.u16();
  reader.u8();  // version of the standard, in BCD
  const auto type = reader.u8();
  const auto length = reader.u8();
  const auto body = reader.take(length);
  if (!reader.ok()) return Error{Code::kMalformed, "a sensor data record shorter than it says"};
  Reader inner{body};
  Record found = OtherRecord{id, type};
  if (type == kFull || type == kCompact) found = full_or_compact(id, inner, type == kFull);
  if (type == kEventOnly) found = event_only(id, inner);
  if (type == kFruLocator) found = fru_locator(id, inner);
  if (!inner.ok()) return Error{Code::kMalformed, "a sensor data record cut short"};
  return found;
}

std::string bcd_plus(View bytes) {
  std::string text;
  for (const auto each : bytes)
    for (const auto digit : {each >> 4, each & 15}) text += "0123456789 -.:,_"[digit];
  return std::string{trimmed(text)};
}

// Four characters in three bytes, the first in the lowest bits: 43.15, figure 43-1.
std::string six_bit_ascii(View bytes) {
  std::string text;
  unsigned held = 0;
  int bits = 0;
  for (const auto each : bytes) {
    held |= static_cast<unsigned>(each) << bits;
    for (bits += 8; bits >= 6; bits -= 6, held >>= 6)
      text += static_cast<char>(0x20 + (held & 0x3f));
  }
  return std::string{trimmed(text)};
}

std::string latin1(View bytes) {
  std::string text;
  for (const auto each : bytes) {
    if (each == 0) break;
    if (each < 0x80) {
      text += static_cast<char>(each);
    } else {
      text += static_cast<char>(0xc0 | each >> 6);
      text += static_cast<char>(0x80 | (each & 0x3f));
    }
  }
  return std::string{trimmed(printable(text))};
}

std::string sdr_text(std::uint8_t type_and_length, View bytes) {
  const auto text = bytes.first(std::min<std::size_t>(type_and_length & 0x1f, bytes.size()));
  switch (type_and_length >> 6) {
    case 1:
      return bcd_plus(text);
    case 2:
      return six_bit_ascii(text);
    case 3:
      return latin1(text);
    default:
      // 00b is 2-byte Unicode, and what some BMCs write before plain ASCII.
      return latin1(text);
  }
}

}  // namespace cupel::bmc::ipmi
