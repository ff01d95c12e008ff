// The client's way in and out: one login at a time, sessions that are shared, and their end.
#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "bmc/advice.h"
#include "bmc/redfish/client.h"
#include "bmc/redfish/uri.h"
#include "bmc/redfish/vendors.h"

namespace cupel::bmc::redfish {
namespace {

using namespace std::chrono_literals;
constexpr std::chrono::seconds kLoginPatience{60};
constexpr std::string_view kRoot = "/redfish/v1";
constexpr std::string_view kDefaultSessions = "/redfish/v1/SessionService/Sessions";

/// A BMC without a session left is given the time that it asks for, within reason, and always so
/// that there is some left for the verb.
std::chrono::milliseconds pause_before_basic(const Response& response, Deadline deadline) {
  constexpr std::chrono::milliseconds kPause{1s}, kLongest{10s};
  const auto pause = response.retry_after > 0ms ? response.retry_after : kPause;
  return std::min({pause, kLongest, deadline.left() / 4});
}

}  // namespace

// One login at a time: whoever waited finds the session there, or the refusal. The root is read
// before that gate: where nobody answers there, another client looks for the BMC, and logs in.
Task<Result<void>> Client::ensure_credentials(Deadline deadline) {
  if (session_ && session_->usable()) co_return ok();
  CO_TRY(const Semaphore::Permit one_of_us, co_await own_.enter(deadline));
  if (session_ && session_->usable()) co_return ok();
  auto password = co_await password_();
  if (!password) co_return std::move(password).error().within(peer_.node);
  join(sha256_hex(user_ + '\0' + *password));
  if (session_->usable()) co_return ok();
  bmc_limits_.secrets.add_login(user_, *password);
  CO_TRY(bmc_limits_.logins.may_try(user_, *password));
  CO_TRY(std::string uri, co_await sessions_uri(deadline));
  CO_TRY(const Semaphore::Permit one_of_all, co_await bmc_limits_.login.enter(deadline));
  if (session_->usable()) co_return ok();
  CO_TRY(bmc_limits_.logins.may_try(user_, *password));
  session_->proven = false;
  co_return co_await open_session(std::move(uri), *std::move(password), deadline);
}

// The root is open to everybody (DSP0266, 13.3.1). Where it is not, or says nothing, the default.
Task<Result<std::string>> Client::sessions_uri(Deadline deadline) {
  if (sessions_) co_return *sessions_;
  Request request{.path = std::string{kRoot}};
  CO_TRY(const Response response,
         co_await send(std::move(request), deadline.sooner(kLoginPatience)));
  auto root = co_await understand(asked(Method::get, kRoot), response);
  if (!root && root.error().code == Code::kBusy) co_return std::move(root).error();
  const json::value document = root ? root->body : json::value{};
  if (moments_.root_read) {
    CO_TRY(moments_.root_read(document));
  }
  const Rules& rules = rules_for({.root = &document});
  refusals_ = {.wrong_after = rules.wrong_after_refusals, .pause_after = rules.pause_after_refusal};
  closes_ = breaks_kept_connections(rules, document);
  locks_ = std::ranges::any_of(rules.updates, &UpdateRules::locks_while_writing);
  auto reported = text_at(document, "Links/Sessions/@odata.id").value_or("");
  names_sessions_ = is_on_the_bmc(reported) || find(document, "SessionService") != nullptr || !root;
  if (!is_on_the_bmc(reported)) reported = kDefaultSessions;
  sessions_ = reported;
  co_return reported;
}

/// Counts a refusal, once; the rules say whether it means wrong credentials.
Error Client::login_failed(const Response& response, Error error, const std::string& password) {
  const int status = response.status;
  if (status == 401 && locks_ && !bmc_limits_.firmware_until.passed())
    return Error{
        Code::kBusy,
        error.what + "; its firmware is being written, and it refuses every login meanwhile", 15s};
  const bool refused = status == 400 || status == 401 || status == 403;
  if (refused) {
    // Right credentials are refused with 401 only.
    const auto rules = status == 401 ? refusals_ : RefusalRules{};
    const bool wrong = bmc_limits_.logins.refused(user_, password, rules, error.what);
    if (status == 401 && wrong && !response.asks_for_basic)
      error.what +=
          ", or the BMC itself: some answer so to a right password while their session table is "
          "full or their service starts. If the password is right, " +
          advice_to_retry(is_of_rack(peer_.node) ? peer_.bmc() : peer_.node);
    if (error.code != Code::kUnsupported) error.code = wrong ? Code::kRefused : Code::kBusy;
    if (!wrong) error.retry_after = rules.pause_after;
  }
  return std::move(error).within("log in as " + printable(user_));
}

/// Whether a 401 to a login is about the way and not about the password: it asks for Basic, the
/// root names no sessions, or the BMC says that the account may not have one. Once for each
/// password, in all processes to come: a second try is one nearer to a locked account.
bool Client::may_try_basic(const Response& response, const std::string& password) const {
  const bool another_way =
      response.asks_for_basic || !names_sessions_ || says_no_right_to_sessions(response);
  return another_way && !bmc_limits_.logins.was_refused(user_, password);
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
  CO_TRY(Response response, co_await send(request, deadline.sooner(kLoginPatience)));
  if (says_sessions_exhausted(response)) {
    // Somebody's session may end meanwhile; asked once more, and then done without one.
    CO_TRY(co_await pause_for(pause_before_basic(response, deadline)));
    CO_TRY(Response again, co_await send(std::move(request), deadline.sooner(kLoginPatience)));
    response = std::move(again);
  }
  const bool no_sessions_here = response.status == 404 || response.status == 405 ||
                                (response.status == 401 && may_try_basic(response, password));
  // It takes the password by Basic, for its change alone.
  const bool wants_change = says_password_must_change(response);
  if (no_sessions_here || says_sessions_exhausted(response) || wants_change) {
    session->basic = Basic{user_, std::move(password)};
    co_return ok();
  }
  auto answer = co_await understand(asked(Method::post, uri), response);
  if (!answer) co_return login_failed(response, std::move(answer).error(), password);
  Answer& reported = *answer;
  if (reported.token.empty())
    co_return Error{Code::kMalformed, asked(Method::post, uri) + ": a session without a token"};
  if (reported.token.size() > Response::kLongestToken)
    co_return Error{
        Code::kMalformed,
        fmt::format("{}: a session token of {} characters; at most {} are taken",
                    asked(Method::post, uri), reported.token.size(), Response::kLongestToken)};
  session->token = reported.token;
  session->uri = path_of(reported.location);
  if (session->uri.empty()) session->uri = text_at(reported.body, "@odata.id").value_or("");
  session->proven = true;
  bmc_limits_.redfish_session = true;
  bmc_limits_.logins.accepted(user_);
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
  const auto answer = co_await understand({}, *found);
  if (!answer || text_at(answer->body, "UserName") != user_) co_return;
  Request remove{.method = Method::remove, .path = old_session, .headers = {token}};
  (void)co_await send(std::move(remove), deadline.sooner(kLogOutPatience));
}

Task<void> Client::log_out() {
  const auto session = leave();
  known_ = false;
  if (!session) co_return;
  auto& all = transport_.sessions(peer_.bmc());
  const auto kept = all.find(digest_);  // not that of one that stood apart
  if (kept != all.end() && kept->second == session) all.erase(kept);
  session->basic.reset();
  bmc_limits_.redfish_session = false;
  transport_.all_bmc_limits().keep_now_and_then();
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
