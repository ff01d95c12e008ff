#pragma once
// A request as it came in and the answer to it: plain data between the HTTP listener and whoever
// answers. Not about who asks (identity.h) nor what for (operation.h).
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/task.h"

namespace cupel::api {

/// The other end of a connection, as the kernel and TLS report it.
struct Peer {
  bool local = false;         // over the Unix socket
  std::uint32_t user = 0;     // its numeric user id, where it is local
  std::string address{};      // "10.0.0.5"; "unix" where it is local
  std::string certificate{};  // common name of a client certificate that was verified; else empty
};

struct Request {
  std::string method{};
  std::string path{};                                        // decoded; begins with '/'
  std::vector<std::pair<std::string, std::string>> query{};  // decoded
  std::map<std::string, std::string, std::less<>> fields{};  // by lower-case name
  std::string body{};
  Peer peer{};

  /// Empty where it is absent.
  std::string_view field(std::string_view name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string_view{} : std::string_view{found->second};
  }
};

/// A body that goes on for as long as its reader stays.
class Feed {
 public:
  virtual ~Feed() = default;
  /// The next piece; nothing: it is over. Cancel-safe.
  virtual Task<std::optional<std::string>> next() = 0;
};

struct Answer {
  unsigned status = 200;
  std::string type = "application/json";
  std::shared_ptr<const std::string> body{};
  std::vector<std::pair<std::string, std::string>> fields{};
  std::shared_ptr<Feed> feed{};  // instead of a body
  bool close = false;            // the connection ends with it
  bool to_known = false;         // whoever asked has shown who they are
};

inline std::shared_ptr<const std::string> shared_text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

/// "/a%20b?c=d": path and query; of "https://host/a" the host, too. Errors: kInvalid: no absolute
/// path, a broken escape, a control character, no UTF-8, a "." or ".." segment. Source: RFC 3986,
/// RFC 9112 3.2.
Result<void> read_target(std::string_view target, Request& request);

/// The head of the answer as HTTP/1.1 has it, with its date and the fields that protect a browser.
std::string head_of(const Answer& answer, bool keep_alive);

}  // namespace cupel::api
