#include "orchestrator/handoff/tsa_client.h"

#include <fmt/format.h>

#include <boost/url/parse.hpp>

#include "base/never_null.h"
#include "base/text.h"
#include "base/time_stamp.h"
#include "orchestrator/handoff/api_client.h"

namespace cupel::handoff {
namespace {

constexpr std::chrono::seconds kPatience{20};
constexpr std::size_t kLongestUrl = 2048;

/// ApiClient's advice is for servers of an inventory.
Error of_tsa(Error error, const ApiServer& server) {
  if (error.code == Code::kUntrusted)
    error.what = server.who() +
                 ": its TLS certificate is not accepted: it expired, is of another name, or of no "
                 "authority that this machine trusts (update-ca-certificates adds one)";
  if (error.code == Code::kRefused)
    error.what = server.who() + " wants a login, and Cupel has none for it: name another one";
  return error;
}

}  // namespace

std::optional<std::string> fault_in_tsa_url(std::string_view url) {
  const auto parsed = boost::urls::parse_uri(never_null(url));
  const auto scheme = parsed ? lower_case(parsed->scheme()) : std::string{};
  if ((scheme != "http" && scheme != "https") || url.size() > kLongestUrl || parsed->host().empty())
    return "is no URL such as http://tsa.example.com/tsr";
  if (parsed->has_userinfo() || parsed->has_fragment())
    return "has a host, a port, a path and a query: no user and no fragment (#)";
  return std::nullopt;
}

Task<Result<std::string>> ask_tsa(std::string url, std::string request) {
  ApiServer server{.name = "the TSA",
                   .section = "--tsa",
                   .url = std::move(url),
                   .present = [](const std::string&) { return std::vector<std::string>{}; }};
  ApiClient client{server};
  ApiRequest asked{.method = "POST",
                   .body = std::move(request),
                   .content_type = "application/timestamp-query",
                   .accept = "application/timestamp-reply",
                   .most = kLargestTimeStamp};
  auto answer = co_await client.ask(std::move(asked), Deadline::in(kPatience));
  if (!answer) co_return of_tsa(std::move(answer).error(), server);
  if (answer->status != 200)
    co_return Error{Code::kFailed,
                    fmt::format("{}: HTTP {}: {}", server.who(), answer->status, answer->text)};
  co_return std::move(answer->bytes);
}

}  // namespace cupel::handoff
