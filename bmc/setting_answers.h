#pragma once
// What a BMC answers about settings that a site wants the same on every machine. Asked for by
// facet::Settings.
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bmc/answers.h"

namespace cupel::bmc {

/// What one BIOS attribute may be, as the BMC's registry tells it.
struct BiosRule {
  std::vector<std::string> allowed{};  // of an enumeration; empty: not reported, or no enumeration
  std::optional<double> least{}, most{};
  bool read_only = false;            // now; a dependency may be why
  bool immutable = false;            // for ever
  std::optional<BiosValue> usual{};  // the maker's default; none: not reported
  friend bool operator==(const BiosRule&, const BiosRule&) = default;
};

using BiosRules = std::map<std::string, BiosRule, std::less<>>;

/// A property of an attribute: {"SysProfile", "CurrentValue"}, {"ProcTurboMode", "ReadOnly"}.
struct BiosProperty {
  std::string attribute{}, name{};
  friend auto operator<=>(const BiosProperty&, const BiosProperty&) = default;
};

/// One condition of a dependency. Source: DSP0268, AttributeRegistry, MapFrom.
struct BiosCondition {
  enum class Test { equal, unequal, greater, at_least, less, at_most } test = Test::equal;
  BiosProperty of{};
  BiosValue value{};
  bool and_before = false;  // AND with what stands before it; else OR
};

/// What the BIOS does where the conditions hold. Source: DSP0268, AttributeRegistry, Dependencies.
struct BiosDependency {
  std::string trigger{};  // the attribute whose change evaluates it; Dell names the one it sets
  std::vector<BiosCondition> conditions{};  // from the left to the right
  BiosProperty sets{};
  BiosValue value{};
};

/// The BIOS attribute registry of a machine.
struct BiosRegistry {
  BiosRules rules{};  // empty: not reported
  std::vector<BiosDependency> dependencies{};
  /// The properties that dependencies name, besides CurrentValue, as the registry tells them.
  std::map<BiosProperty, BiosValue> properties{};
  /// Dependencies that cannot be evaluated: the attribute that each sets, where it names one, and
  /// why. The first of them.
  std::vector<std::pair<std::string, std::string>> unusable{};
  std::size_t cut = 0;  // dependencies behind the limit: not evaluated
};

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
