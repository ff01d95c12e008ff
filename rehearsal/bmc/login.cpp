#include "rehearsal/bmc/login.h"

#include <openssl/evp.h>

#include "base/text.h"
#include "rehearsal/bmc/refusals.h"

namespace cupel::rehearsal {
namespace {

std::string from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0 || text.size() > 1024) return {};
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return {};
  const auto padding = text.ends_with("==") ? 2u : text.ends_with('=') ? 1u : 0u;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

}  // namespace

std::optional<LoginWords> basic_login(const HttpRequest& request) {
  const auto header = request.header("authorization");
  if (!lower_case(header).starts_with("basic ")) return std::nullopt;
  const auto plain_text = from_base64(trimmed(std::string_view{header}.substr(6)));
  const auto colon = plain_text.find(':');
  if (colon == std::string::npos) return LoginWords{};
  return LoginWords{plain_text.substr(0, colon), plain_text.substr(colon + 1)};
}

std::optional<LoginWords> session_login(const HttpRequest& request) {
  const auto body = parse_json(request.body);
  if (!body) return std::nullopt;
  // Not text_at(): a password may begin with a blank.
  const auto text = [&](std::string_view key) {
    const auto* found = find(*body, key);
    return found && found->is_string() ? std::string{found->as_string()} : std::string{};
  };
  return LoginWords{text("UserName"), text("Password")};
}

json::object session_text(const BmcSession& session) {
  auto text = resource(std::string{kSessionPath} + "/" + session.id, "#Session.v1_3_0.Session",
                       session.id, "User Session");
  text["UserName"] = session.user;
  return text;
}

void add_sessions(ResourceTree& tree, BmcSessions& sessions) {
  for (const auto& [id, session] : sessions.all())
    tree[std::string{kSessionPath} + "/" + id] = session_text(session);
  add_collection(tree, std::string{kSessionPath}, "#SessionCollection.SessionCollection",
                 "Session Collection");
  auto service = resource("/redfish/v1/SessionService", "#SessionService.v1_1_8.SessionService",
                          "SessionService", "Session Service");
  service["ServiceEnabled"] = true;
  service["SessionTimeout"] =
      std::chrono::duration_cast<std::chrono::seconds>(sessions.timeout()).count();
  service["Sessions"] = link(std::string{kSessionPath});
  service["Status"] = healthy();
  tree["/redfish/v1/SessionService"] = std::move(service);
}

HttpResponse logged_in(const BmcSession& session, const json::object& reported) {
  auto response = answer(201, reported);
  response.headers["X-Auth-Token"] = session.token;
  response.headers["Location"] = std::string{kSessionPath} + "/" + session.id;
  return response;
}

HttpResponse logged_out(BmcSessions& sessions, const std::string& path) {
  const bool closed = sessions.close(path.substr(kSessionPath.size() + 1));
  return closed ? HttpResponse{.status = 204} : missing(path);
}

HttpResponse wrong_login() {
  return redfish_error(401, "ResourceAtUriUnauthorized",
                       "While accessing the resource at /redfish/v1/SessionService/Sessions, the "
                       "service received an authorization error: wrong user name or password.");
}

HttpResponse too_many_sessions() {
  return redfish_error(503, "SessionLimitExceeded",
                       "The session establishment failed due to the number of simultaneous "
                       "sessions exceeding the limit of the implementation.");
}

}  // namespace cupel::rehearsal
