#include "bmc/redfish/client.h"

#include "base/digest.h"
#include "base/text.h"
#include "bmc/redfish/uri.h"
#include "bmc/redfish/vendors.h"

namespace cupel::bmc::redfish {
namespace {

using namespace std::chrono_literals;
constexpr std::chrono::seconds kRequestPatience{60};
constexpr std::string_view kRoot = "/redfish/v1";
constexpr std::string_view kDefaultSessions = "/redfish/v1/SessionService/Sessions";

/// What to name in If-Match, in the order in which BMCs turned out to want it.
std::vector<std::string> tags_to_try(const std::string& etag) {
  std::vector<std::string> tags{etag.empty() ? "*" : etag};
  if (etag.starts_with("W/")) tags.push_back(etag.substr(2));
  if (!etag.empty()) tags.emplace_back("*");
  tags.emplace_back();
  return tags;
}

/// A BMC without a session left is given the time that it asks for, within reason, and always so
/// that there is some left for the verb.
std::chrono::milliseconds pause_before_basic(const Response& response, Deadline deadline) {
  constexpr std::chrono::milliseconds kPause{1s}, kLongest{10s};
  const auto wanted = response.retry_after > 0ms ? response.retry_after : kPause;
  return std::min({wanted, kLongest, deadline.left() / 4});
}

bool refuses_tag(const Error& error) {
  return error.code == Code::kConflict && (error.what.find("HTTP 412") != std::string::npos ||
                                           error.what.find("HTTP 428") != std::string::npos);
}

}  // namespace

Client::Client(Transport& transport, Peer peer, std::string user, SecretSource password)
    : transport_{transport},
      peer_{std::move(peer)},
      user_{std::move(user)},
      password_{std::move(password)},
      courtesy_{transport.courtesy(peer_.node)} {}

// Whoever comes next may have the session: nothing can be awaited here.
Client::~Client() { (void)leave(); }

std::string Client::asked(Method method, std::string_view uri) const {
  return peer_.node + ": " + std::string{to_string(method)} + " " + printable(uri);
}

void Client::join(const std::string& digest) {
  if (session_ && digest_ == digest) return;
  (void)leave();
  auto& session = apart_ ? session_ : transport_.sessions(peer_.node)[digest];
  if (!session) session = std::make_shared<Session>();
  ++session->holders;
  if (!apart_) session_ = session;
  digest_ = digest;
}

/// The session, for its last holder to end; nothing where there are others.
std::shared_ptr<Session> Client::leave() {
  const auto session = std::exchange(session_, nullptr);
  if (!session || --session->holders > 0) return nullptr;
  return session;
}

Task<Result<json::value>> Client::get(std::string uri, Deadline deadline) {
  CO_TRY(Answer answer, co_await get_tagged(std::move(uri), deadline));
  co_return std::move(answer.body);
}

Task<Result<Answer>> Client::get_tagged(std::string uri, Deadline deadline) {
  Question question{.method = Method::get, .uri = std::move(uri)};
  CO_TRY(Answer answer, co_await ask(question, deadline));
  if (!answer.body.is_object())
    co_return Error{Code::kMalformed, asked(Method::get, question.uri) + ": no JSON object"};
  co_return answer;
}

Task<Result<Answer>> Client::get_unless(std::string uri, std::string etag, Deadline deadline) {
  Question question{.method = Method::get, .uri = std::move(uri)};
  question.if_none_match = std::move(etag);
  CO_TRY(Answer answer, co_await ask(question, deadline));
  if (answer.status != 304 && !answer.body.is_object())
    co_return Error{Code::kMalformed, asked(Method::get, question.uri) + ": no JSON object"};
  co_return answer;
}

Task<Result<Answer>> Client::post(std::string uri, json::value body, Deadline deadline) {
  Question question{.method = Method::post, .uri = std::move(uri), .body = serialize(body)};
  co_return co_await ask(std::move(question), deadline);
}

Task<Result<void>> Client::patch(std::string uri, json::value body, Answer before,
                                 Deadline deadline) {
  Question question{.method = Method::patch, .uri = uri, .body = serialize(body)};
  question.if_match = tags_to_try(before.etag).front();
  auto answer = co_await ask(question, deadline);
  if (answer) co_return ok();
  if (!refuses_tag(answer.assume_error())) co_return std::move(answer).assume_error();
  // It may have changed since: read it again, and name it in every way that BMCs want.
  CO_TRY(const Answer now, co_await get_tagged(uri, deadline));
  for (const auto& tag : tags_to_try(now.etag)) {
    question.if_match = tag;
    answer = co_await ask(question, deadline);
    if (answer) co_return ok();
    if (!refuses_tag(answer.assume_error())) break;
  }
  co_return std::move(answer).assume_error();
}

Task<Result<Answer>> Client::ask(Question question, Deadline deadline) {
  if (!is_on_the_bmc(question.uri))
    co_return Error{Code::kInvalid, peer_.node + ": not a URI of this BMC: " +
                                        printable(shortened(question.uri, 200))};
  const bool stopped = co_await cancelled();
  if (stopped) co_return Error{Code::kCancelled, peer_.node + ": stopped"};
  CO_TRY(co_await ensure_known(question, deadline));
  const bool had_session = session_ && !session_->token.empty() && session_->proven;
  const std::string used = session_ ? session_->token : std::string{};
  auto answer = co_await ask_once(question, deadline);
  const bool expired = !answer && answer.assume_error().code == Code::kRefused &&
                       answer.assume_error().what.find("HTTP 401") != std::string::npos;
  if (!expired || !had_session) co_return answer;
  // The session ended meanwhile (idle, or the BMC restarted). Somebody else may have renewed it.
  if (session_ && session_->token == used) {
    session_->token.clear();
    ended_ = std::exchange(session_->uri, {});
  }
  co_return co_await ask_once(question, deadline);
}

/// Nothing is changed on a stranger.
Task<Result<void>> Client::ensure_known(const Question& question, Deadline deadline) {
  if (question.method == Method::get || known_ || !moments_.before_changes) co_return ok();
  known_ = true;  // what follows only reads
  auto known = co_await moments_.before_changes(deadline);
  if (!known) known_ = false;
  co_return known;
}

Request Client::with_credentials(Request request) const {
  request.close_after = closes_;
  if (!session_->token.empty()) {
    request.headers.push_back("X-Auth-Token: " + session_->token);
  } else {
    request.basic = session_->basic;
  }
  return request;
}

Task<Result<Answer>> Client::ask_once(const Question& question, Deadline deadline) {
  CO_TRY(co_await ensure_credentials(deadline));
  const bool stopped = co_await cancelled();
  if (stopped) co_return Error{Code::kCancelled, peer_.node + ": stopped"};
  const auto session = session_;  // our caller may log out meanwhile
  std::optional<Gate::Pass> alone;
  if (session->basic && !session->proven) {
    CO_TRY(Gate::Pass pass, co_await courtesy_.login.enter(deadline));
    alone.emplace(std::move(pass));
    // Whoever was first may have been refused.
    if (!session->basic)
      co_return Error{
          Code::kRefused,
          peer_.node + ": the BMC refused user " + printable(user_) +
              " with this password a moment ago; it is not asked again until they change"};
  }
  Request request{.method = question.method, .path = question.uri, .body = question.body};
  request.slow =
      question.method == Method::get && rules_ != nullptr && is_slow(*rules_, question.uri);
  if (!question.if_match.empty()) request.headers.push_back("If-Match: " + question.if_match);
  const bool conditional = !question.if_none_match.empty();
  if (conditional) request.headers.push_back("If-None-Match: " + question.if_none_match);
  request = with_credentials(std::move(request));
  const auto basic = request.basic;
  const auto patience = request.slow ? kSlowPatience : kRequestPatience;
  CO_TRY(const Response response, co_await send(std::move(request), deadline.sooner(patience)));
  auto answer = response.status == 304 && conditional
                    ? Result<Answer>{Answer{.status = 304, .body = nullptr}}
                    : understood(asked(question.method, question.uri), response);
  if (!answer && answer.assume_error().code == Code::kMalformed) note_malformed(courtesy_.seen);
  if (basic && response.status == 401 && !session->proven) {
    (void)courtesy_.logins.refused(user_, basic->password, refusals_);
    session->basic.reset();
  }
  // The root answers everybody.
  if (response.status < 400 && normal(question.uri) != kRoot) {
    if (basic && !session->proven) courtesy_.logins.accepted(user_);
    session->proven = true;
    if (!session->token.empty()) courtesy_.session = true;
  }
  co_return answer;
}

Task<Result<std::unique_ptr<Stream>>> Client::open_stream(std::string uri, std::string last_event,
                                                          Deadline deadline) {
  if (!is_on_the_bmc(uri))
    co_return Error{Code::kInvalid, peer_.node + ": not a URI of this BMC: " + printable(uri)};
  CO_TRY(co_await ensure_credentials(deadline));
  Request request = with_credentials({.path = std::move(uri)});
  if (!last_event.empty()) request.headers.push_back("Last-Event-ID: " + last_event);
  co_return co_await transport_.open_stream(peer_, std::move(request), "text/event-stream",
                                            deadline.sooner(kRequestPatience));
}

// A GET that found nobody, or a stranger, is sent once more to where the BMC went, if it can be
// found. Nothing that changes anything is: it may have arrived.
Task<Result<Response>> Client::send(Request request, Deadline deadline) {
  ++requests_;
  const bool may_follow = request.method == Method::get && !followed_ && moments_.lost != nullptr;
  auto answer = co_await transport_.send(peer_, request, deadline);
  if (answer || !may_follow) co_return answer;
  const Code code = answer.assume_error().code;
  if (code != Code::kUnreachable && code != Code::kUntrusted && code != Code::kTimeout)
    co_return answer;
  followed_ = true;
  auto elsewhere = co_await moments_.lost(answer.assume_error(), deadline);
  if (!elsewhere) co_return std::move(elsewhere).assume_error();
  peer_.endpoint = std::move(elsewhere).assume_value();
  ++requests_;
  co_return co_await transport_.send(peer_, std::move(request), deadline);
}

// One login at a time: whoever waited finds the session there, or the refusal. The root is read
// before that gate: where nobody answers there, another client looks for the BMC, and logs in.
Task<Result<void>> Client::ensure_credentials(Deadline deadline) {
  if (session_ && session_->usable()) co_return ok();
  CO_TRY(const Gate::Pass one_of_us, co_await own_.enter(deadline));
  if (session_ && session_->usable()) co_return ok();
  auto password = co_await password_();
  if (!password) co_return std::move(password).assume_error().within(peer_.node);
  join(sha256_hex(user_ + '\0' + password.assume_value()));
  if (session_->usable()) co_return ok();
  CO_TRY(courtesy_.logins.may_try(user_, password.assume_value()));
  CO_TRY(std::string uri, co_await sessions_uri(deadline));
  CO_TRY(const Gate::Pass one_of_all, co_await courtesy_.login.enter(deadline));
  if (session_->usable()) co_return ok();
  CO_TRY(courtesy_.logins.may_try(user_, password.assume_value()));
  session_->proven = false;
  co_return co_await open_session(std::move(uri), std::move(password).assume_value(), deadline);
}

// The root is open to everybody (DSP0266, 13.3.1). Where it is not, or says nothing, the default.
Task<Result<std::string>> Client::sessions_uri(Deadline deadline) {
  if (sessions_) co_return *sessions_;
  Request request{.path = std::string{kRoot}};
  CO_TRY(const Response response,
         co_await send(std::move(request), deadline.sooner(kRequestPatience)));
  auto root = understood(asked(Method::get, kRoot), response);
  if (!root && root.assume_error().code == Code::kBusy) co_return std::move(root).assume_error();
  const json::value document = root ? root.assume_value().body : json::value{};
  if (moments_.root_read) {
    CO_TRY(moments_.root_read(document));
  }
  const Rules& rules = rules_for({.root = &document});
  refusals_ = {.believed_at = rules.refusals_believed_at, .pause_after = rules.pause_after_refusal};
  closes_ = breaks_kept_connections(rules, document);
  auto told = text_at(document, "Links/Sessions/@odata.id").value_or("");
  if (!is_on_the_bmc(told)) told = kDefaultSessions;
  sessions_ = told;
  co_return told;
}

/// Counts a refusal, once; whether it is the credentials or a mood of the BMC is for the rules.
Error Client::login_failed(const Response& response, Error error, const std::string& password) {
  const int status = response.status;
  const bool refused = status == 400 || status == 401 || status == 403;
  if (refused) {
    // A mood shows as 401 only.
    const auto rules = status == 401 ? refusals_ : RefusalRules{};
    const bool believed = courtesy_.logins.refused(user_, password, rules);
    if (error.code != Code::kUnsupported) error.code = believed ? Code::kRefused : Code::kBusy;
    if (!believed) error.retry_after = rules.pause_after;
  }
  return std::move(error).within("log in as " + printable(user_));
}

Task<Result<void>> Client::open_session(std::string uri, std::string password, Deadline deadline) {
  const auto session = session_;
  const json::value body{{"UserName", user_}, {"Password", password}};
  Request request{.method = Method::post,
                  .path = uri,
                  .body = serialize(body),
                  .grace = kLogOutPatience,
                  .secret = true,
                  .close_after = closes_};
  CO_TRY(Response response, co_await send(request, deadline.sooner(kRequestPatience)));
  if (says_sessions_exhausted(response)) {
    // Somebody's session may end meanwhile; asked once more, and then done without one.
    CO_TRY(co_await pause_for(pause_before_basic(response, deadline)));
    CO_TRY(Response again, co_await send(std::move(request), deadline.sooner(kRequestPatience)));
    response = std::move(again);
  }
  const bool no_sessions_here = response.status == 404 || response.status == 405;
  if (no_sessions_here || says_sessions_exhausted(response)) {
    session->basic = Basic{user_, std::move(password)};
    co_return ok();
  }
  auto answer = understood(asked(Method::post, uri), response);
  if (!answer) co_return login_failed(response, std::move(answer).assume_error(), password);
  Answer& told = answer.assume_value();
  if (told.token.empty())
    co_return Error{Code::kMalformed, asked(Method::post, uri) + ": a session without a token"};
  session->token = told.token;
  session->uri = path_of(told.location);
  if (session->uri.empty()) session->uri = text_at(told.body, "@odata.id").value_or("");
  session->proven = true;
  courtesy_.session = true;
  courtesy_.logins.accepted(user_);
  if (!ended_.empty()) co_await reap(std::exchange(ended_, {}), deadline);
  co_return ok();
}

// Some BMCs keep sessions over a restart and still refuse their tokens: those fill up. Only names
// that cannot be somebody else's by now: random ones, not small numbers that are used again.
Task<void> Client::reap(std::string old_session, Deadline deadline) {
  constexpr std::size_t kRandom = 8;
  if (last_name(old_session).size() < kRandom || old_session == session_->uri) co_return;
  const auto token = "X-Auth-Token: " + session_->token;
  Request look{.path = old_session, .headers = {token}, .close_after = closes_};
  const auto found = co_await send(std::move(look), deadline.sooner(kLogOutPatience));
  if (!found) co_return;
  const auto answer = understood({}, found.assume_value());
  if (!answer || text_at(answer.assume_value().body, "UserName") != user_) co_return;
  Request remove{.method = Method::remove, .path = old_session, .headers = {token}};
  (void)co_await send(std::move(remove), deadline.sooner(kLogOutPatience));
}

Task<void> Client::log_out() {
  const auto session = leave();
  known_ = false;
  if (!session) co_return;
  auto& all = transport_.sessions(peer_.node);
  const auto kept = all.find(digest_);  // not that of one that stood apart
  if (kept != all.end() && kept->second == session) all.erase(kept);
  session->basic.reset();
  courtesy_.session = false;
  transport_.courtesies().keep_now_and_then();
  if (session->token.empty()) co_return;
  Request request{.method = Method::remove,
                  .path = std::exchange(session->uri, {}),
                  .headers = {"X-Auth-Token: " + std::exchange(session->token, {})},
                  .grace = kLogOutPatience,
                  .close_after = true};  // it needs us no more
  if (!is_on_the_bmc(request.path)) co_return;
  const auto patience = Deadline::in(kLogOutPatience);
  // Whatever comes back: there is nothing more that could be done about it.
  (void)co_await send(std::move(request), patience);
}

}  // namespace cupel::bmc::redfish
