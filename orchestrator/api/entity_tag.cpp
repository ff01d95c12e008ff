#include "orchestrator/api/entity_tag.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::api {

bool has_tag(std::string_view list, std::string_view tag) {
  // Tags of this service have no comma: a piece of another one with commas is none of them.
  return std::ranges::any_of(split(list, ','), [&](std::string_view each) {
    auto wanted = trimmed(each);
    if (wanted.starts_with("W/")) wanted.remove_prefix(2);
    return wanted == tag || wanted == "*";
  });
}

bool has_strong_tag(std::string_view list, std::string_view tag) {
  return std::ranges::any_of(split(list, ','), [&](std::string_view each) {
    const auto wanted = trimmed(each);
    return wanted == tag || wanted == "*";
  });
}

}  // namespace cupel::api
