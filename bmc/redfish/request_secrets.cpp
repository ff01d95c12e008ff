#include "bmc/redfish/request_secrets.h"

#include <array>

#include "base/json.h"
#include "base/text.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::string_view kTokenHeader = "X-Auth-Token: ";
constexpr std::array<std::string_view, 3> kSecretKeys{"passw", "token", "secret"};

bool names_a_secret(std::string_view key) {
  const auto lower = lower_case(key);
  return std::ranges::any_of(kSecretKeys,
                             [&](auto word) { return lower.find(word) != lower.npos; });
}

void learn_text(SentSecrets& secrets, const json::string& text, bool is_secret,
                std::string_view user) {
  const std::string_view value{text.data(), text.size()};
  if (is_secret)
    secrets.add(value, user);
  else
    secrets.add_url(value);
}

void learn_body(SentSecrets& secrets, const json::value& body, bool is_secret,
                std::string_view user) {
  if (const auto* text = body.if_string()) learn_text(secrets, *text, is_secret, user);
  if (const auto* list = body.if_array())
    for (const auto& one : *list) learn_body(secrets, one, is_secret, user);
  const auto* object = body.if_object();
  if (object == nullptr) return;
  const auto name = text_at(body, "UserName").value_or(std::string{user});
  for (const auto& entry : *object)
    learn_body(secrets, entry.value(), is_secret || names_a_secret(entry.key()), name);
}

}  // namespace

void learn(SentSecrets& secrets, const Request& request) {
  if (request.basic) secrets.add_login(request.basic->user, request.basic->password);
  for (const auto& line : request.headers) {
    const std::string_view header = line;
    if (header.starts_with(kTokenHeader)) secrets.add(header.substr(kTokenHeader.size()));
  }
  if (request.body.empty()) return;
  const auto body = parse_json(request.body);
  if (body) learn_body(secrets, *body, false, {});
}

Result<Response> scrubbed(SentSecrets& secrets, Result<Response> answer) {
  using In = SentSecrets::In;
  if (!answer) {
    auto error = std::move(answer).error();
    error.what = secrets.scrubbed(std::move(error.what), In::text);
    return error;
  }
  auto& response = *answer;
  response.location = secrets.scrubbed(std::move(response.location), In::text);
  response.etag = secrets.scrubbed(std::move(response.etag), In::text);
  response.content_type = secrets.scrubbed(std::move(response.content_type), In::text);
  // One that is too long is not used for a login either (client_login.cpp).
  if (response.token.size() <= Response::kLongestToken) secrets.add(response.token);
  // Some wrap a refusal into a 200.
  const bool refuses =
      response.status >= 400 || response.body.find("\"error\"") != std::string::npos;
  const auto kind = refuses ? In::refusal : In::document;
  response.body = secrets.scrubbed(std::move(response.body), kind);
  return answer;
}

}  // namespace cupel::bmc::redfish
