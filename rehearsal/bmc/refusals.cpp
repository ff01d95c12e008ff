#include "rehearsal/bmc/refusals.h"

#include <fmt/format.h>

namespace cupel::rehearsal {

std::string path_of(std::string_view target) {
  std::string path{target.substr(0, target.find_first_of("?#"))};
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

bool reads(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
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

HttpResponse malformed() {
  return redfish_error(400, "MalformedJSON", "The request body contains malformed JSON.");
}

HttpResponse missing_parameter(std::string_view action, std::string_view name) {
  return redfish_error(400, "ActionParameterMissing",
                       fmt::format("The action {} requires the parameter {} to be present in the "
                                   "request body.",
                                   action, name));
}

HttpResponse value_not_in_list(std::string_view action, std::string_view name,
                               std::string_view value) {
  return redfish_error(400, "ActionParameterValueNotInList",
                       fmt::format("The value '{}' for the parameter {} in the action {} is not in "
                                   "the list of acceptable values.",
                                   value, name, action));
}

HttpResponse no_session() {
  auto refusal = redfish_error(401, "NoValidSession",
                               "There is no valid session established with the implementation.");
  refusal.headers["WWW-Authenticate"] = "Basic realm=\"Redfish\"";
  return refusal;
}

}  // namespace cupel::rehearsal
