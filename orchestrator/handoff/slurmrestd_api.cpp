#include "orchestrator/handoff/slurmrestd_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "orchestrator/handoff/token_claims.h"

namespace cupel::handoff {
namespace {

/// The newest first. What lies behind v0.0.41 has not been read.
constexpr std::array kVersions{41, 40, 39, 38, 37};
constexpr std::size_t kMostShown = 300;

/// Source: slurm_errno.h (22.05).
constexpr int kUnspecified = -1, kAuthentication = 1007;

/// Whether the failure lies between slurmrestd and slurmctld, which may have heard the request all
/// the same. 0 is "No error" of 24.11. Source: errno(3); slurm_errno.h (22.05), SLURM_*
/// communication errors, SLURMCTLD_COMMUNICATIONS_*, SLURM_PROTOCOL_SOCKET_*.
bool is_of_the_way(int number) {
  return (number >= 0 && number < 2000) || (number >= 5000 && number < 6000);
}

/// "Unable find requested URL. Please view /openapi/v3 for API reference."
bool is_unknown_path(const ApiAnswer& answer) {
  const auto failure = rest_failure(answer.body);
  return answer.status == 404 && !(failure && failure->number == kRestNoSuchJob) &&
         lower_case(answer.text).find("url") != std::string::npos;
}

/// X-SLURM-USER-NAME must be there in 22.05, also where the token says the name.
std::vector<std::string> presented(const std::string& user, const std::string& token) {
  std::vector<std::string> lines;
  if (token.empty()) return lines;
  const auto name = user.empty() ? token_claims(token).user : user;
  if (!name.empty() && name == printable(name)) lines.push_back("X-SLURM-USER-NAME: " + name);
  lines.push_back("X-SLURM-USER-TOKEN: " + token);
  return lines;
}

}  // namespace

std::optional<RestFailure> rest_failure(const json::value& body) {
  const auto* errors = find(body, "errors");
  const auto* list = errors == nullptr ? nullptr : errors->if_array();
  if (list == nullptr || list->empty()) return std::nullopt;
  const auto& first = list->front();
  RestFailure failure;
  for (const auto* key : {"error", "description"})
    if (const auto text = text_at(first, key))
      failure.words += (failure.words.empty() ? "" : ": ") + *text;
  failure.words = shortened(printable(failure.words), kMostShown);
  failure.number = kUnspecified;
  // "errno" before v0.0.39; "error_code" of v0.0.38 where a job is submitted.
  for (const auto* key : {"error_code", "errno", "error_number"})
    if (const auto number = number_at(first, key); number && *number >= -1 && *number <= 1e6)
      failure.number = static_cast<int>(*number);
  return failure;
}

SlurmrestdApi::SlurmrestdApi(const inventory::SlurmRest& rest)
    : user_{rest.user},
      client_{{.name = "slurmrestd",
               .section = "slurm: rest",
               .url = rest.url,
               .ca = rest.ca,
               .token = rest.token,
               .present = [user = rest.user](const std::string& token) {
                 return presented(user, token);
               }}} {}

std::string SlurmrestdApi::who() const {
  return fmt::format("{} (API v0.0.{})", client_.server().who(), version_);
}

std::string SlurmrestdApi::user() const { return user_.empty() ? client_.token_user() : user_; }

Result<void> SlurmrestdApi::check(const ApiAnswer& answer) const {
  const auto failure = rest_failure(answer.body);
  if (!failure && answer.status == 200) return ok();
  if (!failure)
    return Error{answer.status >= 500 ? Code::kUnreachable : Code::kFailed,
                 fmt::format("{}: HTTP {}: {}", who(), answer.status, answer.text)};
  const auto said = fmt::format("{}: {} ({})", who(), failure->words, failure->number);
  // HTTP 400 and the like: it never came to slurmctld.
  if (answer.status >= 400 && answer.status < 500) return Error{Code::kFailed, said};
  // 22.05 says no more of an expired token, of a forged one, and of a slurmctld that is away.
  if (auto expired = client_.expired()) return *std::move(expired);
  if (failure->number == kUnspecified)
    return Error{Code::kUnreachable,
                 fmt::format("{}: {}: slurmctld does not answer it, or refuses the token: see "
                             "slurmctld's log",
                             who(), failure->words)};
  if (failure->number == kAuthentication)
    return Error{Code::kRefused, said + ": check user and token of slurm: rest"};
  return Error{is_of_the_way(failure->number) ? Code::kUnreachable : Code::kFailed, said};
}

Task<Result<ApiAnswer>> SlurmrestdApi::ask(ForVersion request, Deadline deadline) {
  std::vector<int> order(kVersions.begin(), kVersions.end());
  if (version_ != 0) order.insert(order.begin(), version_);
  for (const int version : order) {
    auto asked = request(version);
    asked.path = fmt::format("/slurm/v0.0.{}{}", version, asked.path);
    auto answer = co_await client_.ask(std::move(asked), deadline);
    // One that is too long is none for an unknown path.
    const bool has_version =
        answer ? !is_unknown_path(*answer) : answer.error().code == Code::kMalformed;
    if (has_version) version_ = version;
    if (!answer || has_version) co_return answer;
  }
  // One that had a version is restarted, or a proxy answers in its place.
  co_return Error{version_ == 0 ? Code::kUnsupported : Code::kUnreachable,
                  fmt::format("{} has none of the API's versions v0.0.{} to v0.0.{}: start it with "
                              "one of them, or leave rest out of the slurm section",
                              client_.server().who(), kVersions.back(), kVersions.front())};
}

Task<Result<ApiAnswer>> SlurmrestdApi::ask_accounting(ApiRequest request, Deadline deadline) {
  request.path = fmt::format("/slurmdb/v0.0.{}{}", version_, request.path);
  return client_.ask(std::move(request), deadline);
}

}  // namespace cupel::handoff
