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
      courtesy_{transport.courtesy(peer_.endpoint)} {}

std::string Client::asked(Method method, std::string_view uri) const {
  return peer_.node + ": " + std::string{to_string(method)} + " " + printable(uri);
}

// Enough to know the same credentials again, and nothing to log in with.
std::string Client::digest_of(std::string_view password) const {
  return sha256_hex("cupel" + user_ + '\0' + std::string{password});
}

Error Client::refused_before() const {
  return Error{Code::kRefused, peer_.node + ": the BMC refused user " + printable(user_) +
                                   " with this password before; it is not asked again until they "
                                   "change, so that it does not lock the account"};
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
  const bool had_session = !token_.empty() && proven_;
  const std::string used = token_;
  auto answer = co_await ask_once(question, deadline);
  const bool expired = !answer && answer.assume_error().code == Code::kRefused &&
                       answer.assume_error().what.find("HTTP 401") != std::string::npos;
  if (!expired || !had_session) co_return answer;
  // The session ended meanwhile (idle, or the BMC restarted). Somebody else may have renewed it.
  if (token_ == used) token_.clear();
  co_return co_await ask_once(question, deadline);
}

Task<Result<Answer>> Client::ask_once(const Question& question, Deadline deadline) {
  CO_TRY(co_await ensure_credentials(deadline));
  const bool stopped = co_await cancelled();
  if (stopped) co_return Error{Code::kCancelled, peer_.node + ": stopped"};
  std::optional<Gate::Pass> alone;
  if (basic_ && !proven_) {
    CO_TRY(Gate::Pass pass, co_await courtesy_.login.enter(deadline));
    alone.emplace(std::move(pass));
    if (!basic_) co_return refused_before();
  }
  Request request{.method = question.method, .path = question.uri, .body = question.body};
  if (!question.if_match.empty()) request.headers.push_back("If-Match: " + question.if_match);
  const bool conditional = !question.if_none_match.empty();
  if (conditional) request.headers.push_back("If-None-Match: " + question.if_none_match);
  const bool slow = rules_ != nullptr && is_slow(*rules_, question.uri);
  if (!token_.empty()) {
    request.headers.push_back("X-Auth-Token: " + token_);
  } else {
    request.basic = basic_;
  }
  const bool by_basic = request.basic.has_value();
  CO_TRY(
      const Response response,
      co_await send(std::move(request), deadline.sooner(slow ? kSlowPatience : kRequestPatience)));
  auto answer = response.status == 304 && conditional
                    ? Result<Answer>{Answer{.status = 304, .body = nullptr}}
                    : understood(asked(question.method, question.uri), response);
  // The root answers everybody.
  if (response.status < 400 && normal(question.uri) != kRoot) proven_ = true;
  if (by_basic && response.status == 401 && !proven_) {
    courtesy_.refused_credentials = digest_;
    basic_.reset();
  }
  co_return answer;
}

Task<Result<Response>> Client::send(Request request, Deadline deadline) {
  ++requests_;
  co_return co_await transport_.send(peer_, std::move(request), deadline);
}

// One login at a time: whoever waited finds the session there, or the refusal.
Task<Result<void>> Client::ensure_credentials(Deadline deadline) {
  if (!token_.empty() || basic_) co_return ok();
  CO_TRY(const Gate::Pass pass, co_await courtesy_.login.enter(deadline));
  if (!token_.empty() || basic_) co_return ok();
  co_return co_await log_in(deadline);
}

Task<Result<void>> Client::log_in(Deadline deadline) {
  auto password = co_await password_();
  if (!password) co_return std::move(password).assume_error().within(peer_.node);
  digest_ = digest_of(password.assume_value());
  if (courtesy_.refused_credentials == digest_) co_return refused_before();
  proven_ = false;
  CO_TRY(std::string uri, co_await sessions_uri(deadline));
  // Another client of this BMC may have been refused while we read the root.
  if (courtesy_.refused_credentials == digest_) co_return refused_before();
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
  auto told = text_at(document, "Links/Sessions/@odata.id").value_or("");
  if (!is_on_the_bmc(told)) told = kDefaultSessions;
  sessions_ = told;
  co_return told;
}

Task<Result<void>> Client::open_session(std::string uri, std::string password, Deadline deadline) {
  const json::value body{{"UserName", user_}, {"Password", password}};
  Request request{
      .method = Method::post, .path = uri, .body = serialize(body), .grace = kLogOutPatience};
  CO_TRY(const Response response,
         co_await send(std::move(request), deadline.sooner(kRequestPatience)));
  const bool no_sessions_here = response.status == 404 || response.status == 405;
  if (no_sessions_here || says_sessions_exhausted(response)) {
    basic_ = Basic{user_, std::move(password)};
    co_return ok();
  }
  auto answer = understood(asked(Method::post, uri), response);
  if (!answer) {
    const int status = response.status;
    const bool refused = status == 400 || status == 401 || status == 403;
    if (refused) courtesy_.refused_credentials = digest_;
    if (refused && answer.assume_error().code != Code::kUnsupported)
      answer.assume_error().code = Code::kRefused;
    co_return std::move(answer).assume_error().within("log in as " + printable(user_));
  }
  Answer& session = answer.assume_value();
  if (session.token.empty())
    co_return Error{Code::kMalformed, asked(Method::post, uri) + ": a session without a token"};
  token_ = session.token;
  session_ = path_of(session.location);
  if (session_.empty()) session_ = text_at(session.body, "@odata.id").value_or("");
  proven_ = true;
  co_return ok();
}

Task<void> Client::log_out() {
  basic_.reset();
  if (token_.empty()) co_return;
  Request request{.method = Method::remove,
                  .path = std::exchange(session_, {}),
                  .headers = {"X-Auth-Token: " + std::exchange(token_, {})},
                  .grace = kLogOutPatience};
  if (!is_on_the_bmc(request.path)) co_return;
  const auto patience = Deadline::in(kLogOutPatience);
  // Whatever comes back: there is nothing more that could be done about it.
  (void)co_await send(std::move(request), patience);
}

}  // namespace cupel::bmc::redfish
