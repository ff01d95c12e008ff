#include "bmc/redfish/answer.h"

#include <array>

#include "base/text.h"
#include "bmc/redfish/document.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kLongestText = 600;

bool looks_like_html(const Response& response) {
  const auto text = trimmed(response.body);
  return lower_case(response.content_type).find("html") != std::string::npos ||
         lower_case(text.substr(0, 64)).find("<html") != std::string::npos ||
         text.starts_with("<!");
}

/// The messages under error/@Message.ExtendedInfo: an array, or one object without it (iLO).
std::vector<const json::value*> extended_info(const json::value& body) {
  std::vector<const json::value*> found;
  const auto* error = find(body, "error");
  const auto* info = find(error == nullptr ? body : *error, "@Message.ExtendedInfo");
  if (info == nullptr) return found;
  if (info->is_object()) found.push_back(info);
  if (const auto* list = info->if_array()) {
    for (const auto& one : *list)
      if (one.is_object()) found.push_back(&one);
  }
  return found;
}

/// What a message is about, where its text may not say so: "at the target URI" (DSP0266, 13.3.7.2).
std::vector<std::string> uris_in_arguments(const json::value& message) {
  constexpr std::size_t kMost = 4, kLongest = 200;
  std::vector<std::string> uris;
  const auto* arguments = find(message, "MessageArgs");
  const auto* list = arguments == nullptr ? nullptr : arguments->if_array();
  if (list == nullptr) return uris;
  for (const auto& one : *list) {
    const auto* text = one.if_string();
    if (text == nullptr || uris.size() >= kMost || text->size() > kLongest) continue;
    if (text->starts_with("/redfish/")) uris.emplace_back(*text);
  }
  return uris;
}

bool says(std::string_view text, std::span<const std::string_view> words) {
  const auto lower = lower_case(text);
  return std::ranges::any_of(words,
                             [&](auto word) { return lower.find(word) != std::string::npos; });
}

constexpr std::array<std::string_view, 2> kLicence{"licens", "licenc"};
constexpr std::array<std::string_view, 6> kMissing{
    "actionnotsupported",     "actionparameternotsupported", "propertyunknown",
    "propertyvaluenotinlist", "operationnotsupported",       "actionparameterunknown"};
constexpr std::array<std::string_view, 8> kGoodNews{
    ".success",    "created",     "resetrequired",   "rebootrequired",
    "nooperation", "taskstarted", "resetinprogress", "accepted"};
constexpr std::array<std::string_view, 6> kNoSessionLeft{"rac0218",
                                                         "sessionlimitexceeded",
                                                         "maximum number of user sessions",
                                                         "createlimitreachedforresource",
                                                         "maximum number of sessions",
                                                         "too many sessions"};

/// An error body behind a 2xx. Some wrap their success in one too ("Base.1.0.Success").
bool is_failure(const json::value& body) {
  if (find(body, "error") == nullptr) return false;
  if (find(body, "@odata.id") != nullptr || find(body, "Members") != nullptr) return false;
  const auto messages = extended_info(body);
  if (messages.empty()) return !says(text_at(body, "error/code").value_or(""), kGoodNews);
  return !std::ranges::all_of(messages, [](const json::value* message) {
    const auto severity = text_at(*message, "Severity").value_or("OK");
    return says(text_at(*message, "MessageId").value_or(""), kGoodNews) ||
           (severity == "OK" && find(*message, "Severity") != nullptr);
  });
}

Code code_of(int status) {
  switch (status) {
    case 401:
    case 403:
      return Code::kRefused;
    case 404:
    case 410:
      return Code::kNotFound;
    case 405:
    case 501:
      return Code::kUnsupported;
    case 409:
    case 412:
    case 428:
      return Code::kConflict;
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
      return Code::kBusy;
    default:
      return Code::kFailed;
  }
}

