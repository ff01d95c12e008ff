#include "rehearsal/bmc/service.h"

#include <openssl/evp.h>

#include "base/digest.h"
#include "base/text.h"

namespace cupel::rehearsal {
namespace {

constexpr std::string_view kSystem = "/redfish/v1/Systems/DGX";
constexpr std::string_view kSessions = "/redfish/v1/SessionService/Sessions";
constexpr std::string_view kManagers = "/redfish/v1/Managers/";

std::string path_of(std::string_view target) {
  std::string path{target.substr(0, target.find_first_of("?#"))};
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

/// DSP0266, 7.3.1: a query parameter with '$' that a service does not know is an error, others are
/// ignored. This one knows none, and advertises none.
bool asks_for_unknown(std::string_view target) {
  const auto question = target.find('?');
  if (question == target.npos) return false;
  for (const auto parameter : split(target.substr(question + 1), '&'))
    if (parameter.starts_with('$')) return true;
  return false;
}

HttpResponse not_allowed(std::string allow) {
  auto response =
      redfish_error(405, "OperationNotAllowed", "The HTTP method is not allowed on this resource.");
  response.headers["Allow"] = std::move(allow);
  return response;
}

HttpResponse missing(const std::string& path) {
  return redfish_error(404, "ResourceMissingAtURI",
                       "The resource at the URI " + path + " was not found.");
}

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

json::object service_text(std::chrono::seconds timeout) {
  auto service = resource("/redfish/v1/SessionService", "#SessionService.v1_1_8.SessionService",
                          "SessionService", "Session Service");
  service["ServiceEnabled"] = true;
  service["SessionTimeout"] = timeout.count();
  service["Sessions"] = link(std::string{kSessions});
  service["Status"] = healthy();
  return service;
}

json::object session_text(const BmcSession& session) {
  auto text = resource(std::string{kSessions} + "/" + session.id, "#Session.v1_3_0.Session",
                       session.id, "User Session");
  text["UserName"] = session.user;
  return text;
}

}  // namespace

std::string etag_of(const json::object& resource) {
  return "W/\"" + sha256_hex(json::serialize(resource)).substr(0, 16) + "\"";
}

BmcService::BmcService(Machine& machine, BmcAccount account)
    : machine_{machine}, account_{std::move(account)} {}

HttpResponse BmcService::handle(const HttpRequest& request) {
  ++requests_;
  HttpResponse response;
  if (auto patience = busy())
    response = std::move(*patience);
  else
    response = routed(request, path_of(request.target));
  response.headers["OData-Version"] = "4.0";
  response.headers["Cache-Control"] = "no-cache";
  if (request.method == "HEAD") response.body.clear();
  return response;
}

/// A BMC that has just started says so in seconds of the asker's clock, not of the rack's.
std::optional<HttpResponse> BmcService::busy() {
  const auto* fault = find_fault(machine_.faults(), FaultKind::bmc_busy);
  if (!fault) return std::nullopt;
  const auto now = machine_.clock().elapsed();
  if (!first_asked_) first_asked_ = now;
  const auto left = *first_asked_ + fault->span.value_or(VirtualTime{60}) - now;
  if (left <= VirtualTime{0}) return std::nullopt;
  const auto wait = std::chrono::ceil<std::chrono::seconds>(machine_.clock().real(left));
  auto response = redfish_error(503, "ServiceTemporarilyUnavailable",
                                "The service is temporarily unavailable. Retry in " +
                                    std::to_string(wait.count()) + " seconds.");
  response.headers["Retry-After"] = std::to_string(wait.count());
  return response;
}

HttpResponse BmcService::routed(const HttpRequest& request, const std::string& path) {
  const auto& method = request.method;
  const bool reads = method == "GET" || method == "HEAD";
  if (path == "/redfish" && reads) return answer(200, json::object{{"v1", "/redfish/v1/"}});
  if (path == kSessions && method == "POST") return log_in(request);
  // DSP0266, 13.3.1: the root is for everybody.
  if (path == "/redfish/v1" && reads) return read(path);
  if (!knows(request)) {
    auto refusal = redfish_error(401, "NoValidSession",
                                 "There is no valid session established with the implementation.");
    refusal.headers["WWW-Authenticate"] = "Basic realm=\"Redfish\"";
    return refusal;
  }
  if (asks_for_unknown(request.target))
    return redfish_error(501, "QueryNotSupported", "Querying is not supported.");
  if (reads && !path.contains("/Actions/")) return read(path);
  return act(request, path);
}

HttpResponse BmcService::act(const HttpRequest& request, const std::string& path) {
  const auto& method = request.method;
  if (method == "DELETE" && path.starts_with(std::string{kSessions} + "/")) return log_out(path);
  const bool resets = path == std::string{kSystem} + "/Actions/ComputerSystem.Reset";
  if (resets) return method == "POST" ? reset_system(machine_, request) : not_allowed("POST");
  const bool restarts = path == std::string{kManagers} + "BMC/Actions/Manager.Reset";
  if (restarts) return method == "POST" ? restart_manager(request) : not_allowed("POST");
  const auto tree = resources(machine_);
  const auto found = tree.find(path);
  if (path == kSystem && method == "PATCH") {
    const auto match = request.header("if-match");
    const bool stale = !match.empty() && match != "*" && match != etag_of(found->second);
    if (stale) return redfish_error(412, "PreconditionFailed", "The ETag supplied did not match.");
    return patch_system(machine_, request);
  }
  const bool is_there = found != tree.end() || path == kSessions ||
                        path == "/redfish/v1/SessionService" || path == "/redfish/v1";
  if (!is_there) return missing(path);
  return not_allowed(path == kSystem ? "GET, HEAD, PATCH" : "GET, HEAD");
}

HttpResponse BmcService::read(const std::string& path) {
  auto tree = resources(machine_);
  add_sessions(tree);
  const auto found = tree.find(path);
  if (found == tree.end()) return missing(path);
  auto response = answer(200, found->second);
  response.headers["ETag"] = etag_of(found->second);
  return response;
}

void BmcService::add_sessions(ResourceTree& tree) {
  for (const auto& [id, session] : sessions_.all())
    tree[std::string{kSessions} + "/" + id] = session_text(session);
  add_collection(tree, std::string{kSessions}, "#SessionCollection.SessionCollection",
                 "Session Collection");
  tree["/redfish/v1/SessionService"] = service_text(kSessionTimeout);
}

bool BmcService::accepts(const std::string& user, const std::string& password) const {
  const bool changed = find_fault(machine_.faults(), FaultKind::bmc_wrong_password) != nullptr;
  return !changed && user == account_.user && password == account_.password;
}

bool BmcService::knows(const HttpRequest& request) {
  if (sessions_.use(request.header("x-auth-token"))) return true;
  const auto header = request.header("authorization");
  if (!lower_case(header).starts_with("basic ")) return false;
  const auto plain_text = from_base64(trimmed(std::string_view{header}.substr(6)));
  const auto colon = plain_text.find(':');
  const bool good = colon != std::string::npos &&
                    accepts(plain_text.substr(0, colon), plain_text.substr(colon + 1));
  if (!good) ++refused_;
  return good;
}

HttpResponse BmcService::log_in(const HttpRequest& request) {
  const auto body = parse_json(request.body);
  if (!body)
    return redfish_error(400, "MalformedJSON", "The request body contains malformed JSON.");
  // Not text_at(): a password may begin with a blank.
  const auto text = [&](std::string_view key) {
    const auto* found = find(body.assume_value(), key);
    return found && found->is_string() ? std::string{found->as_string()} : std::string{};
  };
  const auto user = text("UserName");
  if (!accepts(user, text("Password"))) {
    ++refused_;
    return redfish_error(401, "ResourceAtUriUnauthorized",
                         "While accessing the resource at /redfish/v1/SessionService/Sessions, the "
                         "service received an authorization error: wrong user name or password.");
  }
  const auto session = sessions_.open(user);
  if (!session)
    return redfish_error(503, "SessionLimitExceeded",
                         "The session establishment failed due to the number of simultaneous "
                         "sessions exceeding the limit of the implementation.");
  auto response = answer(201, session_text(*session));
  response.headers["X-Auth-Token"] = session->token;
  response.headers["Location"] = std::string{kSessions} + "/" + session->id;
  return response;
}

HttpResponse BmcService::log_out(const std::string& path) {
  const bool closed = sessions_.close(path.substr(kSessions.size() + 1));
  return closed ? HttpResponse{.status = 204} : missing(path);
}

HttpResponse BmcService::restart_manager(const HttpRequest& request) {
  const auto body = parse_json(request.body);
  const auto type =
      body ? text_at(body.assume_value(), "ResetType").value_or("ForceRestart") : std::string{};
  if (type != "ForceRestart")
    return redfish_error(400, "ActionParameterValueNotInList",
                         "The value for the parameter ResetType is not in the list of acceptable "
                         "values.");
  sessions_ = BmcSessions{kMostSessions, kSessionTimeout};
  if (on_restart) on_restart();
  return {.status = 204};
}

}  // namespace cupel::rehearsal
