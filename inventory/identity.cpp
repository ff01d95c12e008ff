#include "inventory/identity.h"

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>

#include "base/text.h"

namespace cupel::inventory {
namespace {

namespace ip = boost::asio::ip;

std::string_view host_of(std::string_view name) { return name.substr(0, name.find('.')); }

}  // namespace

std::string canonical_host(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  // A zone is this machine's own (RFC 4007, 11).
  if (const auto zone = host.find('%'); zone != host.npos && host.contains(':'))
    return canonical_host(host.substr(0, zone)) + std::string{host.substr(zone)};
  boost::system::error_code none;
  const auto address = ip::make_address(std::string{host}, none);
  if (!none && address.is_v6() && address.to_v6().is_v4_mapped())
    return ip::make_address_v4(ip::v4_mapped, address.to_v6()).to_string();
  if (!none) return address.to_string();
  if (host.size() > 1 && host.ends_with('.')) host.remove_suffix(1);
  return lower_case(host);
}

std::string canonical(const Endpoint& endpoint) {
  return to_string(Endpoint{canonical_host(endpoint.host), endpoint.port});
}

void MachineNames::add(const std::string& name) {
  const auto low = lower_case(name);
  if (!by_name_.try_emplace(low, name).second) return;
  by_host_.emplace(std::string{host_of(low)}, name);
}

const std::string& MachineNames::known(const std::string& name) const {
  const auto low = lower_case(name);
  if (const auto found = by_name_.find(low); found != by_name_.end()) return found->second;
  const auto host = host_of(low);
  const auto [first, last] = by_host_.equal_range(host);
  const std::string* only = nullptr;
  for (auto each = first; each != last; ++each) {
    const bool both_have_domains = low.size() > host.size() && each->second.size() > host.size();
    if (both_have_domains) continue;
    if (only != nullptr) return name;
    only = &each->second;
  }
  return only == nullptr ? name : *only;
}

std::string serial_key(std::string_view serial) {
  std::string key;
  for (const char c : lower_case(serial))
    if (c != ' ' && c != '-' && c != '\t') key += c;
  const bool digits = !key.empty() && key.find_first_not_of("0123456789") == key.npos;
  if (digits) key.erase(0, std::min(key.find_first_not_of('0'), key.size() - 1));
  return key;
}

bool is_no_serial(std::string_view text) {
  constexpr std::array<std::string_view, 28> kNothing{"",
                                                      "na",
                                                      "n/a",
                                                      "n.a.",
                                                      "nil",
                                                      "none",
                                                      "null",
                                                      "unknown",
                                                      "undefined",
                                                      "default",
                                                      "empty",
                                                      "invalid",
                                                      "tbd",
                                                      "no serial",
                                                      "no serial number",
                                                      "not specified",
                                                      "not available",
                                                      "not applicable",
                                                      "not provided",
                                                      "not set",
                                                      "serial",
                                                      "serial number",
                                                      "serialnumber",
                                                      "system serial number",
                                                      "chassis serial number",
                                                      "base board serial number",
                                                      "board serial number",
                                                      "sernum00"};
  constexpr std::array<std::string_view, 4> kWithin{"o.e.m", "oem string", "to be filled",
                                                    "default string"};
  const auto low = lower_case(trimmed(text));
  if (std::ranges::find(kNothing, low) != kNothing.end()) return true;
  if (std::ranges::any_of(kWithin, [&](auto each) { return low.contains(each); })) return true;
  // "0000", "xxxxxxxx", "--------", "0x00000000".
  constexpr std::size_t kShortestRun = 3;
  const auto bare = low.starts_with("0x") ? std::string_view{low}.substr(2) : std::string_view{low};
  if (bare.find_first_not_of("0.-_ ") == bare.npos) return true;
  const bool all_alike = bare.find_first_not_of(bare.front()) == bare.npos;
  if (all_alike && bare.size() >= kShortestRun) return true;
  // "0123456789", "123456789", "1234567890".
  constexpr std::string_view kCounting{"01234567890123456789"};
  constexpr std::size_t kShortestCount = 6;
  return bare.size() >= kShortestCount && kCounting.contains(bare);
}

std::string reported_serial(std::string_view text) {
  return is_no_serial(text) ? std::string{} : std::string{trimmed(text)};
}

}  // namespace cupel::inventory
