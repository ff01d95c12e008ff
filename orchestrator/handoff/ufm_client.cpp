#include "orchestrator/handoff/ufm_client.h"

#include <fmt/format.h>

#include "base/base64.h"

namespace cupel::handoff {
namespace {

constexpr int kOk = 200;

/// A token that UFM has made is sent as it is, by the same scheme.
/// Source: NVIDIA UFM Enterprise REST API Guide, REST API Complementary Information.
std::vector<std::string> presented(const std::string& user, const std::string& secret) {
  const auto words = user.empty() ? secret : base64(user + ":" + secret);
  return {"Authorization: Basic " + words};
}

}  // namespace

UfmClient::UfmClient(const inventory::UfmSite& site)
    : client_{{.name = "UFM",
               .section = "fabric: ufm",
               .url = site.url,
               .ca = site.ca,
               .token = site.secret,
               .present = [user = site.user](
                              const std::string& secret) { return presented(user, secret); }}},
      base_{site.user.empty() ? "/ufmRestV3" : "/ufmRest"} {}

Task<Result<json::value>> UfmClient::resource(std::string name, Deadline deadline) {
  ApiRequest request{.path = base_ + "/resources/" + name, .most = kLargestAnswer};
  CO_TRY(auto answer, co_await client_.ask(request, deadline));
  if (answer.status != kOk)
    co_return Error{Code::kUnsupported,
                    fmt::format("{}: HTTP {} to GET {}: {}: see the url in fabric: ufm, and "
                                "whether UFM's REST API is enabled",
                                client_.server().who(), answer.status, request.path, answer.text)};
  if (answer.body.is_null())
    co_return Error{Code::kMalformed,
                    fmt::format("{}: the answer to GET {} is no JSON: {}", client_.server().who(),
                                request.path, answer.text)};
  co_return std::move(answer.body);
}

Task<Result<UfmAnswers>> UfmClient::ask(Deadline deadline) {
  UfmAnswers answers;
  CO_TRY(answers.links, co_await resource("links", deadline));
  CO_TRY(answers.ports, co_await resource("ports", deadline));
  CO_TRY(answers.systems, co_await resource("systems", deadline));
  co_return answers;
}

}  // namespace cupel::handoff
