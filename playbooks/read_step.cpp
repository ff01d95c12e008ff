#include "playbooks/read_step.h"

#include <fmt/format.h>

#include "base/text.h"
#include "burnin/stage.h"
#include "playbooks/format.h"
#include "playbooks/read_parameters.h"
#include "playbooks/roll_out.h"

namespace cupel::playbooks {
namespace {

using inventory::Place;
using inventory::Problem;
using inventory::YamlValue;

std::optional<std::string> text_at(const YamlValue& map, std::string_view key) {
  const auto* value = map.entry(key);
  return value == nullptr ? std::nullopt : std::optional{value->text};
}

std::optional<int> count_at(const YamlValue& map, std::string_view key) {
  const auto text = text_at(map, key);
  return text ? number<int>(*text) : std::nullopt;
}

std::vector<std::string> texts_of(const YamlValue& value) {
  if (value.kind == YamlValue::Kind::scalar) return {value.text};
  std::vector<std::string> texts;
  for (const auto& item : value.items) texts.push_back(item.text);
  return texts;
}

/// One test, or what a map of several says.
void add_tests(const YamlValue& value, Condition condition, std::vector<Condition>& conditions,
               std::vector<Problem>& problems) {
  using Test = Condition::Test;
  condition.where.line = value.line;
  condition.where.column = value.column;
  if (value.kind != YamlValue::Kind::map) {
    condition.values = texts_of(value);
    conditions.push_back(std::move(condition));
    return;
  }
  if (value.items.empty())
    problems.push_back({condition.where, "a condition needs is, not, at_least or at_most"});
  for (const auto& item : value.items) {
    auto one = condition;
    if (item.key == "is" || item.key == "not") {
      one.test = item.key == "is" ? Test::is : Test::is_not;
      one.values = texts_of(item);
    } else {
      one.test = item.key == "at_least" ? Test::at_least : Test::at_most;
      one.number = number<double>(item.text).value_or(0);
    }
    conditions.push_back(std::move(one));
  }
}

std::span<const burnin::ParameterRow> parameters_of(const PlaybookStep& step) {
  if (step.kind == StepKind::stage) return burnin::stage(step.name)->parameters;
  return row_of(step.kind).parameters;
}

void read_with(const YamlValue& item, PlaybookStep& step, const std::string& file,
               std::vector<Problem>& problems) {
  const auto rows = parameters_of(step);
  std::vector<std::string_view> known;
  for (const auto& row : rows) known.push_back(row.name);
  const auto* with = item.entry("with");
  if (with != nullptr && with->kind == YamlValue::Kind::map)
    for (const auto& entry : with->items) {
      const auto row = std::ranges::find(rows, entry.key, &burnin::ParameterRow::name);
      if (row == rows.end()) {
        problems.push_back(
            {{file, entry.key_line, entry.key_column},
             fmt::format("'{}' has no parameter '{}'{}", step.name, printable(entry.key),
                         inventory::did_you_mean(entry.key, std::span{known}))});
        continue;
      }
      if (!entry.text.contains("${")) conforms(entry, shape_of(*row), entry.key, file, problems);
      step.with.emplace(entry.key, entry.text);
    }
  for (const auto& row : rows)
    if (row.fallback.empty() && !step.with.contains(std::string{row.name}))
      problems.push_back({step.where, fmt::format("'{0}' needs with: {{{1}: ...}}: {2}", step.name,
                                                  row.name, row.summary)});
}

void read_admission(const YamlValue& item, PlaybookStep& step) {
  const auto together = text_at(item, "group_by").value_or("alone");
  step.together = together == "pairs"  ? Together::pairs
                  : together == "rack" ? Together::rack
                  : together == "all"  ? Together::all
                                       : Together::alone;
  if (const auto* stop = item.entry("stop_after")) {
    step.stop_after.failures = count_at(*stop, "failures");
    if (const auto share = text_at(*stop, "share")) step.stop_after.share = number<double>(*share);
  }
  if (const auto* claims = item.entry("claims"))
    for (const auto& each : claims->items) {
      Claim claim;
      claim.resource = *text_at(each, "resource");
      const auto scope = text_at(each, "scope").value_or("site");
      claim.scope = scope == "node"   ? Claim::Scope::node
                    : scope == "rack" ? Claim::Scope::rack
                                      : Claim::Scope::site;
      if (scope == "leaf-group") claim.resource = per_leaf_group(claim.resource);
      claim.count = count_at(each, "count").value_or(1);
      step.claims.push_back(std::move(claim));
    }
}

/// Kind and base name. False where it is neither or both of step and stage.
bool read_kind(const YamlValue& item, PlaybookStep& step, std::vector<Problem>& problems) {
  const auto kind = text_at(item, "step"), stage = text_at(item, "stage");
  if (kind.has_value() == stage.has_value()) {
    problems.push_back(
        {step.where, "a step needs exactly one of step: KIND, stage: NAME and include: FILE"});
    return false;
  }
  step.name = kind ? *kind : *stage;
  const auto* row = kind ? step_kind(*kind) : nullptr;
  step.kind = row == nullptr ? StepKind::stage : row->kind;
  return kind ? row != nullptr
              : burnin::stages().end() !=
                    std::ranges::find(burnin::stages(), *stage, &burnin::Stage::name);
}

std::vector<PlaybookStep> for_each_item(const YamlValue& item, const PlaybookStep& step,
                                        const std::string& file, std::vector<Problem>& problems) {
  const auto* each = item.entry("foreach");
  if (each == nullptr) return {step};
  if (step.name.contains('@'))
    problems.push_back({step.where, "as: and foreach: both give the step a name; use one of them"});
  if (each->kind == YamlValue::Kind::map) {
    auto one = step;
    one.each = inventory::part_kind(*text_at(*each, "part"));
    return {one};
  }
  std::vector<PlaybookStep> steps;
  for (const auto& turn : each->items) {
    auto& one = steps.emplace_back(step);
    one.name += "@" + turn.text;
    for (auto& [name, value] : one.with) {
      value = filled_in(value, {{"each", turn.text}});
      const auto row = std::ranges::find(parameters_of(step), name, &burnin::ParameterRow::name);
      YamlValue filled = turn;
      filled.text = value;
      conforms(filled, shape_of(*row), name, file, problems);
    }
  }
  return steps;
}

}  // namespace

std::vector<Condition> read_conditions(const YamlValue& item, const std::string& file,
                                       std::vector<Problem>& problems) {
  std::vector<Condition> conditions;
  const auto* when = item.entry("when");
  if (when == nullptr) return conditions;
  for (const auto& each : when->items) {
    const bool rack = each.key == "rack";
    if (rack || each.key == "profile") {
      const auto about = rack ? Condition::About::rack : Condition::About::profile;
      add_tests(each, {about, {}, {}, {}, 0, {file, 0, 0}}, conditions, problems);
      continue;
    }
    const auto about = each.key == "fact"      ? Condition::About::fact
                       : each.key == "measure" ? Condition::About::measure
                                               : Condition::About::parameter;
    for (const auto& named : each.items)
      add_tests(named, {about, named.key, {}, {}, 0, {file, 0, 0}}, conditions, problems);
  }
  return conditions;
}

std::vector<PlaybookStep> read_step(const YamlValue& item, const std::string& file,
                                    std::vector<Problem>& problems) {
  PlaybookStep step;
  step.where = {file, item.line, item.column};
  const bool fits = conforms(item, step_shape(), "step", file, problems);
  if (item.kind != YamlValue::Kind::map || !read_kind(item, step, problems)) return {};
  read_with(item, step, file, problems);
  if (!fits) return {};
  if (const auto again = text_at(item, "as")) step.name += "@" + *again;
  if (const auto deadline = text_at(item, "deadline"))
    step.deadline = inventory::duration_of(*deadline);
  step.tries = count_at(item, "max_attempts");
  step.on_failure = text_at(item, "on_failure") == "continue" ? OnFailure::go_on : OnFailure::stop;
  step.when = read_conditions(item, file, problems);
  read_admission(item, step);
  return for_each_item(item, step, file, problems);
}

}  // namespace cupel::playbooks
