#include "bmc/scan/found.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "bmc/redfish/vendors.h"
#include "inventory/read_bmc.h"

namespace cupel::bmc::scan {
namespace {

constexpr std::size_t kLongest = 100;
constexpr std::uint16_t kHttps = 443;
constexpr std::uint16_t kIpmi = 623;
constexpr std::size_t kMostArpLines = 100'000;

std::string fact(const json::value& root, std::string_view path) {
  const auto text = text_at(root, path);
  return text ? printable(shortened(valid_utf8(*text), kLongest)) : std::string{};
}

/// A text that YAML reads back as it is, and that no range can be in.
bool is_plain(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_/ ";
  return !text.empty() && text.find_first_not_of(kPlain) == text.npos;
}

std::string node_name(const FoundBmc& found) {
  std::string name = "bmc-" + found.address;
  std::ranges::replace_if(name, [](char c) { return c == '.' || c == ':' || c == '%'; }, '-');
  return name;
}

bool has_way(const FoundBmc& found, std::string_view way) {
  return std::ranges::find(found.ways, way) != found.ways.end();
}

/// One machine may answer at two addresses; the loader takes a serial and a MAC once.
struct Sourced {
  std::set<std::string> serials{};
  std::set<std::string> macs{};
};

std::string yaml_of(const FoundBmc& found, Sourced& reported) {
  const bool redfish = has_way(found, "redfish");
  std::string about;
  for (const auto* piece : {&found.vendor, &found.model, &found.note})
    if (!piece->empty()) about += " " + printable(*piece);
  std::string text =
      fmt::format("  - name: {}{}\n", node_name(found), about.empty() ? "" : "  #" + about);
  if (is_plain(found.serial) && reported.serials.insert(found.serial).second)
    text += fmt::format("    serial: \"{}\"\n", found.serial);
  text += fmt::format("    bmc: {{address: \"{}{}\"", found.address,
                      redfish && found.port != kHttps ? fmt::format(":{}", found.port) : "");
  if (!found.mac.empty() && reported.macs.insert(found.mac).second)
    text += fmt::format(", mac: \"{}\"", found.mac);
  if (!redfish) text += ", protocol: ipmi";
  if (has_way(found, "ipmi") && found.ipmi_port != kIpmi)
    text += fmt::format(", ipmi: {{port: {}}}", found.ipmi_port);
  else if (redfish && has_way(found, "ipmi"))
    text += ", ipmi: true";
  if (!found.certificate.empty()) text += fmt::format(", tls: {{pin: \"{}\"}}", found.certificate);
  return text +
         fmt::format("}}\n    ssh: {{address: {}-host}}  # to be replaced\n", node_name(found));
}

}  // namespace

void read_root(const json::value& root, FoundBmc& into) {
  into.redfish_version = fact(root, "RedfishVersion");
  into.uuid = lower_case(fact(root, "UUID"));
  into.vendor = redfish::rules_for({.root = &root}).vendor;
  if (into.vendor.empty()) into.vendor = fact(root, "Vendor");
  into.model = fact(root, "Product");
  into.serial = fact(root, "Oem/Dell/ServiceTag");
  const auto mac = inventory::mac_of(fact(root, "Oem/Dell/ManagerMACAddress"));
  if (mac) into.mac = *mac;
}

std::map<std::string, std::string, std::less<>> parse_arp(std::string_view text) {
  std::map<std::string, std::string, std::less<>> macs;
  auto all = lines(text);
  if (all.size() > kMostArpLines) all.resize(kMostArpLines);
  for (const auto line : all) {
    // "IP address  HW type  Flags  HW address  Mask  Device", below headings of more words.
    const auto column = words(line);
    if (column.size() != 6) continue;
    const auto mac = inventory::mac_of(column[3]);
    if (mac) macs.emplace(column[0], *mac);
  }
  return macs;
}

std::string to_yaml(std::span<const FoundBmc> found, std::string_view network) {
  std::string text = fmt::format(
      "# Found by `cupel bmc scan {}`. Names, profile, SSH addresses and credentials are to be\n"
      "# replaced; `cupel inventory check` says what is missing.\n"
      "site: found\n"
      "bmc_networks: [{}]\n"
      "defaults:\n"
      "  profile: hgx-h100-8  # to be replaced\n"
      "  bmc: {{user: admin, password: \"env:BMC_PASSWORD\"}}\n"
      "  ssh: {{user: root, key: agent}}\n"
      "nodes:\n",
      network, network);
  Sourced reported;
  for (const auto& each : found)
    text += each.ways.empty() ? fmt::format("# {}: {}; scan again\n", each.address, each.note)
                              : yaml_of(each, reported);
  return text;
}

json::object to_json(const FoundBmc& found) {
  return {{"address", found.address}, {"ways", json::value_from(found.ways)},
          {"vendor", found.vendor},   {"model", found.model},
          {"serial", found.serial},   {"uuid", found.uuid},
          {"mac", found.mac},         {"redfish_version", found.redfish_version},
          {"note", found.note},       {"certificate", found.certificate}};
}

}  // namespace cupel::bmc::scan
