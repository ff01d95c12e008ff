#include "bmc/scan/ssdp.h"

#include <utility>

#include "base/text.h"
#include "base/uuid.h"
#include "inventory/read_access.h"

namespace cupel::bmc::scan {
namespace {

constexpr std::size_t kMostLines = 40;
constexpr std::uint16_t kHttps = 443;

/// "uuid:X::urn:dmtf-org:service:redfish-rest:1.15": X.
std::optional<std::string> uuid_of(std::string_view usn) {
  constexpr std::string_view kPrefix = "uuid:";
  const auto text = lower_case(usn);
  if (!text.starts_with(kPrefix)) return std::nullopt;
  const auto end = text.find("::");
  if (end == std::string::npos || !text.substr(end + 2).starts_with(kRedfishService))
    return std::nullopt;
  auto uuid = text.substr(kPrefix.size(), end - kPrefix.size());
  return is_uuid(uuid) ? std::optional{std::move(uuid)} : std::nullopt;
}

std::optional<inventory::Endpoint> endpoint_of_url(std::string_view url) {
  constexpr std::string_view kScheme = "https://";
  if (!lower_case(url.substr(0, kScheme.size())).starts_with(kScheme)) return std::nullopt;
  url.remove_prefix(kScheme.size());
  return inventory::endpoint_of(url.substr(0, url.find_first_of("/?#")), kHttps);
}

}  // namespace

std::string ssdp_question(int wait_seconds) {
  return "M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: \"ssdp:discover\"\r\nMX: " +
         std::to_string(wait_seconds) + "\r\nST: " + std::string{kRedfishService} + "\r\n\r\n";
}

std::optional<SsdpAnswer> parse_ssdp(std::string_view datagram) {
  if (datagram.size() > kMostSsdpBytes) return std::nullopt;
  const auto all = lines(datagram);
  if (all.empty() || all.size() > kMostLines) return std::nullopt;
  const auto status = words(all.front());
  if (status.size() < 2 || !status[0].starts_with("HTTP/1.") || status[1] != "200")
    return std::nullopt;
  std::optional<std::string> uuid;
  std::string_view address;
  std::string_view location;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto colon = all[i].find(':');
    if (colon == all[i].npos) continue;
    const auto name = lower_case(trimmed(all[i].substr(0, colon)));
    const auto value = trimmed(all[i].substr(colon + 1));
    if (name == "usn") uuid = uuid_of(value);
    if (name == "al") address = value;
    if (name == "location") location = value;
  }
  // AL may stand in angle brackets, as a URI does in headers of HTTP.
  auto url = address.empty() ? location : address;
  if (url.starts_with('<') && url.ends_with('>')) url = url.substr(1, url.size() - 2);
  const auto endpoint = endpoint_of_url(url);
  if (!uuid || !endpoint) return std::nullopt;
  return SsdpAnswer{*uuid, endpoint->host, endpoint->port};
}

}  // namespace cupel::bmc::scan
