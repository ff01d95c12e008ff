#pragma once
// Which MAC address an IPv4 address of our own network has, as the kernel knows it of its
// neighbours. Source: proc(5), /proc/net/arp; Linux, include/uapi/linux/if_arp.h (ATF_COM).
#include <boost/asio/ip/address.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace cupel::netboot {

/// From the table's text; nothing where the address is not in it, or not resolved. Pure.
std::optional<std::string> mac_in_table(std::string_view table, const std::string& address);

/// Nothing for one that is not on a network of ours: it came through a router, or is our own.
std::optional<std::string> mac_of_neighbour(const boost::asio::ip::address& peer);

}  // namespace cupel::netboot
