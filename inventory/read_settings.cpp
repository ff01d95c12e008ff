#include "inventory/read_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;

constexpr std::size_t kMostServers = 4, kMostAlerts = 8, kLongestUrl = 1024;
/// Source: DSP0268, SessionService.SessionTimeout.
constexpr std::chrono::seconds kShortestSession{30}, kLongestSession{86400};
/// Source: DSP0268, ManagerNetworkProtocol; Telnet and RFB as an iDRAC has them.
constexpr std::array<std::string_view, 14> kServices{
    "HTTP", "HTTPS",  "SSH",  "IPMI",         "KVMIP", "SNMP", "NTP",
    "SSDP", "Telnet", "DHCP", "VirtualMedia", "RFB",   "RDP",  "DHCPv6"};

Place place_of(const YamlValue& value, const std::string& file) {
  return {file, value.line, value.column};
}

template <class Words>
std::string listed(const Words& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

void read_portable(const YamlValue& map, const std::string& file, MachineSettings& settings,
                   Problems& problems) {
  if (map.kind != YamlValue::Kind::map) {
    problems.push_back({place_of(map, file), "settings must be a map of names and values"});
    return;
  }
  std::vector<std::string_view> names;
  for (const auto& row : portable_settings()) names.push_back(row.name);
  for (const auto& entry : map.items) {
    const auto row = std::ranges::find(portable_settings(), entry.key, &PortableSetting::name);
    if (row == portable_settings().end()) {
      problems.push_back({{file, entry.key_line, entry.key_column},
                          "unknown setting '" + printable(entry.key) + "'" +
                              did_you_mean(entry.key, std::span{names}) +
                              "; an attribute by the vendor's own name goes under bios"});
      continue;
    }
    std::erase_if(settings.portable, [&](const auto& before) { return before.name == entry.key; });
    const bool known = std::ranges::find(row->values, entry.text) != row->values.end();
    if (entry.kind != YamlValue::Kind::scalar || !known) {
      problems.push_back({place_of(entry, file), entry.key + " must be one of " +
                                                     listed(row->values) + ", not '" +
                                                     printable(entry.text) + "'"});
      continue;
    }
    settings.portable.push_back({entry.key, entry.text, place_of(entry, file)});
  }
}

void read_boot_order(YamlFields& fields, MachineSettings& settings) {
  if (!fields.has("boot_order")) return;
  settings.boot_order = fields.texts("boot_order");
  std::vector<std::string> seen;
  for (const auto& kind : settings.boot_order) {
    if (std::ranges::find(boot_kinds(), kind) == boot_kinds().end())
      fields.report(fields.place("boot_order"), "boot_order is a list of " + listed(boot_kinds()) +
                                                    ", not '" + printable(kind) + "'" +
                                                    did_you_mean(kind, boot_kinds()));
    if (std::ranges::find(seen, kind) != seen.end())
      fields.report(fields.place("boot_order"), "boot_order names " + printable(kind) + " twice");
    seen.push_back(kind);
  }
}

bool is_server(std::string_view name) {
  constexpr std::size_t kLongest = 253;
  return !name.empty() && name.size() <= kLongest &&
         std::ranges::all_of(name, [](unsigned char letter) {
           return std::isalnum(letter) || letter == '.' || letter == '-' || letter == ':';
         });
}

void read_ntp(YamlFields& fields, ExpectedBmc& bmc) {
  if (!fields.has("ntp")) return;
  bmc.ntp_servers = fields.texts("ntp");
  for (const auto& server : bmc.ntp_servers)
    if (!is_server(server))
      fields.report(fields.place("ntp"),
                    "ntp is a list of names or addresses, not '" + printable(server) + "'");
  if (bmc.ntp_servers.size() > kMostServers)
    fields.report(fields.place("ntp"), fmt::format("ntp names at most {} servers", kMostServers));
}

void read_syslog(YamlFields& fields, ExpectedBmc& bmc) {
  if (!fields.has("syslog")) return;
  bmc.syslog.clear();
  for (const auto& text : fields.texts("syslog")) {
    const auto server = syslog_server_of(text);
    if (server)
      bmc.syslog.push_back(*server);
    else
      fields.report(fields.place("syslog"),
                    "syslog is udp://HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT, not '" +
                        printable(text) + "'");
  }
  if (bmc.syslog.size() > kMostServers)
    fields.report(fields.place("syslog"),
                  fmt::format("syslog names at most {} servers", kMostServers));
}

void read_alerts(YamlFields& fields, ExpectedBmc& bmc) {
  if (!fields.has("alerts")) return;
  bmc.alerts = fields.texts("alerts");
  for (const auto& url : bmc.alerts) {
    const bool web = url.starts_with("https://") || url.starts_with("http://");
    const bool plain = url == printable(url) && !url.contains(' ') && !url.contains('@');
    if (!web || !plain || url.size() > kLongestUrl)
      fields.report(fields.place("alerts"),
                    "alerts is a list of https:// or http:// URLs without a user in them");
  }
  if (bmc.alerts.size() > kMostAlerts)
    fields.report(fields.place("alerts"), fmt::format("alerts names at most {} URLs", kMostAlerts));
}

void read_service(const YamlValue& entry, const std::string& file, ExpectedBmc& bmc,
                  Problems& problems) {
  const auto known = std::ranges::find(kServices, entry.key);
  const bool on = entry.text == "on", off = entry.text == "off";
  if (known == kServices.end())
    problems.push_back({{file, entry.key_line, entry.key_column},
                        "unknown service '" + printable(entry.key) + "'" +
                            did_you_mean(entry.key, std::span<const std::string_view>{kServices})});
  else if (!on && !off)
    problems.push_back({place_of(entry, file),
                        entry.key + " must be on or off, not '" + printable(entry.text) + "'"});
  else if (entry.key == "HTTPS" && off)
    problems.push_back({place_of(entry, file), "HTTPS must stay on: Redfish is spoken over it"});
  else
    bmc.services.push_back({entry.key, on, place_of(entry, file)});
}

void read_services(YamlFields& fields, const std::string& file, ExpectedBmc& bmc,
                   Problems& problems) {
  const auto* map = fields.value("services");
  if (map == nullptr) return;
  if (map->kind != YamlValue::Kind::map)
    fields.report(fields.place("services"), "services must be a map of names and on or off");
  for (const auto& entry : map->items) {
    std::erase_if(bmc.services, [&](const auto& before) { return before.name == entry.key; });
    read_service(entry, file, bmc, problems);
  }
}

void read_bmc_settings(const YamlValue& map, const std::string& file, ExpectedBmc& bmc,
                       Problems& problems) {
  YamlFields fields{map, "bmc", file, problems};
  bmc.where = fields.place();
  read_ntp(fields, bmc);
  read_syslog(fields, bmc);
  read_alerts(fields, bmc);
  read_services(fields, file, bmc, problems);
  const auto timeout = fields.duration("session_timeout");
  if (timeout && (*timeout < kShortestSession || *timeout > kLongestSession))
    fields.report(fields.place("session_timeout"), "session_timeout must be from 30s to 1d");
  if (timeout) bmc.session_timeout = timeout;
  const auto ntp = std::ranges::find(bmc.services, "NTP", &ExpectedService::name);
  if (ntp != bmc.services.end() && !ntp->enabled && !bmc.ntp_servers.empty())
    problems.push_back({ntp->where, "NTP is off, and ntp names servers: leave one of them out"});
  fields.finish();
}

}  // namespace

void read_settings(YamlFields& fields, const std::string& file, MachineSettings& settings,
                   Problems& problems) {
  if (const auto* map = fields.value("settings")) read_portable(*map, file, settings, problems);
  read_boot_order(fields, settings);
  if (const auto* map = fields.value("bmc")) read_bmc_settings(*map, file, settings.bmc, problems);
}

}  // namespace cupel::inventory
