#pragma once
// Entity tags as requests name them. Source: RFC 9110, 8.8.3.
#include <string_view>

namespace cupel::api {

/// Whether If-None-Match has the tag, by the weak comparison: `W/"a"` is `"a"`. `*` has all of
/// them.
bool has_tag(std::string_view list, std::string_view tag);

/// The same of If-Match, by the strong comparison: a weak tag is none.
bool has_strong_tag(std::string_view list, std::string_view tag);

}  // namespace cupel::api
