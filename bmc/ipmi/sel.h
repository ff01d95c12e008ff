#pragma once
// Records of the system event log, and the standard's words for what happened. Pure.
// Source: IPMI 2.0, sections 32 and 42.
#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "bmc/ipmi/bytes.h"

namespace cupel::bmc::ipmi {

struct SelRecord {
  std::uint16_t id = 0;
  std::uint8_t type = 0;                // 02h event, C0h to DFh OEM with time, E0h and up without
  std::optional<std::uint32_t> time{};  // seconds since 1970 by the BMC's clock
  bool before_clock_was_set = false;    // `time` counts from the BMC's start (32.1)
  // Of an event:
  std::uint8_t generator = 0;  // IPMB address, or software ID: bit 0 is set
  std::uint8_t generator_unit = 0;
  std::uint8_t sensor_type = 0;
  std::uint8_t sensor = 0;
  std::uint8_t reading = 0;  // event/reading type
  bool deasserted = false;
  std::uint8_t data[3]{};
  // Of the vendors' own:
  std::uint32_t manufacturer = 0;
  Bytes oem{};

  bool is_event() const { return type == 0x02; }
  /// Which of the type's states or thresholds.
  std::uint8_t offset() const { return data[0] & 0x0f; }
  friend bool operator==(const SelRecord&, const SelRecord&) = default;
};

/// 16 bytes. Errors: kMalformed.
Result<SelRecord> parse_sel(View record);

/// "Upper Critical - going high", "Uncorrectable ECC", with "(deasserted)" where it is over.
/// Never empty. Trigger readings and vendor's data bytes are not in it.
std::string text_of(const SelRecord& record);

/// "OK", "Warning", "Critical"; empty: the standard does not say.
std::string severity_of(const SelRecord& record);

/// "Temperature", "Power Supply"; "OEM sensor 0xc1". Source: table 42-3.
std::string sensor_type_name(std::uint8_t type);

/// The words for one state, and how bad it is: 'C', 'W', or 0 for neither.
struct State {
  std::string words;
  char severity = 0;
};
/// Of an event/reading type, and of the sensor's own type where that is 6Fh. Nothing: not in the
/// tables. Source: tables 42-2 and 42-3.
std::optional<State> state_of(std::uint8_t reading, std::uint8_t sensor_type, std::uint8_t offset);

}  // namespace cupel::bmc::ipmi
