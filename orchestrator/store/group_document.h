#pragma once
// The document that all events of a step name which several nodes did together: what was found on
// each node under its name, and what belongs to links under the group's ("group:tcp-pair.a01-n01").
// Pure.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace cupel::store {

/// A number of a link, as the document has it.
struct LinkNumber {
  std::string link;  // inventory/subject.h
  std::string measure;
  std::string unit{};
  double value = 0;
  std::string traced_to{};            // "a01-n02 to a01-n01"
  std::vector<std::string> behind{};  // nodes that it is about, beside those that `link` names
};

/// Puts what was found about links under the group's name, with what that rests on.
void add_links(json::object& document, std::string_view step, std::string_view first_member,
               std::span<const LinkNumber> links, std::span<const std::string> reasons = {});

/// What was found on the node, with the numbers of each link that ends there, and of parts of
/// switches that it is behind: their part is the link. Nothing where the document has nothing of
/// the node.
std::optional<json::object> found_on(const json::object& document, std::string_view node);

}  // namespace cupel::store
