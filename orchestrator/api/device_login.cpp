#include "orchestrator/api/device_login.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

#include "base/base64.h"
#include "base/text.h"
#include "inventory/read_slurm.h"
#include "orchestrator/handoff/api_client.h"

namespace cupel::api {
namespace {

using std::chrono::seconds;
using Fields = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t kLargestAnswer = 256u << 10, kLongestToken = 16u << 10;
constexpr std::size_t kLongestCode = 4096, kLongestWord = 64, kLongestPage = 2048;
constexpr seconds kUsualInterval{5}, kSlower{5}, kLongestInterval{60}, kLongest{3600};
constexpr std::string_view kDiscovery = "/.well-known/openid-configuration";
constexpr std::string_view kGrant = "urn:ietf:params:oauth:grant-type:device_code";

std::string bare(std::string_view url) {
  while (url.ends_with('/')) url.remove_suffix(1);
  return std::string{url};
}

std::string form_of(const Fields& fields) {
  std::string form;
  for (const auto& [key, value] : fields)
    form += fmt::format("{}{}={}", form.empty() ? "" : "&", key,
                        boost::urls::encode(value, boost::urls::unreserved_chars));
  return form;
}

Task<Result<handoff::ApiAnswer>> ask(Provider provider, std::string url, Fields fields,
                                     Deadline deadline) {
  handoff::ApiServer server{.name = "the identity provider",
                            .section = "the options --issuer and --ca",
                            .url = std::move(url),
                            .ca = provider.ca};
  server.present = [](const std::string&) { return std::vector<std::string>{}; };
  handoff::ApiClient client{std::move(server)};
  handoff::ApiRequest request;
  request.most = kLargestAnswer;
  request.any_status = true;
  if (!fields.empty()) {
    request.method = "POST";
    request.content_type = "application/x-www-form-urlencoded";
    request.body = form_of(fields);
  }
  co_return co_await client.ask(std::move(request), deadline);
}

/// Whatever stands in the answer may be a secret: of a refusal its code alone is shown.
std::string refusal_in(const handoff::ApiAnswer& answer) {
  const auto code = text_at(answer.body, "error").value_or("");
  const bool sound = !code.empty() && code.size() <= kLongestWord &&
                     code.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == code.npos;
  return sound ? code : fmt::format("HTTP {}", answer.status);
}

bool is_good(const handoff::ApiAnswer& answer) { return answer.status == 200; }

Error refused(const Provider& provider, const std::string& why) {
  return {Code::kFailed,
          fmt::format("the identity provider {} refuses: {}: see whether client {} may use the "
                      "device flow",
                      provider.issuer, why, printable(provider.client))};
}

Error malformed(const Provider& provider, std::string_view what) {
  return {Code::kMalformed, fmt::format("the identity provider {} {}", provider.issuer, what)};
}

/// An address that may be asked: never without TLS where the issuer is asked with it.
std::string endpoint_in(const json::value& document, std::string_view key,
                        const std::string& issuer) {
  const auto url = text_at(document, key).value_or("");
  const bool sound = !url.empty() && !inventory::fault_in_server_url(url, false);
  const bool safe = url.starts_with("https://") || issuer.starts_with("http://");
  return sound && safe ? url : std::string{};
}

/// The claims of a token, whose signature the service looks at.
std::optional<json::value> claims_of(std::string_view token) {
  const auto parts = split(token, '.');
  if (parts.size() != 3) return std::nullopt;
  std::string payload{parts[1]};
  std::ranges::replace(payload, '-', '+');
  std::ranges::replace(payload, '_', '/');
  const auto text = from_base64(payload);
  auto claims = text ? parse_json(*text) : Result<json::value>{Error{Code::kMalformed, ""}};
  if (!claims) return std::nullopt;
  return *std::move(claims);
}

bool is_for(const json::value& claims, const std::string& client) {
  const auto* audience = find(claims, "aud");
  if (audience == nullptr) return false;
  if (audience->is_string()) return audience->get_string() == client;
  const auto* list = audience->if_array();
  return list != nullptr && std::ranges::any_of(*list, [&](const json::value& each) {
           return each.is_string() && each.get_string() == client;
         });
}

bool fits_into_a_head(std::string_view token) {
  return !token.empty() && token.size() <= kLongestToken &&
         std::ranges::all_of(token, [](char c) { return c > ' ' && c <= '~'; });
}

Result<ProviderTokens> tokens_in(const json::value& body, const Provider& provider,
                                 const ProviderEndpoints& endpoints) {
  ProviderTokens tokens;
  tokens.id = text_at(body, "id_token").value_or("");
  if (tokens.id.empty())
    return malformed(provider, "returns no ID token: --scope is to have openid in it");
  const auto claims = fits_into_a_head(tokens.id) ? claims_of(tokens.id) : std::nullopt;
  if (!claims) return malformed(provider, "returns an ID token that cannot be read");
  if (text_at(*claims, "iss") != endpoints.issuer)
    return malformed(provider, "returns a token of another issuer");
  if (!is_for(*claims, provider.client))
    return malformed(provider, "returns a token for another client");
  constexpr double kMost = 253402300799.0;  // the year 9999
  const auto expires = number_at(*claims, "exp").value_or(0);
  const auto now = std::chrono::floor<seconds>(std::chrono::system_clock::now());
  tokens.expires =
      std::chrono::sys_seconds{seconds{static_cast<std::int64_t>(std::clamp(expires, 0.0, kMost))}};
  if (tokens.expires <= now)
    return malformed(provider, "returns a token that has expired: look at the clocks");
  tokens.refresh = text_at(body, "refresh_token").value_or("");
  if (!tokens.refresh.empty() && !fits_into_a_head(tokens.refresh)) tokens.refresh.clear();
  return tokens;
}

std::chrono::milliseconds paced(seconds span, PollPace pace) { return span.count() * pace.second; }

}  // namespace

Task<Result<ProviderEndpoints>> find_endpoints(Provider provider, Deadline deadline) {
  const auto issuer = bare(provider.issuer);
  auto url = issuer + std::string{kDiscovery};
  CO_TRY(const auto answer, co_await ask(provider, std::move(url), {}, deadline));
  if (!is_good(answer))
    co_return malformed(provider, fmt::format("has no discovery document: HTTP {}", answer.status));
  ProviderEndpoints endpoints;
  endpoints.issuer = text_at(answer.body, "issuer").value_or("");
  if (bare(endpoints.issuer) != issuer)
    co_return malformed(provider, "names another issuer in its discovery document");
  endpoints.device = endpoint_in(answer.body, "device_authorization_endpoint", issuer);
  endpoints.token = endpoint_in(answer.body, "token_endpoint", issuer);
  if (endpoints.device.empty() || endpoints.token.empty())
    co_return malformed(provider, "offers no device flow at an https:// address (RFC 8628)");
  co_return endpoints;
}

Task<Result<DeviceCode>> ask_device_code(Provider provider, ProviderEndpoints endpoints,
                                         Deadline deadline) {
  Fields fields{{"client_id", provider.client}, {"scope", provider.scope}};
  CO_TRY(const auto answer, co_await ask(provider, endpoints.device, std::move(fields), deadline));
  if (!is_good(answer)) co_return refused(provider, refusal_in(answer));
  DeviceCode code;
  code.device = text_at(answer.body, "device_code").value_or("");
  code.user = printable(text_at(answer.body, "user_code").value_or(""));
  code.page = printable(text_at(answer.body, "verification_uri").value_or(""));
  const auto lasts = number_at(answer.body, "expires_in").value_or(0);
  const auto interval =
      number_at(answer.body, "interval").value_or(static_cast<double>(kUsualInterval.count()));
  const bool sound = !code.device.empty() && code.device.size() <= kLongestCode &&
                     !code.user.empty() && code.user.size() <= kLongestWord &&
                     code.page.size() <= kLongestPage && lasts >= 1 && interval >= 0;
  const bool is_page = code.page.starts_with("https://") || code.page.starts_with("http://");
  if (!sound || !is_page) co_return malformed(provider, "returns no code that can be entered");
  const auto bounded = [](double span, seconds least, seconds most) {
    return seconds{static_cast<std::int64_t>(
        std::clamp(span, static_cast<double>(least.count()), static_cast<double>(most.count())))};
  };
  code.lasts = bounded(lasts, seconds{1}, kLongest);
  code.interval = bounded(interval, seconds{1}, kLongestInterval);
  co_return code;
}

Task<Result<ProviderTokens>> wait_for_login(Provider provider, ProviderEndpoints endpoints,
                                            DeviceCode code, PollPace pace, Deadline deadline) {
  const Error expired{Code::kTimeout,
                      "the code expired before anyone logged in with it; for a new one: cupel "
                      "login"};
  const auto until = deadline.sooner(paced(code.lasts, pace));
  auto interval = code.interval;
  while (until.left() > paced(interval, pace)) {
    CO_TRY(co_await pause_for(paced(interval, pace)));
    Fields fields{{"grant_type", std::string{kGrant}},
                  {"device_code", code.device},
                  {"client_id", provider.client}};
    const auto answer = co_await ask(provider, endpoints.token, std::move(fields), until);
    if (!answer && !is_transient(answer.error().code)) co_return answer.error();
    if (answer && is_good(*answer)) co_return tokens_in(answer->body, provider, endpoints);
    const auto why = answer ? refusal_in(*answer) : std::string{"slow_down"};
    const bool busy = answer && (answer->status == 429 || answer->status >= 500);
    if (why == "authorization_pending") continue;
    if (why == "access_denied")
      co_return Error{Code::kRefused, "the login was denied at the identity provider"};
    if (why == "expired_token") co_return expired;
    if (why != "slow_down" && !busy) co_return refused(provider, why);
    interval = std::min(interval + kSlower, kLongestInterval);
  }
  co_return expired;
}

Task<Result<ProviderTokens>> refresh_login(Provider provider, ProviderEndpoints endpoints,
                                           std::string refresh, Deadline deadline) {
  Fields fields{
      {"grant_type", "refresh_token"}, {"refresh_token", refresh}, {"client_id", provider.client}};
  CO_TRY(const auto answer, co_await ask(provider, endpoints.token, std::move(fields), deadline));
  const auto why = refusal_in(answer);
  if (!is_good(answer) && (why == "invalid_grant" || why == "access_denied"))
    co_return Error{Code::kRefused, "the identity provider accepts the login no more"};
  if (!is_good(answer)) co_return refused(provider, why);
  CO_TRY(auto tokens, tokens_in(answer.body, provider, endpoints));
  if (tokens.refresh.empty()) tokens.refresh = std::move(refresh);  // it stays valid: RFC 6749, 6
  co_return tokens;
}

}  // namespace cupel::api
