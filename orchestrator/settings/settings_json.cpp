#include "orchestrator/settings/settings_json.h"

#include "base/text.h"

namespace cupel::settings {

boost::json::array to_json(const SettingsPlan& plan) {
  boost::json::array items;
  for (const auto& item : plan.items) {
    boost::json::object one{{"name", valid_utf8(item.name)},
                            {"current", valid_utf8(item.current)},
                            {"wanted", valid_utf8(item.expected)},
                            {"state", to_string(item.state)}};
    if (!item.refusal.empty()) one["refusal"] = valid_utf8(item.refusal);
    if (!item.note.empty()) one["note"] = valid_utf8(item.note);
    items.push_back(std::move(one));
  }
  return items;
}

}  // namespace cupel::settings
