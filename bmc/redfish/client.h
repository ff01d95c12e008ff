#pragma once
// One BMC's Redfish service as a client sees it: a session, GET, PATCH, POST. It knows nothing of
// machines: that is machine.h.
#include <functional>

#include "bmc/redfish/answer.h"
#include "bmc/redfish/fetch.h"
#include "bmc/redfish/transport.h"
#include "bmc/secret_source.h"

namespace cupel::bmc::redfish {

using bmc::SecretSource;

/// What to do at moments that the client alone knows of. Any of them may be empty.
struct ClientHooks {
  /// Before the first change in a session: whether this is who it should be.
  std::function<Task<Result<void>>(Deadline)> before_changes{};
  /// The service root was read, before any login.
  std::function<Result<void>(const json::value& root)> root_read{};
  /// Nobody answers at the address, or a stranger does: another address, where there is one.
  std::function<Task<Result<inventory::Endpoint>>(Error, Deadline)> lost{};
};

class Client final : public Fetch {
 public:
  Client(Transport& transport, Peer peer, std::string user, SecretSource password);
  ~Client() override;

  /// Once, before the first request.
  void at(ClientHooks moments) { moments_ = std::move(moments); }
  /// Its session is its own: for talking to somebody who may turn out to be a stranger.
  void stand_apart() { apart_ = true; }

  /// The document at `uri`. Logs in first, and once more where the session ended meanwhile. Asks
  /// again, a few times, where the BMC says when (Retry-After).
  /// Cancel-safe. Errors: as Transport::send and understood(); kInvalid for a URI off the BMC;
  /// kRefused at once, without any request, where these credentials were refused before.
  Task<Result<json::value>> get(std::string uri, Deadline deadline) override;

  /// The document, with its ETag.
  Task<Result<Answer>> get_tagged(std::string uri, Deadline deadline);

  /// The document, unless it still has this ETag: then the status is 304 and there is no body.
  Task<Result<Answer>> get_unless(std::string uri, std::string etag, Deadline deadline);

  /// What there is, whatever it is: a task's monitor may answer without a body, and lie elsewhere
  /// than under /redfish.
  Task<Result<Answer>> look(std::string uri, Deadline deadline);

  void follow(const Rules& rules) override { rules_ = &rules; }
  std::string system() const override { return peer_.system; }

  /// An action. Never sent twice, and without If-Match: there is nothing to match.
  Task<Result<Answer>> post(std::string uri, json::value body, Deadline deadline);

  /// A file, to any path of this BMC. Never sent twice, not even where the session ended meanwhile.
  /// A good answer that is no JSON is an answer without a body. Errors: as Transport::upload; each
  /// says whether the BMC may have taken the file.
  Task<Result<Answer>> upload(std::string uri, Upload file, Deadline deadline);

  using Sink = std::function<Result<void>(std::string_view piece)>;
  /// The bytes of a file at any path of this BMC, to `sink` as they come, over a connection of its
  /// own; returns how many. No redirect is followed. They are not scrubbed of secrets. Cancel-safe.
  /// Errors: as Transport::open_file and understood(); kMalformed where there are more than `most`
  /// or it broke off; what `sink` returns.
  Task<Result<std::uint64_t>> download(std::string uri, Sink sink, std::uint64_t most,
                                       Deadline deadline);

  /// Changes properties, naming the state that they had in `before` (of the same URI). Where the
  /// BMC refuses the ETag it reads again, up to three times while the tag changes, then tries the
  /// strong form, then "*", then none. Errors: kConflict where none of them is accepted.
  Task<Result<Answer>> patch(std::string uri, json::value body, Answer before, Deadline deadline);

  /// A stream of events, over a connection of its own. Errors: as Transport::open_stream.
  Task<Result<std::unique_ptr<Stream>>> open_stream(std::string uri, std::string last_event,
                                                    Deadline deadline);

  /// Lets go of the session, and ends it where no other client in this process has it, within
  /// kLogOutPatience of its own. Idempotent; works in a cancelled coroutine.
  Task<void> log_out();

  int requests() const { return requests_; }
  /// How often a session was gone before its time: the BMC restarted, or ended it.
  int lost_sessions() const { return lost_sessions_; }
  BmcLimits& bmc_limits() { return bmc_limits_; }
  const Peer& peer() const { return peer_; }

  static constexpr std::chrono::seconds kLogOutPatience{5};

 private:
  struct Question {
    Method method;
    std::string uri;
    std::string body{};
    std::string if_match{};
    std::string if_none_match{};
    bool anywhere = false;  // not only under /redfish
  };

  Task<Result<Answer>> ask(Question question, Deadline deadline);
  Task<Result<Answer>> ask_patiently(const Question& question, Deadline deadline);
  Task<Result<Answer>> ask_once(const Question& question, Deadline deadline);
  Task<Result<void>> ensure_known(const Question& question, Deadline deadline);
  Task<Result<void>> ensure_credentials(Deadline deadline);
  Task<Result<void>> open_session(std::string uri, std::string password, Deadline deadline);
  Task<Result<std::string>> sessions_uri(Deadline deadline);
  Task<void> reap(std::string old_session, Deadline deadline);
  Task<Result<Response>> send(Request request, Deadline deadline);
  Task<Result<Answer>> understand(std::string asked, const Response& response,
                                  bool conditional = false);
  bool may_try_basic(const Response& response, const std::string& password) const;
  Error login_failed(const Response& response, Error error, const std::string& password);
  Request with_credentials(Request request) const;
  void join(const std::string& digest);
  std::shared_ptr<Session> leave();
  std::string asked(Method method, std::string_view uri) const;

  Transport& transport_;
  Peer peer_;
  std::string user_;
  SecretSource password_;
  BmcLimits& bmc_limits_;  // lives as long as the transport
  Semaphore own_{1};       // to begin with
  ClientHooks moments_{};
  std::shared_ptr<Session> session_{};  // nothing before the first request and after the last
  std::string digest_{};                // of its credentials
  std::string ended_{};                 // URI of a session that the BMC does not know any more
  std::optional<std::string> sessions_{};
  RefusalRules refusals_{};
  bool names_sessions_ = true;  // the service root does
  bool apart_ = false;
  bool closes_ = false;  // this BMC breaks kept connections
  bool locks_ = false;   // it refuses logins while its firmware is written
  bool known_ = false;   // that it is who it should be
  bool followed_ = false;
  int requests_ = 0;
  int lost_sessions_ = 0;
  std::chrono::milliseconds waited_{0};  // for a BMC that put reads off
  const Rules* rules_ = nullptr;         // once known
};

}  // namespace cupel::bmc::redfish
