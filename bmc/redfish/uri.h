#pragma once
// URIs as BMCs write them. Pure.
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inventory/endpoint.h"

namespace cupel::bmc::redfish {

/// Whether a link stays within the Redfish service that it came from: a path under /redfish.
bool is_on_the_bmc(std::string_view uri);

/// Whether it is a path at all, of whatever service of the BMC (uploads: "/cgi-bin/uploadFile").
bool is_path(std::string_view uri);

/// The path of an absolute URL, or the path as it is; empty where there is none.
std::string path_of(std::string_view url);

/// The last name in a URI: "GPU1" of ".../Processors/GPU1/".
std::string_view last_name(std::string_view uri);

/// The same resource written in one way: no fragment, no slash twice or at the end.
std::string normal(std::string_view uri);

/// The path without its fragment, and with what RFC 3986 does not allow in one written as %XX.
/// Errors: kInvalid for what does not start with a slash.
Result<std::string> url_path(std::string_view path);

/// The path of a redirect that stays on the same BMC; nothing where it leads elsewhere.
std::optional<std::string> path_on(const inventory::Endpoint& endpoint, std::string_view target);

}  // namespace cupel::bmc::redfish
