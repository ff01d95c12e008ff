#pragma once
// Settings that a profile wants of a machine and of its BMC. Those of the machine have names of our
// own, the same for every vendor; which BIOS attribute each of them is stands in
// orchestrator/settings/vendor_attributes.h. Attributes by the vendor's own names are
// ExpectedSetting.
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/problem.h"

namespace cupel::inventory {

/// A BIOS setting that matters to what the machine is for.
struct ExpectedSetting {
  std::string attribute;  // as the BMC's BIOS registry calls it
  std::string value;
  std::string source{};
  Place where{};
};

/// A setting of the machine that has a name of our own.
struct PortableSetting {
  std::string_view name;
  std::span<const std::string_view> values;
  std::string_view summary;
};

std::span<const PortableSetting> portable_settings();

/// What one of them should be.
struct ExpectedPortable {
  std::string name;   // of a PortableSetting
  std::string value;  // one of its values
  Place where{};
  friend bool operator==(const ExpectedPortable&, const ExpectedPortable&) = default;
};

/// Where a BMC sends its log.
struct SyslogServer {
  std::string protocol{"udp"};  // "udp", "tcp", "tls"
  std::string host{};
  int port = 514;
  friend bool operator==(const SyslogServer&, const SyslogServer&) = default;
};

/// "udp://10.0.0.9:514". Source: the words of RFC 5424 to 5426 as a URI.
std::string to_string(const SyslogServer& server);
/// Nothing for what is no such URI. The port may be left out.
std::optional<SyslogServer> syslog_server_of(std::string_view text);

/// A service of the BMC that is to be on or off.
struct ExpectedService {
  std::string name;  // as Redfish calls it: "SSH", "IPMI"
  bool enabled = false;
  Place where{};
  friend bool operator==(const ExpectedService&, const ExpectedService&) = default;
};

/// Settings of the BMC itself. What is empty is neither checked nor changed.
struct ExpectedBmc {
  std::vector<std::string> ntp_servers{};
  std::vector<SyslogServer> syslog{};
  std::vector<std::string> alerts{};  // URLs that get its events
  std::vector<ExpectedService> services{};
  std::optional<std::chrono::seconds> session_timeout{};
  Place where{};  // of the key bmc

  bool is_empty() const {
    return ntp_servers.empty() && syslog.empty() && alerts.empty() && services.empty() &&
           !session_timeout;
  }
};

/// All that a profile wants of a machine's settings, besides attributes by their own names.
struct MachineSettings {
  std::vector<ExpectedPortable> portable{};
  /// Kinds of boot options, the first to be tried first: "pxe", "disk".
  std::vector<std::string> boot_order{};
  ExpectedBmc bmc{};

  bool is_empty() const { return portable.empty() && boot_order.empty() && bmc.is_empty(); }
};

/// The kinds that boot_order may name.
std::span<const std::string_view> boot_kinds();

}  // namespace cupel::inventory
