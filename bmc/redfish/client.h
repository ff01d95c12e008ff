#pragma once
// One BMC's Redfish service as a client sees it: a session, GET, PATCH, POST. It knows nothing of
// machines: that is machine.h.
#include <functional>

#include "bmc/redfish/answer.h"
#include "bmc/redfish/fetch.h"
#include "bmc/redfish/transport.h"

namespace cupel::bmc::redfish {

/// Where the password comes from, each time it is needed: it is not kept longer than that.
using SecretSource = std::function<Task<Result<std::string>>()>;

class Client final : public Fetch {
 public:
  Client(Transport& transport, Peer peer, std::string user, SecretSource password);

  /// The document at `uri`. Logs in first, and once more where the session ended meanwhile.
  /// Cancel-safe. Errors: as Transport::send and understood(); kInvalid for a URI off the BMC;
  /// kRefused at once, without any request, where these credentials were refused before.
  Task<Result<json::value>> get(std::string uri, Deadline deadline) override;

  /// The document, with its ETag.
  Task<Result<Answer>> get_tagged(std::string uri, Deadline deadline);

  /// The document, unless it still has this ETag: then the status is 304 and there is no body.
  Task<Result<Answer>> get_unless(std::string uri, std::string etag, Deadline deadline);

  void follow(const Rules& rules) override { rules_ = &rules; }

  /// An action. Never sent twice, and without If-Match: there is nothing to match.
  Task<Result<Answer>> post(std::string uri, json::value body, Deadline deadline);

  /// Changes properties, naming the state that they had in `before` (of the same URI). Where the
  /// BMC refuses the ETag it reads again and tries the strong form, then "*", then none.
  /// Errors: kConflict where none of them is accepted.
  Task<Result<void>> patch(std::string uri, json::value body, Answer before, Deadline deadline);

  /// Ends the session, if there is one, within kLogOutPatience of its own. Idempotent; works in a
  /// cancelled coroutine.
  Task<void> log_out();

  int requests() const { return requests_; }

  static constexpr std::chrono::seconds kLogOutPatience{5};

 private:
  struct Question {
    Method method;
    std::string uri;
    std::string body{};
    std::string if_match{};
    std::string if_none_match{};
  };

  Task<Result<Answer>> ask(Question question, Deadline deadline);
  Task<Result<Answer>> ask_once(const Question& question, Deadline deadline);
  Task<Result<void>> ensure_credentials(Deadline deadline);
  Task<Result<void>> log_in(Deadline deadline);
  Task<Result<void>> open_session(std::string uri, std::string password, Deadline deadline);
  Task<Result<std::string>> sessions_uri(Deadline deadline);
  Task<Result<Response>> send(Request request, Deadline deadline);
  std::string digest_of(std::string_view password) const;
  Error refused_before() const;
  std::string asked(Method method, std::string_view uri) const;

  Transport& transport_;
  Peer peer_;
  std::string user_;
  SecretSource password_;
  Courtesy& courtesy_;  // lives as long as the transport
  std::string token_{};
  std::string session_{};         // URI of our session, to be deleted
  std::optional<Basic> basic_{};  // where the BMC has no session left for us
  std::string digest_{};          // of the credentials in use
  bool proven_ = false;           // the credentials in use worked at least once
  std::optional<std::string> sessions_{};
  int requests_ = 0;
  const Rules* rules_ = nullptr;  // once known
};

}  // namespace cupel::bmc::redfish
