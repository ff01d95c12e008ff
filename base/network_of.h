#pragma once
// Whom an address belongs to, for budgets: one host has a whole /64 of IPv6, and takes an address
// of it for each connection. Source: RFC 4291, 2.5.1; RFC 8981.
#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <string>

namespace cupel {

/// An IPv4 address as it is, also where it is mapped into IPv6; of IPv6 the /64.
inline boost::asio::ip::address network_of(const boost::asio::ip::address& address) {
  if (!address.is_v6()) return address;
  const auto v6 = address.to_v6();
  if (v6.is_v4_mapped()) return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, v6);
  auto bytes = v6.to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), std::uint8_t{0});
  return boost::asio::ip::address_v6{bytes};
}

/// The same of a text; one that is no address stays as it is.
inline std::string network_of(const std::string& address) {
  boost::system::error_code none;
  const auto read = boost::asio::ip::make_address(address, none);
  return none ? address : network_of(read).to_string();
}

}  // namespace cupel
