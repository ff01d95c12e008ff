#include "orchestrator/api/entity_tag.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::api {

bool has_tag(std::string_view list, std::string_view tag) {
  // Tags of this service have no comma: a piece of another one with commas is none of them.
  return std::ranges::any_of(split(list, ','), [&](std::string_view each) {
    auto requested = trimmed(each);
    if (requested.starts_with("W/")) requested.remove_prefix(2);
    return requested == tag || requested == "*";
  });
}

bool has_strong_tag(std::string_view list, std::string_view tag) {
  return std::ranges::any_of(split(list, ','), [&](std::string_view each) {
    const auto requested = trimmed(each);
    return requested == tag || requested == "*";
  });
}

}  // namespace cupel::api
