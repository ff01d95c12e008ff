#include "orchestrator/report/requalified.h"

#include <boost/json.hpp>

#include "base/json.h"

namespace cupel::report {
namespace {

json::array words_json(const std::vector<std::string>& words) {
  return json::array(words.begin(), words.end());
}

std::vector<std::string> words_at(const json::value& object, std::string_view key) {
  std::vector<std::string> all;
  const auto* list = find(object, key);
  if (list == nullptr || !list->is_array()) return all;
  for (const auto& each : list->get_array())
    if (each.is_string()) all.emplace_back(each.get_string());
  return all;
}

}  // namespace

json::object to_json(const Requalified& requalified) {
  return {{"of_run", requalified.run},
          {"changes", words_json(requalified.changes)},
          {"voided", words_json(requalified.voided)},
          {"open", words_json(requalified.open)}};
}

std::optional<Requalified> requalified_from(const json::value* value) {
  if (value == nullptr) return std::nullopt;
  const auto* run = find(*value, "of_run");
  if (run == nullptr || !run->is_int64() || run->get_int64() <= 0) return std::nullopt;
  return Requalified{run->get_int64(), words_at(*value, "changes"), words_at(*value, "voided"),
                     words_at(*value, "open")};
}

}  // namespace cupel::report
