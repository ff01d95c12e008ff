#include "rehearsal/bmc/service.h"

#include "base/text.h"
#include "rehearsal/bmc/login.h"
#include "rehearsal/bmc/metadata.h"
#include "rehearsal/bmc/phrase.h"
#include "rehearsal/bmc/reading.h"
#include "rehearsal/bmc/refusals.h"

namespace cupel::rehearsal {
namespace {

constexpr std::string_view kUsers = "/redfish/v1/AccountService/Accounts/";

/// As the web pages of a BMC keep it: an iLO takes an upload with nothing else.
std::string session_in_cookie(const HttpRequest& request) {
  for (const auto part : split(request.header("cookie"), ';')) {
    const auto one = trimmed(part);
    if (one.starts_with("sessionKey=")) return std::string{one.substr(11)};
  }
  return {};
}

/// A star in a route stands for one name.
bool fits(const Route& route, const std::string& path) {
  return is_like(path, route.path) &&
         std::ranges::count(path, '/') == std::ranges::count(route.path, '/');
}

const ReceivedBody& nothing_received() {
  static const ReceivedBody nothing;
  return nothing;
}

/// Source: DSP0266, "PATCH (update)": OData's annotations are left out; with nothing else it is an
/// error.
bool only_odata(json::object& body) {
  const auto reported = body.size();
  for (const auto* name : {"@odata.id", "@odata.type", "@odata.etag", "@odata.context"})
    body.erase(name);
  return body.empty() && reported > 0;
}

}  // namespace

ResourceTree BmcService::tree(const HttpRequest& request, const std::string& path) {
  const bool all = request.target.contains("expand");
  auto tree = all ? resources(view()) : resources_around(view(), path);
  add_sessions(tree, sessions_);
  return tree;
}

HttpResponse BmcService::handle(const HttpRequest& request) {
  ++requests_;
  settle();
  auto path = path_of(request.target);
  // DSP0266, "POST (create)": a collection's Members stand for it.
  constexpr std::string_view kMembers = "/Members";
  if (request.method == "POST" && path.ends_with(kMembers))
    path.resize(path.size() - kMembers.size());
  const auto met = rules_.meet(request.method, path);
  auto response = met.rule ? ruled(Rule{*met.rule}, request, path) : answered(request, path);
  if (rules_.looks_inside()) {
    auto body = parse_json(response.body);
    if (body && rules_.change_inside(request.method, path, *body))
      response.body = json::serialize(*body);
  }
  response.late += met.late;
  response.headers["OData-Version"] = "4.0";
  response.headers["Cache-Control"] = "no-cache";
  if (request.method == "HEAD") response.body.clear();
  return response;
}

HttpResponse BmcService::ruled(const Rule& rule, const HttpRequest& request,
                               const std::string& path) {
  const bool instead =
      rule.does == Does::status || rule.does == Does::drop || rule.does == Does::black_hole;
  HttpResponse response;
  if (!instead || rule.effect) response = answered(request, path);
  if (instead)
    response = {.status = 200, .headers = {{"Content-Type", "application/json; charset=utf-8"}}};
  if (instead || rule.does == Does::replace) response.body = rule.body.value_or("");
  if (rule.status != 0) response.status = rule.status;
  for (const auto& [name, value] : rule.headers) response.headers[name] = value;
  response.cut = rule.does == Does::drop;
  response.silent = rule.does == Does::black_hole;
  if (rule.does == Does::truncate) response.breaks_off = rule.bytes;
  auto body = rule.does == Does::merge ? parse_json(response.body) : Result<json::value>{nullptr};
  if (rule.does == Does::merge && body) {
    merge(*body, rule.merge);
    response.body = json::serialize(*body);
  }
  return response;
}

HttpResponse BmcService::answered(const HttpRequest& request, const std::string& path) {
  const auto odata = request.header("odata-version");
  if (!odata.empty() && odata != "4.0")
    return redfish_error(412, "PreconditionFailed", "The OData version is not supported.");
  auto patience = busy();
  const bool boots = patience && state_.update_behavior.boots_with_400 && sink_of(request);
  if (boots) patience = redfish_error(400, "GeneralError", "The BMC has not booted yet.");
  auto response = patience ? std::move(*patience) : routed(request, path);
  phrase_error(response, behavior().errors);
  response.late = thinking(request, path);
  if (reads(request) && response.status == 200 && response.stream == nullptr)
    response.headers["Allow"] = methods_at(path);
  return response;
}

/// What may be done to a resource that is there (DSP0266, "Response headers": Allow).
std::string BmcService::methods_at(const std::string& path) const {
  std::string allow = "GET, HEAD";
  for (const auto& route : routes_of(view()))
    if (fits(route, path)) allow += ", " + std::string{route.method};
  if (path == kSessionPath) allow += ", POST";
  if (path.starts_with(std::string{kSessionPath} + "/")) allow += ", DELETE";
  return allow;
}

HttpResponse BmcService::routed(const HttpRequest& request, const std::string& path) {
  if (path == "/redfish" && reads(request))
    return answer(200, json::object{{"v1", "/redfish/v1/"}});
  // A MegaRAC knows nobody while it writes its own firmware.
  const bool locked = state_.update_behavior.locks_while_flashing && state_.updates.writes_bmc();
  if (path == kSessionPath && request.method == "POST")
    return locked ? no_session() : log_in(request);
  // DSP0266, 13.3.1: the root is for everybody.
  if (path == "/redfish/v1/$metadata" && reads(request))
    return metadata_document(resources(view()));
  if (path == "/redfish/v1/odata" && reads(request)) return service_document(resources(view()));
  if (path == "/redfish/v1" && reads(request))
    return read_resource(behavior(), tree(request, path), request, path);
  const auto user = asker(request);
  if (user.empty() || locked) return no_session();
  const auto every = behavior().connection.forgets_every;
  if (every > 0 && ++good_requests_ % every == 0) return no_session();
  if (auto refusal = not_yet(request, path, user)) return *refusal;
  if (reads(request) && path == behavior().layout.sse) return stream();
  if (auto reported = monitored(request, path)) return std::move(*reported);
  if (auto reported = of_dump(request, path)) return std::move(*reported);
  if (reads(request) && !path.contains("/Actions/"))
    return read_resource(behavior(), tree(request, path), request, path);
  return act(request, path);
}

/// What a user may not do before a new password, or ever. Source: DSP0266, "Password change
/// required handling": the account itself, its PATCH, and the end of the session remain.
std::optional<HttpResponse> BmcService::not_yet(const HttpRequest& request, const std::string& path,
                                                const std::string& user) {
  auto& accounts = logins_->state_.accounts;
  const auto id = accounts.id_of(user);
  const auto* account = accounts.find(id);
  if (!account) return std::nullopt;
  const auto own = std::string{kUsers} + id;
  const bool leaves = request.method == "DELETE" && path.starts_with(kSessionPath);
  if (path == own || leaves) return std::nullopt;
  if (account->must_change) {
    return registry_error(403, "Base.1.12.PasswordChangeRequired",
                          "The password provided for this account must be changed before access "
                          "is granted. PATCH the Password property for this account located at the "
                          "target URI '" +
                              own + "' to complete this process.",
                          json::array{json::value(own)});
  }
  if (account->role == "ReadOnly" && !reads(request))
    return redfish_error(403, "InsufficientPrivilege",
                         "There are insufficient privileges for the account or credentials "
                         "associated with the current session to perform the requested operation.");
  return std::nullopt;
}

HttpResponse BmcService::stream() {
  auto stream = state_.log.subscribe();
  if (!stream)
    return redfish_error(503, "EventSubscriptionLimitExceeded",
                         "The event subscription failed due to the number of simultaneous "
                         "subscriptions exceeding the limit of the implementation.");
  return {.headers = {{"Content-Type", "text/event-stream"}}, .stream = std::move(stream)};
}

HttpResponse BmcService::act(const HttpRequest& request, const std::string& path) {
  if (request.method == "DELETE" && path.starts_with(std::string{kSessionPath} + "/"))
    return logged_out(sessions_, path);
  const auto all = tree(request, path);
  const auto found = all.find(path);
  const auto* resource = found == all.end() ? nullptr : &found->second;
  std::string allow = resource ? "GET, HEAD" : "";
  for (const auto& route : routes_of(view())) {
    const bool is_there = resource != nullptr || path.contains("/Actions/") || route.takes_anything;
    if (!is_there || !fits(route, path)) continue;
    if (route.method == request.method) return change(route, request, path, resource);
    allow += (allow.empty() ? "" : ", ") + std::string{route.method};
  }
  return allow.empty() ? missing(path) : not_allowed(std::move(allow));
}

HttpResponse BmcService::change(const Route& route, const HttpRequest& request,
                                const std::string& path, const json::object* resource) {
  const auto& tags = behavior().tags;
  const bool patches = route.method == "PATCH";
  const bool is_action = !patches && !route.takes_anything;
  if (is_action && tags.refused_on_post && !request.header("if-match").empty())
    return redfish_error(412, "PreconditionFailed", "The ETag supplied did not match.");
  if (patches && resource)
    if (auto unmet = unmet_condition(tags, *resource, request, good_tags_)) return *unmet;
  auto received = request.received;
  if (route.takes_anything && !received) {
    const auto sink = sink_of(request);
    if (!sink->take(request.body)) return {.cut = true};
    received = sink->finish();
  }
  auto asked = change_of(request, path, received ? *received : nothing_received());
  if ((!asked.empty || patches) && !route.takes_anything) {
    auto body = parse_json(request.body);
    if (!body || !body->is_object()) return malformed();
    asked.body = std::move(body->as_object());
    if (patches && only_odata(asked.body))
      return redfish_error(400, "NoOperation", "The request body has nothing to change.");
  }
  auto response = route.change(asked);
  expect_next();
  const auto now = patches ? tree(request, path) : ResourceTree{};
  const auto changed = now.find(path);
  phrase_success(response, behavior().thanks, changed == now.end() ? nullptr : &changed->second);
  return response;
}

bool BmcService::accepts(const std::string& user, const std::string& password) {
  for (const auto kind : {FaultKind::bmc_wrong_password, FaultKind::bmc_locked})
    if (find_fault(machine_.faults(), kind)) return false;
  const auto now = machine_.clock().elapsed();
  return state_.accounts.check(user, password, now) == BmcAccounts::Login::good;
}

/// The user behind a request; empty: nobody who may ask.
std::string BmcService::asker(const HttpRequest& request) {
  if (logins_ != this) return logins_->asker(request);
  if (const auto* session = sessions_.use(request.header("x-auth-token"))) return session->user;
  if (const auto* session = sessions_.use(session_in_cookie(request))) return session->user;
  const auto login = basic_login(request);
  if (!login) return {};
  const bool good = accepts(login->user, login->password);
  if (!good) ++refused_;
  return good ? login->user : std::string{};
}

HttpResponse BmcService::log_in(const HttpRequest& request) {
  const auto login = session_login(request);
  if (!login) return malformed();
  if (!accepts(login->user, login->password)) {
    ++refused_;
    return wrong_login();
  }
  const bool full = find_fault(machine_.faults(), FaultKind::bmc_sessions_full) != nullptr;
  const auto session = full ? std::nullopt : sessions_.open(login->user);
  if (!session) return too_many_sessions();
  auto reported = session_text(*session);
  const auto id = state_.accounts.id_of(login->user);
  if (state_.accounts.find(id)->must_change)
    reported["@Message.ExtendedInfo"] =
        json::array{{{"MessageId", "Base.1.12.PasswordChangeRequired"},
                     {"Message", "The password provided for this account must be changed."},
                     {"MessageArgs", json::array{json::value(std::string{kUsers} + id)}},
                     {"Severity", "Critical"}}};
  return logged_in(*session, reported);
}

}  // namespace cupel::rehearsal
