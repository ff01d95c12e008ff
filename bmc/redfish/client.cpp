#include "bmc/redfish/client.h"

#include "base/text.h"
#include "bmc/redfish/document.h"
#include "bmc/redfish/refusals.h"
#include "bmc/redfish/uri.h"
#include "bmc/redfish/vendors.h"

namespace cupel::bmc::redfish {
namespace {

using namespace std::chrono_literals;
constexpr std::chrono::seconds kRequestPatience{60};
constexpr std::string_view kRoot = "/redfish/v1";

/// A BMC whose documents hold readings may have another tag by the time the PATCH comes.
constexpr int kMostFreshTags = 3;
/// A read that the BMC puts off is asked again so often, after pauses of at most kLongestPause
/// that take at most kLongestWaits together in one client: a verb has its own deadline.
constexpr int kMostRepeats = 6;
constexpr std::chrono::milliseconds kLongestPause{10'000}, kLongestWaits{120'000};

/// What to name in If-Match where the BMC refuses its own fresh tags, in the order in which BMCs
/// turned out to want it.
std::vector<std::string> tags_instead(const std::string& etag) {
  std::vector<std::string> tags;
  if (etag.starts_with("W/")) tags.push_back(etag.substr(2));
  if (!etag.empty()) tags.emplace_back("*");
  tags.emplace_back();
  return tags;
}

/// A log's entries may be many; nothing else is as long.
bool is_long(std::string_view uri) {
  return uri.find("/Entries") != uri.npos || uri.find("/LogServices/") != uri.npos;
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
      bmc_limits_{transport.bmc_limits(peer_.bmc())} {}

// Whoever comes next may have the session: nothing can be awaited here.
Client::~Client() { (void)leave(); }

std::string Client::asked(Method method, std::string_view uri) const {
  return peer_.node + ": " + std::string{to_string(method)} + " " + printable(uri);
}

void Client::join(const std::string& digest) {
  if (session_ && digest_ == digest) return;
  (void)leave();
  auto& session = apart_ ? session_ : transport_.sessions(peer_.bmc())[digest];
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

Task<Result<Answer>> Client::look(std::string uri, Deadline deadline) {
  Question question{.method = Method::get, .uri = std::move(uri)};
  question.anywhere = true;
  co_return co_await ask(std::move(question), deadline);
}

Task<Result<Answer>> Client::post(std::string uri, json::value body, Deadline deadline) {
  Question question{.method = Method::post, .uri = std::move(uri), .body = serialize(body)};
  co_return co_await ask(std::move(question), deadline);
}

Task<Result<Answer>> Client::patch(std::string uri, json::value body, Answer before,
                                   Deadline deadline) {
  Question question{.method = Method::patch, .uri = uri, .body = serialize(body)};
  question.if_match = before.etag.empty() ? "*" : before.etag;
  auto answer = co_await ask(question, deadline);
  // It may have changed since: it is read again for its tag, as long as that is a new one.
  std::string etag;
  for (int fresh = 0; fresh < kMostFreshTags && !answer && refuses_tag(answer.error()); ++fresh) {
    const auto now = co_await get_tagged(uri, deadline);
    etag = now ? now->etag : std::string{};
    const bool is_new = !etag.empty() && (fresh == 0 || etag != question.if_match);
    if (!is_new) break;
    question.if_match = etag;
    answer = co_await ask(question, deadline);
  }
  for (const auto& tag : tags_instead(etag)) {
    if (answer || !refuses_tag(answer.error())) break;
    question.if_match = tag;
    answer = co_await ask(question, deadline);
  }
  co_return answer;
}

Task<Result<Answer>> Client::ask(Question question, Deadline deadline) {
  const bool ours = question.anywhere ? is_path(question.uri) : is_on_the_bmc(question.uri);
  if (!ours)
    co_return Error{Code::kInvalid, peer_.node + ": not a URI of this BMC: " +
                                        printable(shortened(question.uri, 200))};
  const bool stopped = co_await cancelled();
  if (stopped) co_return Error{Code::kCancelled, peer_.node + ": stopped"};
  CO_TRY(co_await ensure_known(question, deadline));
  const bool had_session = session_ && !session_->token.empty() && session_->proven;
  const std::string used = session_ ? session_->token : std::string{};
  auto answer = co_await ask_patiently(question, deadline);
  // One that the BMC accepts, and lets do nothing but change its password, has not ended.
  const bool expired = !answer && is_http(answer.error(), 401) &&
                       answer.error().code == Code::kRefused &&
                       !says(answer.error(), "PasswordChangeRequired");
  if (!expired || !had_session) co_return answer;
  // The session ended meanwhile (idle, or the BMC restarted). Somebody else may have renewed it.
  ++lost_sessions_;
  if (session_ && session_->token == used) {
    session_->token.clear();
    ended_ = std::exchange(session_->uri, {});
  }
  co_return co_await ask_once(question, deadline);
}

/// A question that the BMC puts off (503 or 429 with Retry-After: RFC 9110, 10.2.3) is asked again.
/// What acts is not: the caller knows whether that is right. A BMC that refuses a second request
/// while it is at work with another gets one at a time from then on.
Task<Result<Answer>> Client::ask_patiently(const Question& question, Deadline deadline) {
  for (int repeats = 0;; ++repeats) {
    auto answer = co_await ask_once(question, deadline);
    if (answer || question.method != Method::get) co_return answer;
    // Not what a login was refused with: that is asked for as its vendor's rules say.
    const auto& error = answer.error();
    const bool is_its_own = error.what.starts_with(asked(question.method, question.uri));
    if (!is_its_own || !(is_http(error, 503) || is_http(error, 429))) co_return answer;
    const auto asked_for = error.retry_after;
    const auto pause = std::min<std::chrono::milliseconds>(asked_for, kLongestPause);
    const bool in_vain = asked_for.count() == 0 || repeats >= kMostRepeats ||
                         waited_ + pause > kLongestWaits || deadline.left() <= pause;
    if (in_vain) co_return answer;
    if (bmc_limits_.at_once.inside() > 0) bmc_limits_.at_once.narrow_to(1);
    ++bmc_limits_.seen.retries;
    waited_ += pause;
    CO_TRY(co_await pause_for(pause));
  }
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
  std::optional<Semaphore::Permit> alone;
  if (session->basic && !session->proven) {
    CO_TRY(Semaphore::Permit pass, co_await bmc_limits_.login.enter(deadline));
    alone.emplace(std::move(pass));
    // Whoever was first may have been refused.
    if (!session->basic)
      co_return Error{
          Code::kRefused,
          peer_.node + ": the BMC refused user " + printable(user_) +
              " with this password a moment ago; it is not sent again until they change"};
  }
  Request request{.method = question.method, .path = question.uri, .body = question.body};
  request.long_answer = is_long(question.uri);
  request.slow =
      question.method == Method::get && rules_ != nullptr && is_slow(*rules_, question.uri);
  if (!question.if_match.empty()) request.headers.push_back("If-Match: " + question.if_match);
  const bool conditional = !question.if_none_match.empty();
  if (conditional) request.headers.push_back("If-None-Match: " + question.if_none_match);
  request = with_credentials(std::move(request));
  const auto basic = request.basic;
  const auto patience = request.slow ? kSlowPatience : kRequestPatience;
  CO_TRY(const Response response, co_await send(std::move(request), deadline.sooner(patience)));
  const std::string what = asked(question.method, question.uri);
  auto answer = co_await understand(what, response, conditional);
  if (!answer && answer.error().code == Code::kMalformed) note_malformed(bmc_limits_.seen);
  const bool wants_change = !answer && says(answer.error(), "PasswordChangeRequired");
  if (basic && response.status == 401 && !session->proven && !wants_change) {
    session->basic.reset();
    co_return login_failed(response, std::move(answer).error(), basic->password);
  }
  // The root answers everybody.
  if (response.status < 400 && normal(question.uri) != kRoot) {
    if (basic && !session->proven) bmc_limits_.logins.accepted(user_);
    session->proven = true;
    if (!session->token.empty()) bmc_limits_.redfish_session = true;
  }
  if (answer || question.method == Method::get) co_return answer;
  co_return unanswered(std::move(answer).error());
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

// A large answer is read in pieces: it must not hold up who else is on this loop.
Task<Result<Answer>> Client::understand(std::string asked, const Response& response,
                                        bool conditional) {
  if (response.status == 304 && conditional) co_return Answer{.status = 304, .body = nullptr};
  auto document = co_await read_document(response.body, bmc_limits_.memory);
  co_return understood(asked, response, std::move(document));
}

// A GET that found nobody, or a stranger, is sent once more to where the BMC went, if it can be
// found. Nothing that changes anything is: it may have arrived.
Task<Result<Response>> Client::send(Request request, Deadline deadline) {
  ++requests_;
  const bool may_follow = request.method == Method::get && !followed_ && moments_.lost != nullptr;
  auto answer = co_await transport_.send(peer_, request, deadline);
  if (answer || !may_follow) co_return answer;
  const Code code = answer.error().code;
  if (code != Code::kUnreachable && code != Code::kUntrusted && code != Code::kTimeout)
    co_return answer;
  followed_ = true;
  auto elsewhere = co_await moments_.lost(answer.error(), deadline);
  if (!elsewhere) co_return std::move(elsewhere).error();
  peer_.endpoint = *std::move(elsewhere);
  ++requests_;
  co_return co_await transport_.send(peer_, std::move(request), deadline);
}

}  // namespace cupel::bmc::redfish
