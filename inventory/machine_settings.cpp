#include "inventory/machine_settings.h"

#include <array>

#include "base/text.h"

namespace cupel::inventory {
namespace {

constexpr std::array<std::string_view, 2> kOnOff{"on", "off"};
constexpr std::array<std::string_view, 3> kDomains{"1", "2", "4"};
constexpr std::array<std::string_view, 3> kProfiles{"performance", "balanced", "efficiency"};
constexpr std::array<std::string_view, 6> kBootKinds{"pxe", "http", "disk", "cd", "usb", "shell"};
constexpr std::array<std::string_view, 3> kSyslogProtocols{"udp", "tcp", "tls"};

constexpr std::array kSettings{
    PortableSetting{"iommu", kOnOff, "the IOMMU: VT-d, AMD-Vi"},
    PortableSetting{"acs", kOnOff, "PCIe Access Control Services of the bridges"},
    PortableSetting{"numa_per_socket", kDomains, "NUMA nodes of each CPU socket: SNC, NPS"},
    PortableSetting{"power_profile", kProfiles, "what the firmware prefers, speed or power"},
    PortableSetting{"sr_iov", kOnOff, "SR-IOV of PCIe devices"},
    PortableSetting{"smt", kOnOff, "several threads a core: Hyper-Threading, SMT"},
    PortableSetting{"sol", kOnOff, "the BIOS writes to the serial console"},
    PortableSetting{"secure_boot", kOnOff, "UEFI Secure Boot"},
};

constexpr int kSyslogPort = 514, kSyslogTlsPort = 6514;  // RFC 5426, 3.3; RFC 5425, 4.1

bool is_host(std::string_view host) {
  constexpr std::size_t kLongest = 253;
  if (host.empty() || host.size() > kLongest) return false;
  return std::ranges::all_of(host, [](unsigned char letter) {
    return std::isalnum(letter) || letter == '.' || letter == '-' || letter == ':' || letter == '_';
  });
}

}  // namespace

std::span<const PortableSetting> portable_settings() { return kSettings; }

std::span<const std::string_view> boot_kinds() { return kBootKinds; }

std::string to_string(const SyslogServer& server) {
  const bool bracketed = server.host.contains(':');
  return server.protocol + "://" + (bracketed ? "[" : "") + server.host + (bracketed ? "]" : "") +
         ":" + std::to_string(server.port);
}

std::optional<SyslogServer> syslog_server_of(std::string_view text) {
  const auto colon = text.find("://");
  if (colon == text.npos) return std::nullopt;
  SyslogServer server{.protocol = std::string{text.substr(0, colon)}};
  if (std::ranges::find(kSyslogProtocols, server.protocol) == kSyslogProtocols.end())
    return std::nullopt;
  server.port = server.protocol == "tls" ? kSyslogTlsPort : kSyslogPort;
  auto rest = text.substr(colon + 3);
  const bool bracketed = rest.starts_with('[');
  const auto end = bracketed ? rest.find(']') : rest.find(':');
  if (bracketed && end == rest.npos) return std::nullopt;
  server.host = std::string{rest.substr(bracketed ? 1 : 0, bracketed ? end - 1 : end)};
  if (bracketed) rest.remove_prefix(end + 1);
  const auto port_at = rest.find(':');
  if (port_at != rest.npos) {
    const auto port = number<int>(rest.substr(port_at + 1));
    if (!port || *port < 1 || *port > 65535) return std::nullopt;
    server.port = *port;
  } else if (bracketed && !rest.empty()) {
    return std::nullopt;
  }
  if (!is_host(server.host)) return std::nullopt;
  return server;
}

}  // namespace cupel::inventory
