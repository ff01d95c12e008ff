#include "playbooks/write_playbook.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/enum_words.h"
#include "burnin/stage.h"
#include "playbooks/roll_out.h"

namespace cupel::playbooks {
namespace {

namespace json = boost::json;  // a flow map of YAML with every text quoted

json::array texts_json(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

std::string span_word(std::chrono::seconds span) { return fmt::format("{}s", span.count()); }

/// Tests of one thing: several of them are one map.
void add_test(json::object& tests, const Condition& condition) {
  using Test = Condition::Test;
  switch (condition.test) {
    case Test::is:
      tests["is"] = texts_json(condition.values);
      return;
    case Test::is_not:
      tests["not"] = texts_json(condition.values);
      return;
    case Test::at_least:
      tests["at_least"] = condition.number;
      return;
    case Test::at_most:
      tests["at_most"] = condition.number;
      return;
  }
}

json::object when_json(const std::vector<Condition>& conditions) {
  using About = Condition::About;
  json::object when;
  for (const auto& each : conditions) {
    const bool named = each.about == About::fact || each.about == About::measure;
    const auto* key = each.about == About::fact      ? "fact"
                      : each.about == About::measure ? "measure"
                      : each.about == About::profile ? "profile"
                                                     : "rack";
    if (each.about == About::parameter) continue;  // settled when it was read
    auto& place = when[key];
    if (!place.is_object()) place = json::object{};
    if (!named) {
      add_test(place.get_object(), each);
      continue;
    }
    auto& tests = place.get_object()[each.name];
    if (!tests.is_object()) tests = json::object{};
    add_test(tests.get_object(), each);
  }
  return when;
}

json::array claims_json(const std::vector<Claim>& claims) {
  json::array all;
  for (const auto& each : claims) {
    const auto resource = limited_by(each.resource);
    const bool of_leaf = resource != each.resource;
    all.push_back({{"resource", resource},
                   {"scope", of_leaf ? "leaf-group" : enum_word<'-'>(each.scope)},
                   {"count", each.count}});
  }
  return all;
}

json::object with_json(const burnin::Parameters& with) {
  json::object all;
  for (const auto& [name, value] : with) all[name] = value;
  return all;
}

json::object step_json(const PlaybookStep& step) {
  const auto base = burnin::base_name(step.name);
  json::object object{{step.kind == StepKind::stage ? "stage" : "step", base}};
  if (base != step.name) object["as"] = step.name.substr(base.size() + 1);
  if (step.each) object["foreach"] = {{"part", to_string(*step.each)}};
  if (!step.with.empty()) object["with"] = with_json(step.with);
  if (auto when = when_json(step.when); !when.empty()) object["when"] = std::move(when);
  if (step.deadline) object["deadline"] = span_word(*step.deadline);
  if (step.tries) object["max_attempts"] = *step.tries;
  if (step.on_failure == OnFailure::go_on) object["on_failure"] = "continue";
  if (step.together != Together::alone) object["group_by"] = enum_word<'-'>(step.together);
  json::object stop;
  if (step.stop_after.failures) stop["failures"] = *step.stop_after.failures;
  if (step.stop_after.share) stop["share"] = *step.stop_after.share;
  if (!stop.empty()) object["stop_after"] = std::move(stop);
  if (!step.claims.empty()) object["claims"] = claims_json(step.claims);
  return object;
}

/// The sizes of the first waves, and whether one node of each rack follows them.
std::string waves_text(const std::vector<int>& canary) {
  std::string text;
  json::array sizes;
  for (const int size : canary) {
    if (size == kOnePerRack) text += "one_per_rack: \"yes\"\n";
    if (size == kOneWrittenPerRack) text += "one_per_rack: images\n";
    if (size > 0) sizes.emplace_back(size);
  }
  if (!sizes.empty()) text += fmt::format("canary: {}\n", json::serialize(sizes));
  return text;
}

}  // namespace

std::string write_playbook(const Playbook& playbook) {
  auto text =
      fmt::format("playbook: {}\ndescription: {}\n", json::serialize(json::value(playbook.name)),
                  json::serialize(json::value(playbook.description)));
  if (playbook.nodes_at_once > 0) text += fmt::format("max_parallel: {}\n", playbook.nodes_at_once);
  if (playbook.priority != 0) text += fmt::format("priority: {}\n", playbook.priority);
  text += waves_text(playbook.canary);
  if (!playbook.limits.empty()) {
    json::object limits;
    for (const auto& [name, count] : playbook.limits) limits[name] = count;
    text += fmt::format("limits: {}\n", json::serialize(limits));
  }
  text += "steps:\n";
  for (const auto& step : playbook.steps)
    text += fmt::format("  - {}\n", json::serialize(step_json(step)));
  return text;
}

}  // namespace cupel::playbooks
