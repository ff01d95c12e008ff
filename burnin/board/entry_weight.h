#pragma once
// How much one entry of a BMC's log weighs. Its severity, assertion and MessageId decide; words
// only where these do not. Pure.
#include <cstdint>
#include <string>
#include <string_view>

namespace cupel::burnin {

/// An entry as the BMC reported it, and the part that it names.
struct LogEntryWords {
  std::string message{}, message_id{}, sensor{};
  std::string severity{};   // "OK", "Warning", "Critical"; empty: not reported
  std::string direction{};  // "Assert", "Deassert" of Redfish's EntryCode; else empty
  std::string part{};       // "psu2"; empty: it names none
};

enum class EntryWeight : std::uint8_t { harmless, other, warning, critical };

struct WeighedEntry {
  EntryWeight weight = EntryWeight::other;
  /// Of an entry that names a fault and no part: what it is a fault of ("power supplies"). Else
  /// empty.
  std::string family{};

  friend bool operator==(const WeighedEntry&, const WeighedEntry&) = default;
};

/// An entry of severity Critical is critical, whatever its words: it weighs less only where the
/// fault that it reports is over (deasserted), or where its MessageId is one of logins, of the log
/// itself or of the BMC's own load and its text names no fault. A warning that says the machine was
/// switched weighs less as long as it names neither a fault nor a part. "OK" weighs more where the
/// text says that a fault of the table is asserted; it is a warning where text or MessageId name a
/// failure and nothing in them says that it is over. An entry without a severity weighs as the
/// fault that it names. Source: IPMI 2.0, tables 42-2 and 42-3; DMTF DSP0268, LogEntry: Severity,
/// EntryCode; captures of Dell, HPE, Lenovo, Supermicro, Gigabyte, DGX H100 and GB200.
WeighedEntry weigh(const LogEntryWords& entry);

}  // namespace cupel::burnin