std::string_view what_to_do(Code code) {
  switch (code) {
    case Code::kRefused:
      return "; check the BMC's user, password and role";
    case Code::kBusy:
      return "; the BMC asks for patience";
    default:
      return "";
  }
}

/// Some refuse in plain text.
std::string text_of_refusal(const Response& response) {
  const auto text = printable(shortened(response.body, kLongestText));
  const auto words = trimmed(text);
  return words.empty() ? std::string{} : ": " + std::string{words};
}

Error failure(std::string_view asked, const Response& response, const json::value* body) {
  const std::string messages = body == nullptr ? std::string{} : reported_messages(*body);
  Code code = code_of(response.status);
  std::string text = std::string{asked} + ": HTTP " + std::to_string(response.status);
  if (response.status < 300) text += " with an error in it";
  if (!messages.empty()) text += ": " + messages;
  if (body == nullptr && looks_like_html(response))
    text += ": a web page where JSON was due";
  else if (body == nullptr)
    text += text_of_refusal(response);
  if (code == Code::kRefused || code == Code::kFailed) {
    if (says(messages, kLicence))
      return Error{Code::kUnsupported, text + "; the BMC needs a licence for this"};
    if (says(messages, kMissing)) code = Code::kUnsupported;
  }
  return Error{code, text + std::string{what_to_do(code)}, response.retry_after};
}

}  // namespace

std::string reported_messages(const json::value& body) {
  std::string reported;
  bool has_text = false;
  for (const auto* message : extended_info(body)) {
    const auto text = text_at(*message, "Message");
    has_text = has_text || text;
    const auto id = text_at(*message, "MessageId");
    std::string one = text && id ? *text + " (" + *id + ")" : text.value_or(id.value_or(""));
    for (const auto& uri : uris_in_arguments(*message))
      if (!one.contains(uri)) one += " [" + uri + "]";
    if (one.empty()) continue;
    reported += (reported.empty() ? "" : " / ") + one;
  }
  // Ids alone say little, and a message that points to them says nothing.
  const auto general = text_at(body, "error/message").value_or("");
  if (reported.empty())
    reported = general;
  else if (!has_text && !general.empty() && !general.contains("ExtendedInfo"))
    reported = general + " (" + reported + ")";
  return printable(shortened(reported, kLongestText));
}

Result<Answer> understood(std::string_view asked, const Response& response) {
  return understood(asked, response, document_of(response.body));
}

Result<Answer> understood(std::string_view asked, const Response& response,
                          Result<json::value> document) {
  const bool empty = trimmed(response.body).empty();
  if (empty) document = Result<json::value>{json::value{}};
  const bool good = response.status >= 200 && response.status < 300;
  if (!good) return failure(asked, response, document ? &*document : nullptr);
  if (!document) {
    const bool page = looks_like_html(response);
    const std::string why = page ? "a web page where JSON was due" : document.error().what;
    return Error{Code::kMalformed,
                 std::string{asked} + ": HTTP " + std::to_string(response.status) + ": " + why};
  }
  if (is_failure(*document)) return failure(asked, response, &*document);
  Answer answer{.status = response.status,
                .body = *std::move(document),
                .etag = response.etag,
                .location = response.location,
                .token = response.token,
                .bytes = response.body.size(),
                .retry_after = response.retry_after};
  if (answer.etag.empty()) answer.etag = text_at(answer.body, "@odata.etag").value_or("");
  return answer;
}

bool says_no_right_to_sessions(const Response& response) {
  constexpr std::array<std::string_view, 1> kNoRight{"insufficientprivilege"};
  return response.status >= 400 && says(response.body, kNoRight);
}

bool says_password_must_change(const Response& response) {
  constexpr std::array<std::string_view, 1> kMustChange{"passwordchangerequired"};
  return response.status >= 400 && says(response.body, kMustChange);
}

bool says_sessions_exhausted(const Response& response) {
  return response.status >= 400 && says(response.body, kNoSessionLeft);
}

}  // namespace cupel::bmc::redfish
