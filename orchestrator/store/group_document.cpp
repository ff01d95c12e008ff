#include "orchestrator/store/group_document.h"

#include <algorithm>

#include "inventory/subject.h"

namespace cupel::store {
namespace {

using inventory::Subject;

constexpr std::string_view kGroupKey = "group:";  // no node's name has a colon

std::string link_text(const json::object& number) {
  const auto* part = number.if_contains("part");
  return part != nullptr && part->is_string() ? std::string{part->get_string()} : std::string{};
}

bool ends_at(const std::string& link, std::string_view node) {
  const auto subject = inventory::parse_subject(link);
  return subject && subject->kind == Subject::Kind::link &&
         (subject->name == node || subject->far_name == node);
}

bool is_behind(const json::object& number, std::string_view node) {
  const auto* behind = number.if_contains("behind");
  if (behind == nullptr || !behind->is_array()) return false;
  return std::ranges::any_of(behind->get_array(), [&](const json::value& each) {
    return each.is_string() && std::string_view{each.get_string()} == node;
  });
}

/// What the node's record has of it: who else is behind it is no part of that.
json::object without_others(json::object number) {
  number.erase("behind");
  return number;
}

/// Behind the node's own measurements.
void add_links_of(const json::object& of_group, std::string_view node, json::object& found) {
  const auto* links = of_group.if_contains("links");
  if (links == nullptr || !links->is_array()) return;
  auto& measurements = found["measurements"];
  if (!measurements.is_array()) measurements = json::array{};
  for (const auto& each : links->get_array()) {
    const auto* number = each.if_object();
    if (number != nullptr && (ends_at(link_text(*number), node) || is_behind(*number, node)))
      measurements.get_array().push_back(without_others(*number));
  }
}

}  // namespace

void add_links(json::object& document, std::string_view step, std::string_view first_member,
               std::span<const LinkNumber> links, std::span<const std::string> reasons) {
  const Subject group{Subject::Kind::group,
                      std::string{step.substr(0, step.find('@'))}.append(".").append(first_member)};
  json::array all;
  for (const auto& each : links) {
    json::object number{
        {"name", each.measure}, {"part", each.link}, {"value", each.value}, {"unit", each.unit}};
    if (!each.traced_to.empty()) number["traced_to"] = each.traced_to;
    if (!each.behind.empty())
      number["behind"] = json::array(each.behind.begin(), each.behind.end());
    all.push_back(std::move(number));
  }
  json::object found{{"links", std::move(all)}};
  if (!reasons.empty()) found["reasons"] = json::array(reasons.begin(), reasons.end());
  document[to_text(group)] = std::move(found);
}

std::optional<json::object> found_on(const json::object& document, std::string_view node) {
  const auto* mine = document.if_contains(node);
  if (mine == nullptr || !mine->is_object()) return std::nullopt;
  auto found = mine->get_object();
  for (const auto& [key, value] : document)
    if (std::string_view{key}.starts_with(kGroupKey) && value.is_object())
      add_links_of(value.get_object(), node, found);
  return found;
}

}  // namespace cupel::store
