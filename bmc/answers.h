#pragma once
// What a BMC answers with, of whatever protocol: values, an open console, a subscription. What it
// can be asked is in facets.h.
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/task.h"
#include "bmc/identity.h"
#include "bmc/sensor.h"
#include "inventory/parts.h"

namespace cupel::bmc {

using Seconds = std::chrono::sys_seconds;

/// An answer, and who gave it.
template <class T>
struct Sourced {
  T value{};
  Protocol by = Protocol::redfish;

  operator const T&() const { return value; }
  friend bool operator==(const Sourced&, const Sourced&) = default;
  friend bool operator==(const Sourced& one, const T& other) { return one.value == other; }
};

/// `unknown` covers what a BMC does not tell or tells in a word nobody defined: never taken for
/// off.
enum class PowerState { off, powering_on, on, powering_off, unknown };
enum class ResetType {
  on,
  force_off,
  graceful_shutdown,
  force_restart,
  graceful_restart,
  power_cycle,
  ac_cycle,  // the machine's standby power too, as if the cord were pulled
};
enum class BootTarget { none, pxe, uefi_http, disk, virtual_cd, bios_setup };

std::string_view to_string(PowerState state);
std::string_view to_string(ResetType type);
std::string_view to_string(BootTarget target);

/// Everything that the BMC tells of the machine.
struct Observed {
  Identity identity;
  PowerState power = PowerState::unknown;
  std::vector<inventory::Part> parts;
  std::vector<inventory::Unknown> unknown;
  /// The chassis whose own health is Critical, by their names: "chassis HGX_CPU_0".
  std::vector<std::string> critical{};
  /// Kinds of which it could not list all parts, at most one entry each.
  std::vector<inventory::PartialList> partial{};
  int requests = 0;       // that it took to find out
  std::size_t bytes = 0;  // of the answers' bodies
  int unchanged = 0;      // answers that only said so (HTTP 304)
  Protocol by = Protocol::redfish;
};

/// What a boot override is set to. In UEFI mode, always.
struct BootOverride {
  BootTarget target = BootTarget::none;
  bool once = false;  // else until it is taken back
  std::string uri{};  // of uefi_http, where the machine is to be given one
  friend bool operator==(const BootOverride&, const BootOverride&) = default;
};

/// One line of an event log.
struct LogEntry {
  std::string id;
  std::optional<Seconds> time{};  // as reported, in UTC; nothing where the BMC's date is none
  std::string severity{};         // "OK", "Warning", "Critical"; empty: not reported
  std::string message{};
  std::string message_id{};  // of a registry, or empty
  std::string sensor{};      // that it is about
  std::string source{};      // URI, or "ipmi:sel/0x0012"
  std::string direction{};   // "Assert" or "Deassert": the state came or went; empty: not reported
  friend bool operator==(const LogEntry&, const LogEntry&) = default;
};

struct EventLog {
  static constexpr std::size_t kMost = 20'000;  // entries that one reading holds

  std::vector<LogEntry> entries{};  // oldest first
  bool cut = false;                 // there were more than was asked for, and older ones
  bool newest_missing = false;      // a log goes on where it was not read: `unknown` says which
  std::vector<inventory::Unknown> unknown{};
  Protocol by = Protocol::redfish;
};

struct Account {
  std::string id;  // of its slot
  std::string user;
  std::string role{};
  bool enabled = true;
  bool locked = false;
  std::string source{};
  friend bool operator==(const Account&, const Account&) = default;
};

/// A service of the BMC's own: "HTTPS", "SSH", "IPMI", "KVMIP", "SNMP", "NTP".
struct NetworkService {
  std::string name;
  bool enabled = false;
  int port = 0;  // 0: not reported
  friend bool operator==(const NetworkService&, const NetworkService&) = default;
};

/// The BMC's clock, held against ours.
struct BmcClock {
  Seconds time{};
  std::chrono::seconds ahead{0};  // of ours; the round trip is a part of it
  std::string reported{};
  std::vector<std::string> ntp_servers{};
  Protocol by = Protocol::redfish;
};

using BiosValue = std::variant<bool, std::int64_t, double, std::string>;
using BiosValues = std::map<std::string, BiosValue>;

struct BiosSettings {
  BiosValues current{};
  BiosValues pending{};  // that the next boot makes current; only what differs
};

/// A slot for a virtual disc.
struct MediaSlot {
  std::string id;
  std::vector<std::string> types{};  // "CD", "DVD", "USBStick"
  std::string image{};               // URL; empty: nothing is in it
  bool inserted = false;
  std::string source{};
  friend bool operator==(const MediaSlot&, const MediaSlot&) = default;
};

/// A way to the machine's serial console, as the BMC tells it.
struct ConsoleWay {
  enum class Kind { sol, ssh, telnet } kind{};
  bool enabled = false;
  int port = 0;           // 0: the protocol's own
  std::string command{};  // to be typed after the login
  friend bool operator==(const ConsoleWay&, const ConsoleWay&) = default;
};

/// An open serial console. close() on every path; one reader and one writer at a time.
class Console {
 public:
  virtual ~Console() = default;
  /// What the machine wrote; never empty. Cancel-safe: nothing that was read is lost.
  /// Errors: kTimeout; kUnreachable (gone, or taken over); kCancelled.
  virtual Task<Result<std::string>> read(Deadline deadline) = 0;
  /// Returns when the BMC has taken all of it. Errors: as read.
  virtual Task<Result<void>> write(std::string bytes, Deadline deadline) = 0;
  virtual Task<Result<void>> send_break(Deadline deadline) = 0;
  /// Idempotent; works in a cancelled coroutine, within a few seconds of its own.
  virtual Task<void> close() = 0;
};

/// Something happened, and the BMC said so by itself.
struct Event {
  enum class Kind { power, fault, other } kind = Kind::other;
  LogEntry entry{};
};

/// A subscription. close() on every path.
class Events {
 public:
  virtual ~Events() = default;
  /// Waits until there is at least one. Errors: kTimeout; kUnreachable (ended); kCancelled.
  virtual Task<Result<std::vector<Event>>> next(Deadline deadline) = 0;
  virtual Task<void> close() = 0;
  /// "SSE", "polling": how it comes to know.
  virtual std::string_view way() const = 0;
};

}  // namespace cupel::bmc
