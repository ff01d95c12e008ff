#pragma once
// Sensor data records: what a BMC says about its sensors and FRUs. Pure; reading the repository is
// repository.h. Source: IPMI 2.0, section 43.
#include <array>
#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "bmc/ipmi/bytes.h"

namespace cupel::bmc::ipmi {

/// How a raw reading becomes a number: 36.3 and table 43-1.
struct Formula {
  enum class Format : std::uint8_t { from_zero, ones_complement, twos_complement, none };

  Format format = Format::none;
  int m = 1, b = 0;
  int result_exponent = 0, b_exponent = 0;
  std::uint8_t linearisation = 0;

  /// y = L((M x + B 10^Bexp) 10^Rexp). Nothing where the sensor has no number, its formula is none
  /// of the standard's, or what comes out is not finite.
  std::optional<double> operator()(std::uint8_t raw) const;
  friend bool operator==(const Formula&, const Formula&) = default;
};

/// Table 43-15: "degrees C" is 1, "W" 6, "RPM" 18.
struct Unit {
  std::uint8_t base = 0, modifier = 0, rate = 0;
  enum class Relation : std::uint8_t { none, divided, times } relation = Relation::none;
  bool percent = false;
  /// "W", "°C", "RPM", "%", "CFM", "MB/s"; empty: a number without a unit.
  std::string text() const;
  friend bool operator==(const Unit&, const Unit&) = default;
};

/// Of a full record. Each raw, and there only if it can be read.
struct Thresholds {
  std::optional<std::uint8_t> lower_warn{}, lower_critical{}, lower_dead{};
  std::optional<std::uint8_t> upper_warn{}, upper_critical{}, upper_dead{};
  friend bool operator==(const Thresholds&, const Thresholds&) = default;
};

/// A full, compact or event-only record; the last two have no formula.
struct SensorRecord {
  std::uint16_t id = 0;
  std::uint8_t owner = 0;        // IPMB address, or software ID: bit 0 is set
  std::uint8_t unit_number = 0;  // LUN of the owner
  std::uint8_t number = 0;
  std::uint8_t entity = 0, instance = 0;
  std::uint8_t type = 0;     // table 42-3: 1 temperature, 4 fan, 8 power supply
  std::uint8_t reading = 0;  // event/reading type: 1 threshold, 0x6f as the sensor type says
  bool readable = true;      // false: event-only
  std::uint8_t share = 1;    // sensors that this record stands for, numbered upwards
  Formula formula{};
  Unit unit{};
  Thresholds thresholds{};
  std::string name{};
  friend bool operator==(const SensorRecord&, const SensorRecord&) = default;
};

/// Where a FRU's data is: 43.8.
struct FruLocator {
  std::uint16_t id = 0;
  std::uint8_t address = 0;
  std::uint8_t device = 0;
  bool logical = false;
  std::uint8_t entity = 0, instance = 0;
  std::string name{};
  friend bool operator==(const FruLocator&, const FruLocator&) = default;
};

/// Management controllers, entity associations and the vendors' own are passed over.
struct OtherRecord {
  std::uint16_t id = 0;
  std::uint8_t type = 0;
  friend bool operator==(const OtherRecord&, const OtherRecord&) = default;
};

using Record = std::variant<OtherRecord, SensorRecord, FruLocator>;

inline constexpr std::size_t kSdrHeader = 5;

/// One record, header first. Errors: kMalformed: shorter than it says, or than its type needs.
Result<Record> parse_sdr(View record);

/// A string behind its type/length byte: 43.15. Bounded by what is there.
std::string sdr_text(std::uint8_t type_and_length, View bytes);
/// BCD plus and packed 6-bit ASCII, as FRUs have them too.
std::string bcd_plus(View bytes);
std::string six_bit_ascii(View bytes);
/// What can be shown of 8-bit ASCII or Latin-1, as UTF-8, without blanks around it.
std::string latin1(View bytes);

}  // namespace cupel::bmc::ipmi
