#pragma once
// JSON in which each object has a key once: two readers cannot see two different values there.
#include <string_view>

#include "base/json.h"

namespace cupel::certificate {

/// As parse_json(). Errors: kMalformed also where an object names one key twice, of which RFC 8259,
/// section 4, lets readers take either.
Result<json::value> parse_unique(std::string_view text);

}  // namespace cupel::certificate
