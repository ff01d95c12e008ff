// `cupel settings`: how machines' settings stand beside what their profiles want, and setting them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/settings/converge.h"
#include "orchestrator/settings/settings_json.h"
#include "orchestrator/steps/settings_before.h"

namespace cupel::cli {
namespace {

using inventory::Node;
using inventory::Profile;
using settings::SettingsPlan;
using settings::SettingState;

std::string effect_of(const settings::SettingItem& item) {
  if (item.state == SettingState::refused) return "refused: " + item.refusal;
  if (item.state == SettingState::absent) return "not on this machine: " + item.refusal;
  const auto note = item.note.empty() ? std::string{} : "; " + item.note;
  if (item.state == SettingState::differs)
    return (item.needs_boot ? "to be set, at the next boot" : "to be set") + note;
  if (item.state == SettingState::after_boot)
    return "to be set by another apply after the next boot" + note;
  return std::string{to_string(item.state)} + note;
}

std::string summary_of(const SettingsPlan& plan) {
  const auto right = plan.count(SettingState::as_expected),
             absent = plan.count(SettingState::absent);
  const auto all = static_cast<std::ptrdiff_t>(plan.items.size()) - absent;
  const auto left = absent > 0 ? fmt::format(", {} not on this machine", absent) : std::string{};
  if (right == all)
    return fmt::format("{} settings as expected{}{}", right, left, absent > 0 ? "\n" : "");
  return fmt::format("{} of {} settings not as expected{}{}\n", all - right, all, left,
                     plan.needs_restart() ? "; needs a restart" : "");
}

Answer answer_of(const SettingsPlan& plan) {
  std::vector<Row> rows{{"setting", "is", "expected", ""}};
  for (const auto& item : plan.items)
    if (item.state != SettingState::as_expected)
      rows.push_back({item.name, item.current, item.expected, effect_of(item)});
  auto text = summary_of(plan) + (rows.size() > 1 ? table(rows) : std::string{});
  boost::json::object object{{"as_wanted", plan.is_as_expected()},
                             {"needs_restart", plan.needs_restart()},
                             {"settings", settings::to_json(plan)}};
  for (const auto& note : plan.notes)
    text += (text.ends_with('\n') ? "" : "\n") + ("note: " + note + "\n");
  if (!plan.notes.empty()) object["notes"] = boost::json::value_from(plan.notes);
  return {std::move(text), std::move(object)};
}

/// What a verb works with.
struct SettingsPlace {
  Connections& connections;
  const Node& node;
  bmc::Bmc& bmc;

