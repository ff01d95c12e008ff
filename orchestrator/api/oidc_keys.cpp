#include "orchestrator/api/oidc_keys.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "orchestrator/handoff/api_client.h"

namespace cupel::api {
namespace {

constexpr std::size_t kLargestKeySet = 1u << 20;

}  // namespace

bool is_key_address(std::string_view keys) { return keys.starts_with("https://"); }

Task<Result<WebKeys>> fetch_oidc_keys(OidcSettings oidc) {
  handoff::ApiServer server{.name = "identity provider", .section = "oidc: keys"};
  server.url = oidc.keys;
  server.ca = oidc.ca;
  server.present = [](const std::string&) { return std::vector<std::string>{}; };
  handoff::ApiClient client{std::move(server)};
  handoff::ApiRequest request;
  request.most = kLargestKeySet;
  CO_TRY(const auto answer, co_await client.ask(std::move(request), Deadline::in(kKeysPatience)));
  if (answer.status != 200)
    co_return Error{Code::kInvalid, fmt::format("{}: HTTP {}", oidc.keys, answer.status)};
  co_return within(oidc.keys, WebKeys::read(boost::json::serialize(answer.body)));
}

}  // namespace cupel::api
