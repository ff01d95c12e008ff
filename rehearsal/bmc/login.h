#pragma once
// How somebody logs in to a Redfish service, as requests, resources and answers. Who may: the
// service. Source: DSP0266 1.15, "Redfish session login authentication", "HTTP Basic
// authentication".
#include <optional>
#include <string>

#include "rehearsal/bmc/message.h"
#include "rehearsal/bmc/resources.h"
#include "rehearsal/bmc/sessions.h"

namespace cupel::rehearsal {

inline constexpr std::string_view kSessionPath = "/redfish/v1/SessionService/Sessions";

struct LoginWords {
  std::string user, password;
};

/// Of a request with Basic authentication, both empty where it is not in order; nothing of any
/// other.
std::optional<LoginWords> basic_login(const HttpRequest& request);
/// Of a new session's body; nothing where that is no JSON.
std::optional<LoginWords> session_login(const HttpRequest& request);

/// The service, the collection of sessions and each of them.
void add_sessions(ResourceTree& tree, BmcSessions& sessions);
json::object session_text(const BmcSession& session);
/// 201: `told` is what session_text() says, and perhaps more.
HttpResponse logged_in(const BmcSession& session, const json::object& reported);
/// 204, or 404 where there is no such session.
HttpResponse logged_out(BmcSessions& sessions, const std::string& path);
/// 401.
HttpResponse wrong_login();
/// 503.
HttpResponse too_many_sessions();

}  // namespace cupel::rehearsal