  const Profile& profile() const { return connections.inventory().profile_of(node); }
};

Task<Result<Answer>> show_plan(SettingsPlace place, Deadline deadline) {
  CO_TRY(const auto now, co_await settings::look_at_settings(place.bmc, place.profile(), deadline));
  co_return answer_of(now.plan);
}

Task<Result<Answer>> apply_all(SettingsPlace place, Deadline deadline) {
  CO_TRY(const auto seen,
         co_await settings::look_at_settings(place.bmc, place.profile(), deadline));
  const auto& before = seen.plan;
  if (before.is_as_expected()) co_return answer_of(before);
  CO_TRY(const auto kept, co_await settings::take_snapshot(place.bmc, seen, deadline));
  CO_TRY(steps::keep_settings_before(place.connections.store(), place.node.name, kept));
  CO_TRY(co_await settings::apply_settings(place.bmc, before, deadline));
  CO_TRY(const auto seen_after,
         co_await settings::look_at_settings(place.bmc, place.profile(), deadline));
  const auto& after = seen_after.plan;
  if (after.has(SettingState::differs))
    co_return Error{Code::kFailed, "the BMC accepted the settings, and " +
                                       settings::described(after, SettingState::differs)};
  auto answer = answer_of(after);
  answer.object["changed"] = before.count(SettingState::differs);
  co_return answer;
}

using Act = Task<Result<Answer>> (*)(SettingsPlace, Deadline);

Task<Result<Answer>> in_a_session(Act act, Connections& connections, const Node& node,
                                  Deadline deadline) {
  const auto bmc = connections.bmc(node);
  const SettingsPlace place{connections, node, *bmc};
  auto answer = co_await act(place, deadline);
  co_await bmc->log_out();
  co_return answer;
}

Task<Result<Answer>> by_profile(Act act, Connections& connections, const Node& node,
                                Deadline deadline) {
  const auto& profile = connections.inventory().profile_of(node);
  if (!settings::wants_settings(profile))
    co_return Answer{"profile " + profile.name + " wants no settings",
                     {{"as_wanted", true}, {"settings", boost::json::array{}}}};
  co_return co_await in_a_session(act, connections, node, deadline);
}

/// Texts of what is set back, and of what is not.
Answer restored(const settings::SettingsSnapshot& before) {
  const auto names = settings::names_in(before);
  const bool boots = !before.bios.empty() || before.boot_order || before.secure_boot;
  auto text = fmt::format("{} settings set back: {}{}\n", names.size(), fmt::join(names, ", "),
                          boots ? "; the next boot applies those of the machine" : "");
  for (const auto& left : before.left) text += "not set back: " + left + "\n";
  return {std::move(text),
          {{"settings", boost::json::value_from(names)},
           {"needs_restart", boots},
           {"left", boost::json::value_from(before.left)}}};
}

/// Dropped only once all of it is set back: what a BMC refused is tried again by the next one.
Task<Result<Answer>> set_back(SettingsPlace place, Deadline deadline) {
  auto& store = place.connections.store();
  CO_TRY(const auto before, steps::settings_before(store, place.node.name));
  if (!before)
    co_return Answer{"nothing to set back: Cupel has set nothing here, or it was set back",
                     {{"settings", boost::json::array{}}}};
  CO_TRY(const auto serial, co_await settings::read_serial(place.bmc, deadline));
  if (settings::is_of_another(*before, serial))
    co_return Error{Code::kInvalid,
                    fmt::format("what is kept are the settings of the machine {}, and this one is "
                                "{}: nothing was set; to drop them: cupel settings restore {} "
                                "--forget",
                                printable(before->serial), printable(serial), place.node.name)};
  const auto back = settings::plan_back(*before);
  CO_TRY(co_await settings::apply_settings(place.bmc, back, deadline));
  CO_TRY(steps::drop_settings_before(store, place.node.name));
  co_return restored(*before);
}

Task<Result<Answer>> forget_before(Connections& connections, const Node& node) {
  auto& store = connections.store();
  CO_TRY(steps::drop_settings_before(store, node.name));
  co_return Answer{"what its settings were is forgotten; the machine was not asked",
                   {{"settings", boost::json::array{}}}};
}

OptionRow nodes_option(const BmcCommand& command) {
  return {"NODES", &command.asked->nodes, "as with run --nodes", kRequired};
}

CommandRow verb_command(const BmcCommand& command, const char* name, const char* summary, Act act) {
  CommandRow row{name, summary};
  row.options = {nodes_option(command)};
  row.run = [command, act] {
    return ask_over_connections(
        command, [act](Connections& connections, const Node& node, Deadline deadline) {
          return by_profile(act, connections, node, deadline);
        });
  };
  return row;
}

CommandRow set_back_command(const BmcCommand& command) {
  auto forgets = std::make_shared<bool>(false);
  CommandRow row{"restore", "set back what settings were before Cupel set them"};
  row.options = {nodes_option(command),
                 {"--forget", forgets.get(),
                  "set nothing: forget what they were, as of a machine that was replaced"}};
  row.run = [command, forgets] {
    return ask_over_connections(
        command, [forgets](Connections& connections, const Node& node, Deadline deadline) {
          return *forgets ? forget_before(connections, node)
                          : in_a_session(set_back, connections, node, deadline);
        });
  };
  return row;
}

}  // namespace

CommandRow settings_command(Context& context) {
  const BmcCommand settings{context};
  CommandRow row{"settings", "settings of machines and BMCs, as their profiles want them"};
  row.footer =
      "Examples: cupel settings plan rack:a01\n"
      "          cupel settings plan a01-n07 --json\n"
      "          cupel settings apply a01-n07\n"
      "          cupel settings restore a01-n07\n"
      "BIOS settings, boot order and secure boot take effect at the next boot: restart the node,\n"
      "then plan again. To restart and verify in one run: cupel run settings --nodes rack:a01.\n"
      "Exit codes: 0 all answered, 1 some did not, 2 the input is wrong (nothing was asked),\n"
      "            3 interrupted.";
  row.options = {
      {"-i,--inventory", &settings.asked->inventory,
       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
      {"--patience", &settings.asked->patience, "with each node, such as 90s or 15m [10m]"},
      {"-f,--fanout",
       &settings.asked->width,
       "nodes at a time [64]",
       {.range = NumberRange{1, 4096}}},
      json_flag(context)};
  row.subcommands = {
      verb_command(settings, "plan", "what differs, and what would be set; changes nothing",
                   show_plan),
      verb_command(settings, "apply",
                   "set what differs; what the machine refuses is named, the rest is set",
                   apply_all),
      set_back_command(settings)};
  return row;
}

}  // namespace cupel::cli
