#include "orchestrator/api/problem.h"

#include <boost/json.hpp>

#include "base/text.h"

namespace cupel::api {
namespace {

/// The same for all problems of a type. Source: RFC 9457, 3.1.4.
std::string_view title_of(const Problem& problem) {
  if (problem.code == "invalid") return "the request is invalid";
  if (problem.code == "too-large") return "too large";
  switch (problem.status) {
    case 401:
      return "authentication is needed";
    case 403:
      return "not allowed";
    case 404:
      return "not found";
    case 405:
      return "method not allowed";
    case 409:
      return "conflict";
    case 412:
      return "precondition failed";
    case 415:
      return "unsupported media type";
    case 429:
      return "too many requests";
    case 503:
      return "busy";
    case 504:
      return "no answer in time";
    case 507:
      return "the store cannot be written";
    default:
      return "internal error";
  }
}

}  // namespace

Answer answer_of(const Problem& problem) {
  boost::json::object object{
      {"type", "https://cupel.invalid/problems/" + problem.code},
      {"title", title_of(problem)},
      {"status", problem.status},
      {"code", problem.code},
      {"detail", printable(valid_utf8(problem.detail))},
  };
  if (!problem.faults.empty()) {
    boost::json::array errors;
    for (const auto& fault : problem.faults)
      errors.push_back({{"where", printable(valid_utf8(fault.where))},
                        {"what", printable(valid_utf8(fault.what))}});
    object["errors"] = std::move(errors);
  }
  Answer answer;
  answer.status = problem.status;
  answer.type = "application/problem+json";
  answer.body = shared_text(boost::json::serialize(object));
  if (problem.retry_after.count() > 0)
    answer.fields.emplace_back("Retry-After", std::to_string(problem.retry_after.count()));
  if (!problem.accept.first.empty()) answer.fields.push_back(problem.accept);
  if (!problem.allow.empty()) answer.fields.emplace_back("Allow", problem.allow);
  if (problem.status == 401)
    answer.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"cupel\"");
  return answer;
}

Problem problem_of(const Error& error) {
  switch (error.code) {
    case Code::kInvalid:
      return {422, "invalid", error.what};
    case Code::kNotFound:
      return {404, "not-found", error.what};
    case Code::kConflict:
      return {409, "conflict", error.what};
    case Code::kStorage:
      return {507, "storage", error.what};
    case Code::kRefused:
    case Code::kUntrusted:
      return {409, "refused", error.what};
    case Code::kBusy:
    case Code::kUnreachable:
    case Code::kCancelled:
      return {503, "busy", error.what, {}, std::chrono::seconds{5}};
    case Code::kTimeout:
      return {504, "timeout", error.what};
    case Code::kUnsupported:
    case Code::kFailed:
    case Code::kMalformed:
    case Code::kNoMeasurement:
      return {409, std::string{to_string(error.code)}, error.what};
  }
  __builtin_unreachable();
}

Problem not_found(std::string what) { return {404, "not-found", std::move(what)}; }

Problem invalid(std::string detail, std::vector<Fault> faults) {
  return {422, "invalid", std::move(detail), std::move(faults)};
}

}  // namespace cupel::api
