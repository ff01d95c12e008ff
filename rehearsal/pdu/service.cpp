#include "rehearsal/pdu/service.h"

#include <fmt/format.h>

#include "base/json.h"
#include "rehearsal/bmc/reading.h"
#include "rehearsal/bmc/refusals.h"

namespace cupel::rehearsal {
namespace {

constexpr std::string_view kRoot = "/redfish/v1";

/// As DSP0266 asks for it, and none of the vendors' own ways.
const VendorBehavior& behavior() {
  static const VendorBehavior plain{.vendor = "pdu", .connection = {.expand = false}};
  return plain;
}

}  // namespace

PduService::PduService(asio::any_io_executor executor, const Clock& clock, RackSite& site,
                       std::string name, LoginWords login)
    : executor_{executor},
      clock_{clock},
      site_{site},
      name_{std::move(name)},
      login_{std::move(login)} {}

HttpResponse PduService::handle(const HttpRequest& request) {
  auto response = routed(request, path_of(request.target));
  response.headers["OData-Version"] = "4.0";
  response.headers["Cache-Control"] = "no-cache";
  if (request.method == "HEAD") response.body.clear();
  return response;
}

ResourceTree PduService::tree() {
  auto tree = pdu_resources({.site = site_, .name = name_});
  add_sessions(tree, sessions_);
  return tree;
}

HttpResponse PduService::routed(const HttpRequest& request, const std::string& path) {
  if (path == "/redfish" && reads(request))
    return answer(200, json::object{{"v1", "/redfish/v1/"}});
  if (path == kSessionPath && request.method == "POST") return log_in(request);
  // DSP0266, 13.3.1: the root is for everybody.
  const bool open = path == kRoot && reads(request);
  if (!open && !knows(request)) return no_session();
  if (reads(request) && !path.contains("/Actions/"))
    return read_resource(behavior(), tree(), request, path);
  return act(request, path);
}

HttpResponse PduService::act(const HttpRequest& request, const std::string& path) {
  if (request.method == "DELETE" && path.starts_with(std::string{kSessionPath} + "/"))
    return logged_out(sessions_, path);
  for (const auto& outlet : site_.outlets(name_)) {
    if (path != control_path(outlet.name)) continue;
    return request.method == "POST" ? control(outlet, request) : not_allowed("POST");
  }
  return tree().contains(path) ? not_allowed("GET, HEAD") : missing(path);
}

/// Off is at once; on again, after a cycle, when its time has come.
HttpResponse PduService::control(const PowerOutlet& outlet, const HttpRequest& request) {
  const auto action = fmt::format("{}.PowerControl", schema_of(outlet.name));
  const auto body = parse_json(request.body);
  if (!body || !body->is_object()) return malformed();
  const auto requested = text_at(*body, "PowerState");
  if (!requested) return missing_parameter(action, "PowerState");
  if (*requested == "PowerCycle") {
    cycle(outlet.name);
  } else if (*requested == "On" || *requested == "Off") {
    cycles_.erase(outlet.name);
    site_.switch_outlet(name_, outlet.name, *requested == "On");
  } else {
    return value_not_in_list(action, "PowerState", *requested);
  }
  return {.status = 204};
}

/// On again by itself: whoever asked for it may be gone by then.
void PduService::cycle(const std::string& outlet) {
  site_.switch_outlet(name_, outlet, false);
  auto& timer = cycles_.try_emplace(outlet, executor_, clock_).first->second;
  timer.start(kPowerCycle, [this, outlet] { site_.switch_outlet(name_, outlet, true); });
}

bool PduService::accepts(const LoginWords& login) const {
  return login.user == login_.user && login.password == login_.password;
}

bool PduService::knows(const HttpRequest& request) {
  if (sessions_.use(request.header("x-auth-token")) != nullptr) return true;
  const auto login = basic_login(request);
  return login && accepts(*login);
}

HttpResponse PduService::log_in(const HttpRequest& request) {
  const auto login = session_login(request);
  if (!login) return malformed();
  if (!accepts(*login)) return wrong_login();
  const auto session = sessions_.open(login->user);
  return session ? logged_in(*session, session_text(*session)) : too_many_sessions();
}

}  // namespace cupel::rehearsal
