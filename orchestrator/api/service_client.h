#pragma once
// A client of the API for commands of a terminal: one request at a time, each on a connection of
// its own. Over TLS to a service elsewhere, or over the Unix socket of one on this machine.
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace cupel::api {

struct ServerAddress {
  std::string socket{};  // path of a Unix socket; empty: TLS
  std::string host{};
  std::string port{};
  std::string token{};
  std::string ca{};  // PEM file; empty: the system's
};

/// Of "https://cupel.example:8443" or "unix:/run/cupel/cupel.sock", as `named` has it. Errors:
/// kInvalid.
Result<ServerAddress> server_address(const std::string& url, std::string_view named);

/// Of $CUPEL_SERVER ("https://cupel.example:8443", "unix:/run/cupel/cupel.sock"), $CUPEL_TOKEN and
/// $CUPEL_CA; nothing where the first is not set. Without a token that of the login there
/// (kept_login.h). Errors: kInvalid; those of token_of_login().
Result<std::optional<ServerAddress>> server_of_environment();

class ServiceClient {
 public:
  explicit ServiceClient(ServerAddress server) : server_{std::move(server)} {}

  /// Errors: what the service's problem says, by its status; kUnreachable; kUntrusted: its
  /// certificate; kTimeout; kMalformed.
  Result<json::value> get(const std::string& target) const;
  /// With a key of its own: it is done once, however often it is sent.
  Result<json::value> post(const std::string& target, const json::object& body) const;
  /// All items of a list, page by page. Errors: as get(); kMalformed: over `most` of them.
  Result<json::array> list(const std::string& target, std::size_t most) const;
  /// The text of a report. Errors: as get().
  Result<std::string> text(const std::string& target) const;

 private:
  Result<std::string> ask(const std::string& request) const;

  ServerAddress server_;
};

}  // namespace cupel::api
