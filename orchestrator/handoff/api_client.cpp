#include "orchestrator/handoff/api_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/left_out.h"
#include "base/text.h"
#include "bmc/redfish/curl_loop.h"
#include "inventory/secret.h"
#include "orchestrator/handoff/token_claims.h"

namespace cupel::handoff {
namespace {

using bmc::redfish::CurlLoop;
using bmc::redfish::OnTheWay;
using bmc::redfish::Transfer;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kPatience{20}, kConnectPatience{10}, kTokenAge{30};
constexpr std::size_t kLongestToken = 16u << 10, kMostShown = 300;
constexpr std::string_view kUnix = "unix:";

/// Whether it may stand in the head of a request: RFC 9110, 5.5.
bool fits_into_a_head(std::string_view token) {
  return token.size() <= kLongestToken &&
         std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; });
}

void set_server(Transfer& transfer, const ApiServer& server) {
  CURL* easy = transfer.easy;
  constexpr auto kConnect = static_cast<long>(milliseconds{kConnectPatience}.count());
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnect);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  // The inventory's reader lets http:// go to loopback addresses alone.
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  if (!server.ca.empty()) curl_easy_setopt(easy, CURLOPT_CAINFO, server.ca.c_str());
  if (!server.url.starts_with(kUnix)) return;
  const std::string path{std::string_view{server.url}.substr(kUnix.size())};
  curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, path.c_str());
}

void set_request(Transfer& transfer, const ApiRequest& request, std::vector<std::string> lines) {
  CURL* easy = transfer.easy;
  lines.insert(lines.end(), {"Accept: " + request.accept, "Expect:", "User-Agent: cupel"});
  if (!request.body.empty()) {
    lines.push_back("Content-Type: " + request.content_type);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body.size()));
    curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, request.body.c_str());
  }
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  for (const auto& line : lines)
    transfer.headers = curl_slist_append(transfer.headers, line.c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer.headers);
}

Error failure_of(const Transfer& transfer, const ApiServer& server) {
  if (transfer.too_large)
    return {Code::kMalformed,
            fmt::format("{} answers with more than {} bytes", server.who(), transfer.limit)};
  const auto code = bmc::redfish::code_of(transfer.outcome);
  auto why = transfer.reason.substr(0, transfer.reason.find('\0'));
  if (why.empty()) why = curl_easy_strerror(transfer.outcome);
  const auto* next = code == Code::kUntrusted
                         ? "name the authority that signed its certificate by ca in "
                         : "see whether it runs there, and the url in ";
  return {code, fmt::format("{}: {}: {}{}", server.who(), shortened(printable(why), kMostShown),
                            next, server.section)};
}

/// The token is left out where the server sends it back, as it is and as its head had it.
ApiAnswer answer_of(Transfer& transfer, const std::string& token,
                    const std::vector<std::string>& presented) {
  ApiAnswer answer{.status = transfer.response.status};
  curl_off_t wait = 0;
  curl_easy_getinfo(transfer.easy, CURLINFO_RETRY_AFTER, &wait);
  answer.retry_after = std::chrono::seconds{std::clamp<curl_off_t>(wait, 0, 3600)};
  auto body = left_out(std::move(transfer.response.body), token);
  for (const auto& line : presented)
    if (line.starts_with("Authorization: "))
      body = left_out(std::move(body), line.substr(line.rfind(' ') + 1));
  answer.text = shortened(printable(body.substr(0, 4 * kMostShown)), kMostShown);
  auto parsed = parse_json(body);
  if (parsed)
    answer.body = *std::move(parsed);
  else
    answer.bytes = std::move(body);
  return answer;
}

/// In the words of Kubernetes ("message") or of slurmrestd ("errors"); else what came.
std::string why_of(const ApiAnswer& answer) {
  if (auto message = text_at(answer.body, "message")) return *std::move(message);
  const auto* errors = find(answer.body, "errors");
  const auto* list = errors == nullptr ? nullptr : errors->if_array();
  if (list != nullptr && !list->empty())
    if (auto error = text_at(list->front(), "error")) return *std::move(error);
  return answer.text;
}

}  // namespace

Task<Result<void>> ApiClient::fetch_token(Deadline deadline) {
  if (!server_.token) co_return ok();
  if (!token_.empty() && Deadline::Clock::now() - fetched_ < kTokenAge) co_return ok();
  auto token = co_await inventory::resolve_secret(*server_.token, deadline);
  if (!token) co_return std::move(token).error().within("token of " + server_.section);
  std::string_view bare = trimmed(*token);
  // As `scontrol token` prints it.
  if (bare.starts_with("SLURM_JWT=")) bare.remove_prefix(10);
  if (bare.empty() || !fits_into_a_head(bare))
    co_return Error{Code::kInvalid, "token of " + server_.section +
                                        ": it is no token: one line of letters, digits and signs"};
  token_ = bare;
  fetched_ = Deadline::Clock::now();
  co_return ok();
}

std::optional<Error> ApiClient::expired() const {
  const auto claims = token_claims(token_);
  if (!claims.expires || *claims.expires > std::chrono::system_clock::now()) return std::nullopt;
  return Error{Code::kRefused,
               fmt::format("{}: the token of {} expired at {}: write a new one, or let token: "
                           "\"cmd:...\" make one",
                           server_.who(), server_.section, utc_text(*claims.expires))};
}

std::string ApiClient::token_user() const { return token_claims(token_).user; }

Error ApiClient::refused(const ApiAnswer& answer) {
  auto error = expired();
  token_.clear();  // the next one may be better
  if (error) return *std::move(error);
  const auto why = why_of(answer);
  return {Code::kRefused,
          fmt::format("{}: HTTP {}: {}: check user and token of {}", server_.who(), answer.status,
                      shortened(printable(why), kMostShown), server_.section)};
}

Task<Result<ApiAnswer>> ApiClient::ask(ApiRequest request, Deadline deadline) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)ready;
  const auto until = deadline.sooner(kPatience);
  CO_TRY(co_await fetch_token(until));
  const auto token = token_;  // another request may fetch one meanwhile
  const auto executor = co_await asio::this_coro::executor;
  CurlLoop loop{executor, 1, 1};
  Transfer transfer{executor};
  transfer.limit = request.most;
  const auto base = server_.url.starts_with(kUnix) ? std::string{"http://localhost"} : server_.url;
  loop.equip(transfer, base + request.path);
  set_server(transfer, server_);
  const auto presented = server_.present(token);
  set_request(transfer, request, presented);
  const OnTheWay guard{loop, transfer};
  transfer.wake.expires_at(until.when());
  while (!transfer.done) {
    const auto [stopped] = co_await transfer.wake.async_wait(asio::as_tuple(asio::use_awaitable));
    const bool ends = co_await cancelled();
    if (transfer.done) break;
    if (ends) co_return Error{Code::kCancelled, "stopped while " + server_.name + " was asked"};
    if (!stopped) co_return Error{Code::kTimeout, server_.who() + " does not answer"};
  }
  if (transfer.outcome != CURLE_OK) co_return failure_of(transfer, server_);
  auto answer = answer_of(transfer, token, presented);
  if (request.any_status) co_return answer;
  // 511: a token that slurmrestd passed on and slurmctld refused, since Slurm 23.11.
  const bool is_refused = answer.status == 401 || answer.status == 403 || answer.status == 511;
  if (is_refused) co_return refused(answer);
  if (answer.status == 429 || answer.status == 503)
    co_return Error{Code::kBusy,
                    fmt::format("{}: HTTP {}: {}", server_.who(), answer.status, answer.text)};
  co_return answer;
}

}  // namespace cupel::handoff
