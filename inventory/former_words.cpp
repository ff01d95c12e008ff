#include "inventory/former_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cupel::inventory {
namespace {

YamlValue* value_at(YamlValue& map, std::string_view key) {
  if (map.kind != YamlValue::Kind::map) return nullptr;
  const auto found = std::ranges::find(map.items, key, &YamlValue::key);
  return found == map.items.end() ? nullptr : &*found;
}

/// A criterion, or a list of them as deep as lists stand in lists.
void replace_in(YamlValue& value, const std::string& file, std::vector<Problem>* warnings,
                std::set<std::string>& warned) {
  if (value.kind == YamlValue::Kind::list)
    for (auto& item : value.items) replace_in(item, file, warnings, warned);
  auto* measure = value_at(value, "measure");
  if (measure == nullptr) return;
  const auto former = measure->text;
  measure->text = present_measure(former);
  if (measure->text == former || warnings == nullptr || !warned.insert(former).second) return;
  warnings->push_back(
      {{file, measure->line, measure->column}, renamed_warning(former, measure->text)});
}

}  // namespace

std::string_view present_measure(std::string_view name) {
  for (const auto& row : kFormerMeasures)
    if (row.former == name) return row.now;
  return name;
}

std::string renamed_warning(std::string_view former, std::string_view now) {
  return fmt::format("warning: '{}' is called '{}' now; the former name goes with the next release",
                     former, now);
}

void replace_former_measures(YamlValue& profile, const std::string& file,
                             std::vector<Problem>* warnings) {
  auto* criteria = value_at(profile, "criteria");
  if (criteria == nullptr || criteria->kind != YamlValue::Kind::map) return;
  std::set<std::string> warned;
  for (auto& stage : criteria->items) replace_in(stage, file, warnings, warned);
}

}  // namespace cupel::inventory
