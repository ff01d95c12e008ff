#pragma once
// The question "who here serves Redfish?" and what an answer to it says. Pure text: sending is
// scan.h's. An answer is used as an address to look at, and for nothing else.
#include <optional>
#include <string>
#include <string_view>

namespace cupel::bmc::scan {

inline constexpr std::string_view kRedfishService = "urn:dmtf-org:service:redfish-rest:1";
inline constexpr std::string_view kSsdpGroup = "239.255.255.250";
inline constexpr unsigned short kSsdpPort = 1900;
inline constexpr std::size_t kMostSsdpBytes = 2048;

/// The M-SEARCH; services answer within `wait_seconds` (1 to 5).
/// Source: UPnP Device Architecture 1.1, 1.3.2; DSP0266, "M-SEARCH response".
std::string ssdp_question(int wait_seconds);

struct SsdpAnswer {
  std::string uuid;  // of the service, lower case
  std::string host;  // as the service root's URL says it
  unsigned short port = 443;
  friend bool operator==(const SsdpAnswer&, const SsdpAnswer&) = default;
};

/// One datagram. Nothing unless it is a 200 for a Redfish service, with a UUID and an https URL in
/// AL (or, where there is no AL, in LOCATION). Header names in any case.
std::optional<SsdpAnswer> parse_ssdp(std::string_view datagram);

}  // namespace cupel::bmc::scan
