#pragma once
// What any Redfish service refuses in the same words. Source: DSP0266 1.15, "HTTP methods", "Status
// codes".
#include <string>

#include "rehearsal/bmc/message.h"

namespace cupel::rehearsal {

/// Of "/redfish/v1/Systems/?$top=1": without the query and the last slash.
std::string path_of(std::string_view target);
/// Whether it only reads.
bool reads(const HttpRequest& request);

/// 405; `allow` is what may be done instead.
HttpResponse not_allowed(std::string allow);
/// 404.
HttpResponse missing(const std::string& path);
/// 400: no JSON, or not an object.
HttpResponse malformed();
/// 400, of an action: "ComputerSystem.Reset".
HttpResponse missing_parameter(std::string_view action, std::string_view name);
HttpResponse value_not_in_list(std::string_view action, std::string_view name,
                               std::string_view value);
/// 401: neither a session nor a user.
HttpResponse no_session();

}  // namespace cupel::rehearsal
