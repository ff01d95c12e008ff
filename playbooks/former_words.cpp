#include "playbooks/former_words.h"

#include <algorithm>
#include <set>
#include <utility>

#include "inventory/former_words.h"

namespace cupel::playbooks {
namespace {

using inventory::YamlValue;

class Replacing {
 public:
  Replacing(const std::string& file, std::vector<inventory::Problem>& warnings)
      : file_{file}, warnings_{warnings} {}

  void keys_of(YamlValue& map, FormerKey::In in) {
    if (map.kind != YamlValue::Kind::map) return;
    for (auto& item : map.items)
      for (const auto& row : kFormerKeys)
        if (row.in == in && item.key == row.former) replace(map, item, row.now);
  }

  /// Names of measures that conditions ask for.
  void measures_of(YamlValue& map) {
    if (map.kind != YamlValue::Kind::map) return;
    for (auto& item : map.items) replace(map, item, inventory::present_measure(item.key));
  }

 private:
  void replace(const YamlValue& map, YamlValue& item, std::string_view now) {
    if (item.key == now || map.entry(now) != nullptr) return;
    const auto former = std::exchange(item.key, std::string{now});
    if (!warned_.insert(former).second) return;
    warnings_.push_back(
        {{file_, item.key_line, item.key_column}, inventory::renamed_warning(former, now)});
  }

  const std::string& file_;
  std::vector<inventory::Problem>& warnings_;
  std::set<std::string> warned_{};
};

YamlValue* entry(YamlValue& map, std::string_view key) {
  if (map.kind != YamlValue::Kind::map) return nullptr;
  const auto found = std::ranges::find(map.items, key, &YamlValue::key);
  return found == map.items.end() ? nullptr : &*found;
}

}  // namespace

void replace_former_keys(YamlValue& playbook, const std::string& file,
                         std::vector<inventory::Problem>& warnings) {
  Replacing replacing{file, warnings};
  replacing.keys_of(playbook, FormerKey::In::playbook);
  auto* steps = entry(playbook, "steps");
  if (steps == nullptr || steps->kind != YamlValue::Kind::list) return;
  for (auto& step : steps->items) {
    const bool includes = entry(step, "include") != nullptr;
    if (!includes) replacing.keys_of(step, FormerKey::In::step);
    const auto* kind = entry(step, "step");
    auto* with = entry(step, "with");
    if (kind != nullptr && kind->text == "approval" && with != nullptr)
      replacing.keys_of(*with, FormerKey::In::approval);
    if (auto* when = entry(step, "when"))
      if (auto* measures = entry(*when, "measure")) replacing.measures_of(*measures);
  }
}

}  // namespace cupel::playbooks
