#pragma once
// What a BMC answers about settings that a site wants the same on every machine. Asked for by
// facet::Settings.
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cupel::bmc {

/// What one BIOS attribute may be, as the BMC's registry tells it.
struct BiosRule {
  std::vector<std::string> allowed{};  // of an enumeration; empty: not told, or no enumeration
  std::optional<double> least{}, most{};
  bool read_only = false;
  friend bool operator==(const BiosRule&, const BiosRule&) = default;
};

using BiosRules = std::map<std::string, BiosRule, std::less<>>;

/// A way to boot, as UEFI lists it. Source: DSP0268, BootOption; UEFI 2.10, 3.1.3.
struct BootOption {
  std::string reference;  // "Boot0003"
  std::string name{};     // for people
  std::string path{};     // UEFI device path
  std::string alias{};    // "Pxe", "Hdd": of DSP0268, BootSource
  friend bool operator==(const BootOption&, const BootOption&) = default;
};

struct BootOrder {
  std::vector<std::string> current{};  // references
  std::vector<std::string> next{};     // after the next boot; the same where nothing waits
  std::vector<BootOption> options{};
  friend bool operator==(const BootOrder&, const BootOrder&) = default;
};

struct SecureBootState {
  bool next = false;             // from the next boot on
  std::optional<bool> active{};  // of the last boot
  std::string mode{};            // "UserMode", "SetupMode"
  friend bool operator==(const SecureBootState&, const SecureBootState&) = default;
};

struct NtpSettings {
  bool enabled = false;
  std::vector<std::string> servers{};
  friend bool operator==(const NtpSettings&, const NtpSettings&) = default;
};

/// Somebody who is sent what happens.
struct EventTarget {
  enum class Kind { redfish, syslog, other } kind = Kind::other;
  /// Of redfish: its URL. Of syslog: as inventory::to_string(SyslogServer) writes it.
  std::string destination{};
  std::string source{};  // URI
  friend bool operator==(const EventTarget&, const EventTarget&) = default;
};

}  // namespace cupel::bmc
