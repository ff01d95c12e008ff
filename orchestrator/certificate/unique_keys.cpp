#include "orchestrator/certificate/unique_keys.h"

namespace cupel::certificate {
namespace {

/// Each member of an object has one, outside of all texts.
std::size_t colons_of(std::string_view text) {
  std::size_t colons = 0;
  bool in_text = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (in_text && text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      in_text = !in_text;
    else if (!in_text && text[at] == ':')
      ++colons;
  }
  return colons;
}

/// parse_json() has bounded the depth.
std::size_t members_of(const json::value& value) {
  std::size_t members = 0;
  if (const auto* object = value.if_object())
    for (const auto& [key, each] : *object) members += 1 + members_of(each);
  if (const auto* array = value.if_array())
    for (const auto& each : *array) members += members_of(each);
  return members;
}

}  // namespace

Result<json::value> parse_unique(std::string_view text) {
  TRY(auto value, parse_json(text));
  if (colons_of(text) == members_of(value)) return value;
  return Error{Code::kMalformed,
               "an object names one key twice, so that readers differ about its value"};
}

}  // namespace cupel::certificate
