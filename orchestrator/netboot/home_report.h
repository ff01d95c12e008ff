#pragma once
// The first report of an installed system: JSON, or the form that cloud-init's phone_home posts.
// Source: cloud-init, "Phone Home".
#include <boost/json.hpp>

#include "base/result.h"

namespace cupel::netboot {

/// As the protocol's JSON: of a form, "ssh_host_keys" and "hostname". Errors: kMalformed.
Result<boost::json::object> parse_home_report(std::string_view body);

}  // namespace cupel::netboot
