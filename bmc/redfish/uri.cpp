#include "bmc/redfish/uri.h"

#include "base/text.h"

namespace cupel::bmc::redfish {

bool is_on_the_bmc(std::string_view uri) {
  const auto lower = lower_case(uri.substr(0, 9));
  const bool redfish = lower == "/redfish/" || lower_case(uri) == "/redfish";
  return redfish && uri.size() < 2048 && uri.find("/../") == uri.npos && !uri.ends_with("/..");
}

bool is_path(std::string_view uri) {
  constexpr std::size_t kLongest = 1024;
  const auto plain = [](char c) { return c > ' ' && c < '\x7f'; };
  return uri.starts_with('/') && !uri.starts_with("//") && uri.size() <= kLongest &&
         std::ranges::all_of(uri, plain) && uri.find("..") == uri.npos;
}

std::string path_of(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == url.npos) return std::string{url};
  const auto path = url.find('/', scheme + 3);
  return path == url.npos ? std::string{} : std::string{url.substr(path)};
}

std::string_view last_name(std::string_view uri) {
  while (uri.ends_with('/')) uri.remove_suffix(1);
  return uri.substr(uri.rfind('/') + 1);
}

std::string normal(std::string_view uri) {
  uri = uri.substr(0, uri.find('#'));
  std::string one;
  for (const char c : uri)
    if (c != '/' || !one.ends_with('/')) one += c;
  while (one.size() > 1 && one.ends_with('/')) one.pop_back();
  return one;
}

// RFC 3986 allows no blanks, quotes or controls in a path; BMCs' links have them.
Result<std::string> url_path(std::string_view path) {
  if (!path.starts_with('/')) return Error{Code::kInvalid, "not a path: " + printable(path)};
  constexpr std::string_view kNeverRaw = "\"<>\\^`{|}";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string safe;
  for (const char c : path.substr(0, path.find('#'))) {
    const auto byte = static_cast<unsigned char>(c);
    const bool raw = byte > 0x20 && byte < 0x7f && kNeverRaw.find(c) == kNeverRaw.npos;
    if (raw) safe += c;
    if (!raw) safe += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return safe;
}

std::optional<std::string> path_on(const inventory::Endpoint& endpoint, std::string_view target) {
  for (const auto& origin : {"https://" + to_string(endpoint), "https://" + endpoint.host}) {
    if (lower_case(target).starts_with(lower_case(origin) + "/"))
      return std::string{target.substr(origin.size())};
  }
  if (target.starts_with('/') && !target.starts_with("//")) return std::string{target};
  return std::nullopt;
}

}  // namespace cupel::bmc::redfish
