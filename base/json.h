#pragma once
// JSON from outside: bounded before it is read. Reading is tolerant: what is absent, null or of
// another type is simply not there.
#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel {
namespace json = boost::json;

/// One JSON document. Errors: kMalformed, with the offset. At most 64 levels deep.
/// Source: RFC 8259.
Result<json::value> parse_json(std::string_view text);

/// The value at `path` ("Status/State": object keys parted by '/'), or nullptr.
const json::value* find(const json::value& root, std::string_view path);
/// Not into a temporary, such as the copy that an object becomes where a value is asked for.
const json::value* find(json::value&& root, std::string_view path) = delete;

/// The text at `path`, without blanks around it; nothing if absent, not a text, or empty.
std::optional<std::string> text_at(const json::value& root, std::string_view path);

/// The number at `path`, also where it was written as a text ("32"); nothing otherwise.
std::optional<double> number_at(const json::value& root, std::string_view path);

/// The boolean at `path`; nothing if absent or of another type.
std::optional<bool> flag_at(const json::value& root, std::string_view path);

}  // namespace cupel
