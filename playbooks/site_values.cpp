#include "playbooks/site_values.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "burnin/stage.h"
#include "playbooks/step_kind.h"

namespace cupel::playbooks {
namespace {

using SiteValues = std::set<std::tuple<std::string, std::string_view, std::string>>;

/// Scripts run as root on nodes, by programs of folders and in environments that the site names.
bool of_site(const burnin::ParameterRow& row) {
  return row.kind == burnin::ParameterRow::Kind::folder || row.name == "environment";
}

std::span<const burnin::ParameterRow> parameters_of(const PlaybookStep& step) {
  if (step.kind != StepKind::stage) return row_of(step.kind).parameters;
  const auto* stage = burnin::stage(std::string_view{step.name}.substr(0, step.name.find('@')));
  return stage == nullptr ? std::span<const burnin::ParameterRow>{} : stage->parameters;
}

/// Of each step: its name, the parameter's, and the value.
SiteValues site_values(const Playbook& playbook) {
  SiteValues found;
  for (const auto& step : playbook.steps)
    for (const auto& row : parameters_of(step)) {
      const auto value = step.with.find(std::string{row.name});
      if (of_site(row) && value != step.with.end())
        found.emplace(step.name, row.name, value->second);
    }
  return found;
}

std::optional<Playbook> loaded(const std::string& playbook, const Arguments& arguments) {
  std::vector<inventory::Problem> problems;
  auto read = load_playbook(playbook, problems, arguments);
  return problems.empty() ? std::move(read) : std::nullopt;
}

/// Whether a value that is only there with the argument has its text in it. A choice between steps
/// whose values the playbook has itself is none. An argument with "${" in it is not found by its
/// text: `foreach` puts the item into it.
bool changes(const SiteValues& with, const std::optional<Playbook>& without,
             const std::string& argument) {
  const auto before =
      without ? site_values(*without) : SiteValues{};  // one that cannot be left out
  if (argument.empty() || argument.contains("${")) return with != before;
  return std::ranges::any_of(with, [&](const auto& each) {
    return !before.contains(each) && std::get<2>(each).contains(argument);
  });
}

}  // namespace

std::vector<std::string> set_by_the_site(const std::string& playbook, const Arguments& arguments) {
  std::vector<std::string> names;
  const auto whole = loaded(playbook, arguments);
  if (!whole) return names;
  const auto values = site_values(*whole);
  for (const auto& [name, value] : arguments) {
    auto others = arguments;
    others.erase(name);
    if (changes(values, loaded(playbook, others), value)) names.push_back(name);
  }
  return names;
}

}  // namespace cupel::playbooks
