#include "orchestrator/cli/firmware_text.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"
#include "inventory/judge_firmware.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/firmware/image_check.h"

namespace cupel::cli {
namespace {

using firmware::ComponentState;
using firmware::FirmwarePlan;
using firmware::FirmwareUpdate;
using firmware::RunningVersion;

/// "24.09.17", "96.00.89.00.01 (3 of 8), 97.00.82.00.5F (5 of 8)".
std::string running_text(const std::vector<RunningVersion>& running) {
  if (running.empty()) return "not reported";
  std::vector<std::pair<std::string, int>> versions;
  for (const auto& each : running) {
    const auto known = std::ranges::find(versions, each.version,
                                         [](const auto& one) -> auto& { return one.first; });
    if (known == versions.end())
      versions.emplace_back(each.version, 1);
    else
      ++known->second;
  }
  if (versions.size() == 1)
    return versions[0].first + (running.size() == 1 ? "" : fmt::format(" x {}", running.size()));
  std::vector<std::string> texts;
  for (const auto& [version, count] : versions)
    texts.push_back(fmt::format("{} ({} of {})", version, count, running.size()));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string state_text(const ComponentState& state) {
  if (!state.refusal.empty()) return "refused: " + state.refusal;
  if (state.is_at_baseline()) return "at the baseline";
  return "off the baseline";
}

std::size_t off(const FirmwarePlan& plan) {
  return static_cast<std::size_t>(std::ranges::count_if(
      plan.components, [](const auto& one) { return !one.is_at_baseline(); }));
}

/// "12m", "1h 5m".
std::string duration_text(std::chrono::seconds time) {
  const auto minutes = std::chrono::ceil<std::chrono::minutes>(time).count();
  return minutes < 60 ? fmt::format("{}m", minutes)
                      : fmt::format("{}h {}m", minutes / 60, minutes % 60);
}

template <class Words>
std::string words_of(const Words& words) {
  std::vector<std::string_view> texts;
  for (const auto word : words) texts.push_back(to_string(word));
  return fmt::format("{}", fmt::join(texts, ", "));
}

Row update_row(std::size_t number, const FirmwareUpdate& update, const std::string& refusal) {
  const auto& expected = *update.expected;
  std::string resets;
  const bool own = !update.comes_with_another;
  if (own && !expected.before.empty()) resets = words_of(expected.before) + " before";
  if (own && !expected.follow.empty())
    resets += (resets.empty() ? "" : "; ") + words_of(expected.follow) + " after";
  return {
      std::to_string(number),
      expected.component,
      update.version,
      fmt::format("{} {}", update.replaces.size(), update.replaces.size() == 1 ? "part" : "parts"),
      own ? duration_text(expected.takes) : "with the same image above",
      resets.empty() ? "no reset" : resets,
      refusal.empty() ? update.image.file : "refused: " + refusal};
}

std::string needs_text(const FirmwarePlan& plan) {
  const auto writes = std::ranges::count(plan.updates, false, &FirmwareUpdate::comes_with_another);
  return fmt::format("{} {}, about {}{}{}", writes, writes == 1 ? "update" : "updates",
                     duration_text(plan.takes), plan.restarts_host ? ", restarts the machine" : "",
                     plan.cycles_ac ? ", needs an AC cycle" : "");
}

/// "at the baseline (9 components)", "2 of 9 components off the baseline".
std::string summary(const FirmwarePlan& plan) {
  if (plan.is_at_baseline())
    return fmt::format("at the baseline ({} components)", plan.components.size());
  return fmt::format("{} of {} components off the baseline", off(plan), plan.components.size());
}

std::string component_table(const FirmwarePlan& plan, bool refusals) {
  std::vector<Row> rows{{"component", "running", "expected"}};
  if (refusals) rows.front().push_back("state");
  for (const auto& state : plan.components) {
    if (!refusals && state.is_at_baseline()) continue;
    Row row{state.expected->component, running_text(state.running),
            inventory::expected_version(*state.expected)};
    if (refusals) row.push_back(state_text(state));
    rows.push_back(std::move(row));
  }
  return table(rows);
}

boost::json::object object_of(const RunningVersion& version) {
  boost::json::object object{{"id", version.id}, {"version", version.version}};
  if (!version.name.empty()) object["name"] = version.name;
  if (!version.uri.empty()) object["uri"] = version.uri;
  return object;
}

boost::json::array array_of(const std::vector<RunningVersion>& versions) {
  boost::json::array array;
  for (const auto& each : versions) array.push_back(object_of(each));
  return array;
}

template <class Words>
boost::json::array names_of(const Words& words) {
  boost::json::array array;
  for (const auto word : words) array.emplace_back(to_string(word));
  return array;
}

boost::json::object object_of(const ComponentState& state) {
  boost::json::object object{{"component", state.expected->component},
                             {"expected", inventory::expected_version(*state.expected)},
                             {"at_baseline", state.is_at_baseline()},
                             {"running", array_of(state.running)},
                             {"wrong", array_of(state.wrong)}};
  return object;
}

boost::json::object object_of(const FirmwareUpdate& update, const std::string& refusal) {
  const auto& expected = *update.expected;
  boost::json::object object{{"component", expected.component},
                             {"version", update.version},
                             {"image", update.image.file},
                             {"sha256", update.image.sha256},
                             {"way", to_string(expected.way)},
                             {"targets", boost::json::value_from(update.targets)},
                             {"replaces", array_of(update.replaces)},
                             {"before", names_of(expected.before)},
                             {"follow", names_of(expected.follow)},
                             {"takes", expected.takes.count()}};
  if (update.comes_with_another) object["comes_with_another"] = true;
  if (!refusal.empty()) object["refusal"] = refusal;
  return object;
}

}  // namespace

bool may_be_done(const FirmwarePlan& plan, const std::vector<std::string>& refusals) {
  const auto nothing = [](const std::string& refusal) { return refusal.empty(); };
  return std::ranges::all_of(plan.components, nothing, &ComponentState::refusal) &&
         std::ranges::all_of(refusals, nothing);
}

std::string plan_text(const FirmwarePlan& plan, const std::vector<std::string>& refusals) {
  if (plan.is_at_baseline()) return summary(plan);
  std::string text = summary(plan);
  text += plan.updates.empty() ? ", nothing would be written" : ": " + needs_text(plan);
  text += "\n" + component_table(plan, true);
  if (plan.updates.empty()) return text;
  std::vector<Row> rows{{"order", "component", "version", "over", "takes", "resets", "image"}};
  for (std::size_t i = 0; i < plan.updates.size(); ++i)
    rows.push_back(update_row(i + 1, plan.updates[i], refusals[i]));
  return text + "\n" + table(rows);
}

std::string check_text(const FirmwarePlan& plan) {
  if (plan.is_at_baseline()) return summary(plan);
  return summary(plan) + "\n" + component_table(plan, false);
}

void add_warnings(const std::vector<std::string>& warnings, Answer& answer) {
  if (warnings.empty()) return;
  for (const auto& warning : warnings) answer.text += "\nwarning: " + printable(warning);
  answer.object["warnings"] = boost::json::value_from(warnings);
}

void add_transfer(const std::string& transfer, Answer& answer) {
  if (transfer.empty()) return;
  answer.text += "\nthe BMC fetches its images: " + transfer;
  answer.object["transfer"] = transfer;
}

boost::json::object plan_json(const FirmwarePlan& plan, const std::vector<std::string>& refusals) {
  auto object = check_json(plan);
  auto& components = object["components"].as_array();
  for (std::size_t i = 0; i < plan.components.size(); ++i)
    if (const auto& refusal = plan.components[i].refusal; !refusal.empty())
      components[i].as_object()["refusal"] = refusal;
  boost::json::array updates;
  for (std::size_t i = 0; i < plan.updates.size(); ++i)
    updates.push_back(object_of(plan.updates[i], refusals[i]));
  object["updates"] = std::move(updates);
  object["takes"] = plan.takes.count();
  object["restarts_host"] = plan.restarts_host;
  object["cycles_ac"] = plan.cycles_ac;
  return object;
}

boost::json::object check_json(const FirmwarePlan& plan) {
  boost::json::array components;
  for (const auto& state : plan.components) components.push_back(object_of(state));
  return {{"at_baseline", plan.is_at_baseline()}, {"components", std::move(components)}};
}

}  // namespace cupel::cli
