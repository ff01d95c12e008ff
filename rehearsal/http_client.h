#pragma once
// How what is virtual asks over HTTP or HTTPS: a BMC that fetches an image, a machine that boots
// over the network. Only this machine is asked, for a virtual rack asks nobody else for anything.
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/task.h"

namespace cupel::rehearsal {

struct LoopbackUri {
  bool tls = false;
  std::string host{};  // an address, 127.0.0.0/8
  std::uint16_t port = 0;
  std::string target{};  // path and query
};

/// Nothing where it is no http or https URI of a loopback address.
std::optional<LoopbackUri> loopback_uri(std::string_view uri);

struct HttpAsk {
  LoopbackUri uri{};
  std::string method = "GET";
  std::string body{};  // JSON
  std::string from{};  // the address that it comes from, 127.0.0.0/8; empty: the system's choice
  std::string agent = "virtual-bmc";
};

struct HttpReply {
  unsigned status = 0;
  std::string body{};
};

/// What `ask_http` reads goes there instead of into the reply, where the status is 200.
using HttpSink = std::function<void(std::string_view bytes)>;

/// Certificates are not looked at, as BMCs do unless asked. Errors: kUnreachable; kFailed (longer
/// than `limit`).
Task<Result<HttpReply>> ask_http(HttpAsk ask, std::size_t limit, HttpSink sink = {});

}  // namespace cupel::rehearsal
