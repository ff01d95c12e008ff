#pragma once
// JSON over HTTP with a token, as slurmrestd and Kubernetes take it: one request, one bounded
// answer, by the curl of the BMC client. TLS is always verified. The token goes into a header
// alone: never into a command line, a log or an error.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/task.h"
#include "inventory/slurm_site.h"

namespace cupel::handoff {

struct ApiServer {
  std::string name{};     // "slurmrestd"
  std::string section{};  // of the inventory that describes it: "slurm: rest"
  std::string url{};      // as inventory::SlurmRest has it
  std::string ca{};       // PEM file; empty: the system's authorities
  std::optional<inventory::SecretRef> token{};
  /// The lines of the head that present the token; it is empty where there is none.
  std::function<std::vector<std::string>(const std::string& token)> present{};

  /// "slurmrestd at https://10.0.0.1:6820"
  std::string who() const { return name + " at " + url; }
};

struct ApiRequest {
  std::string method = "GET";
  std::string path{};  // behind that of the url
  std::string body{};
  std::string content_type = "application/json";  // of the body
  std::string accept = "application/json";
  std::size_t most = 4u << 20;  // bytes of the answer
  /// 401, 403, 429 and 503 are answers, too: of a server whose body says more than its status.
  bool any_status = false;
};

struct ApiAnswer {
  int status = 0;
  json::value body{};                        // null where it is no JSON
  std::string text{};                        // its beginning, for people, without the token
  std::string bytes{};                       // as it came, without the token, where it is no JSON
  std::chrono::milliseconds retry_after{0};  // an hour at most; 0: not given
};

class ApiClient {
 public:
  explicit ApiClient(ApiServer server) : server_{std::move(server)} {}

  /// 20 s at most; redirects are not followed. The token is fetched again after half a minute, and
  /// when it was refused. Cancel-safe: a change that was under way may have been made.
  /// Errors: kUnreachable, kTimeout, kUntrusted (its certificate), kMalformed (a longer answer);
  /// kInvalid: the token cannot be had; kRefused: HTTP 401 and 403, naming a token that has
  /// expired; kBusy: 429 and 503.
  Task<Result<ApiAnswer>> ask(ApiRequest request, Deadline deadline);

  /// That the token which was used last has expired, by this machine's clock.
  std::optional<Error> expired() const;
  /// Whom the token which was used last names, as Slurm's do; empty: none.
  std::string token_user() const;
  const ApiServer& server() const { return server_; }

 private:
  Task<Result<void>> fetch_token(Deadline deadline);
  Error refused(const ApiAnswer& answer);

  ApiServer server_;
  std::string token_{};
  Deadline::Clock::time_point fetched_{};
};

}  // namespace cupel::handoff
