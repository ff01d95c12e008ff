#pragma once
// Where something of the site is reached, and what tells that it is really that.
#include <compare>
#include <cstdint>
#include <string>

namespace cupel::inventory {

/// Host name or IP address, and port.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

/// "127.0.0.1:443"; an IPv6 host in brackets (RFC 3986, 3.2.2).
std::string to_string(const Endpoint& endpoint);

/// How the other side proves who it is. There is no way to say "do not check".
struct Trust {
  enum class Kind { first_use, pinned, ca } kind = Kind::first_use;
  std::string
      what{};  // pinned: "SHA256:..." of the certificate or host key; ca: path of a PEM file
  friend bool operator==(const Trust&, const Trust&) = default;
};

}  // namespace cupel::inventory
