#pragma once
// A BMC that a scan has found, and how it is reported: what a service root says without a login,
// the neighbour table, and inventory YAML to paste. Pure.
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace cupel::bmc::scan {

/// What is not known stays empty.
struct FoundBmc {
  std::string address;
  std::vector<std::string> ways{};  // "redfish", "ipmi", "ssdp": how it was found
  std::uint16_t port = 443;         // of HTTPS
  std::uint16_t ipmi_port = 623;
  std::string vendor{};
  std::string model{};
  std::string serial{};  // of the system
  std::string uuid{};    // of the Redfish service
  std::string redfish_version{};
  std::string mac{};
  std::string certificate{};  // "SHA256:...": as it was shown, not as it was vouched for
  std::string note{};         // why more is not known
  std::string unclear{};      // what answers at the root of one that starts, or is none
  friend bool operator==(const FoundBmc&, const FoundBmc&) = default;
};

/// Takes from a service root what it tells everybody. Hostile until read: bounded, printable.
/// Source: DSP0268, ServiceRoot (Vendor, Product, UUID, RedfishVersion); Dell tells the service tag
/// and the BMC's MAC in Oem/Dell.
void read_root(const json::value& root, FoundBmc& into);

/// MACs by IPv4 address, from the text of /proc/net/arp; incomplete entries are left out.
/// Source: proc(5), /proc/net/arp.
std::map<std::string, std::string, std::less<>> parse_arp(std::string_view text);

/// A whole inventory that the loader takes: one node for each. What a scan cannot know (profile,
/// SSH address, credentials) is there to be replaced, and marked so.
std::string to_yaml(std::span<const FoundBmc> found, std::string_view network);

json::object to_json(const FoundBmc& found);

}  // namespace cupel::bmc::scan
