#include "bmc/nvos/nvue.h"

#include <fmt/format.h>

#include "base/text.h"
#include "bmc/redfish/document.h"

namespace cupel::bmc::nvos {
namespace {

using redfish::Method;
using redfish::Request;
using redfish::Response;

constexpr std::string_view kRoot = "/nvue_v1/";
constexpr std::size_t kLongestWord = 200, kLongestComplaint = 300;

Code code_of(int status) {
  switch (status) {
    case 401:
    case 403:
      return Code::kRefused;
    case 404:
      return Code::kNotFound;
    case 409:
      return Code::kConflict;
    case 429:
    case 502:
    case 503:
    case 504:
      return Code::kBusy;
    default:
      return Code::kFailed;
  }
}

/// What a refusal says of itself: {"title": ..., "detail": ...}.
std::string complaint_of(const json::value& body) {
  std::string text;
  for (const auto* path : {"title", "detail", "message"})
    if (const auto word = word_at(body, path); !word.empty())
      text += (text.empty() ? "" : ": ") + word;
  return shortened(text, kLongestComplaint);
}

std::string advice_for(int status) {
  if (status == 401) return "; check the user and the password of nvos in the inventory";
  if (status == 403)
    return "; a switch that was never logged in to asks for another password than the factory's: "
           "log in to it once by SSH, change it, and write the new one into the inventory";
  if (status == 502) return "; its REST service has not started yet";
  return "";
}

}  // namespace

std::string path_word(std::string_view word) {
  std::string safe;
  for (const char c : word) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '_' || c == '.';
    safe += plain ? std::string{c} : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return safe;
}

std::string word_of(const json::value* value) {
  if (value == nullptr) return {};
  if (const auto* text = value->if_string())
    return printable(shortened(trimmed(std::string_view{*text}), kLongestWord));
  if (const auto* number = value->if_int64()) return std::to_string(*number);
  if (const auto* number = value->if_uint64()) return std::to_string(*number);
  if (const auto* number = value->if_double()) return plain(*number);
  return {};
}

std::string word_at(const json::value& body, std::string_view path) {
  return word_of(find(body, path));
}

Nvue::Nvue(redfish::Transport& transport, redfish::Peer peer, std::string user,
           SecretSource password)
    : transport_{transport},
      peer_{std::move(peer)},
      user_{std::move(user)},
      password_{std::move(password)} {}

Task<Result<json::value>> Nvue::get(std::string path, Deadline deadline) {
  return ask(Method::get, std::move(path), {}, deadline);
}

Task<Result<json::value>> Nvue::patch(std::string path, json::value body, Deadline deadline) {
  return ask(Method::patch, std::move(path), json::serialize(body), deadline);
}

Task<Result<json::value>> Nvue::post(std::string path, json::value body, Deadline deadline) {
  return ask(Method::post, std::move(path), json::serialize(body), deadline);
}

/// One refusal of a password stops everybody until it changes.
Result<void> Nvue::note_login(int status, const std::string& password, Error refusal) {
  auto& logins = transport_.bmc_limits(peer_.bmc()).logins;
  // A proxy whose service is away, and a server in trouble, have looked at no password.
  if (status < 500 && status != 401 && status != 403) logins.accepted(user_);
  if (status != 401) return ok();
  logins.refused(user_, password, {}, refusal.what);
  return refusal;
}

Task<Result<json::value>> Nvue::ask(Method method, std::string path, std::string body,
                                    Deadline deadline) {
  auto password = co_await password_();
  if (!password) co_return std::move(password).error().within(peer_.node);
  auto& limits = transport_.bmc_limits(peer_.bmc());
  CO_TRY(limits.logins.may_try(user_, *password));
  const auto asked =
      fmt::format("{}: {} {}", peer_.node, to_string(method), printable(std::string{kRoot} + path));
  // Whoever tries a password is alone with it until the switch has accepted it once.
  std::optional<Semaphore::Permit> alone;
  if (!proven_) {
    CO_TRY(Semaphore::Permit permit, co_await limits.login.enter(deadline));
    alone.emplace(std::move(permit));
    CO_TRY(limits.logins.may_try(user_, *password));
  }
  Request request{.method = method,
                  .path = std::string{kRoot} + path,
                  .body = std::move(body),
                  .basic = redfish::Basic{user_, *password}};
  CO_TRY(const Response response, co_await transport_.send(peer_, std::move(request), deadline));
  auto document = co_await redfish::read_document(response.body, limits.memory);
  const auto complaint = document ? complaint_of(*document) : std::string{};
  Error refusal{code_of(response.status),
                fmt::format("{}: HTTP {}{}{}{}", asked, response.status,
                            complaint.empty() ? "" : ": ", complaint, advice_for(response.status))};
  CO_TRY(note_login(response.status, *password, refusal));
  if (response.status < 500) proven_ = true;
  if (response.status >= 200 && response.status <= 299 && trimmed(response.body).empty())
    co_return json::value{};
  if (response.status < 200 || response.status > 299) co_return refusal;
  if (!document) co_return std::move(document).error().within(asked);
  co_return document;
}

}  // namespace cupel::bmc::nvos
