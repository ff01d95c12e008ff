// `cupel settings`: how machines' settings stand beside what their profiles want, and setting them.
#include <fmt/format.h>

#include "base/text.h"
#include "orchestrator/cli/bmc_ask.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/settings/converge.h"
#include "orchestrator/settings/settings_json.h"

namespace cupel::cli {
namespace {

using inventory::Node;
using inventory::Profile;
using settings::SettingsPlan;
using settings::SettingState;

Task<Result<SettingsPlan>> look(bmc::Bmc& bmc, const Profile& profile, Deadline deadline) {
  CO_TRY(const auto reported, co_await settings::read_settings(bmc, profile, deadline));
  co_return settings::plan_settings(profile, reported);
}

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
  const auto right = plan.count(SettingState::as_wanted), absent = plan.count(SettingState::absent);
  const auto all = static_cast<std::ptrdiff_t>(plan.items.size()) - absent;
  const auto left = absent > 0 ? fmt::format(", {} not on this machine", absent) : std::string{};
  if (right == all)
    return fmt::format("{} settings as wanted{}{}", right, left, absent > 0 ? "\n" : "");
  return fmt::format("{} of {} settings not as wanted{}{}\n", all - right, all, left,
                     plan.needs_restart() ? "; needs a restart" : "");
}

Answer answer_of(const SettingsPlan& plan) {
  std::vector<Row> rows{{"setting", "is", "wanted", ""}};
  for (const auto& item : plan.items)
    if (item.state != SettingState::as_wanted)
      rows.push_back({item.name, item.current, item.wanted, effect_of(item)});
  auto text = summary_of(plan) + (rows.size() > 1 ? table(rows) : std::string{});
  boost::json::object object{{"as_wanted", plan.is_as_wanted()},
                             {"needs_restart", plan.needs_restart()},
                             {"settings", settings::to_json(plan)}};
  for (const auto& note : plan.notes)
    text += (text.ends_with('\n') ? "" : "\n") + ("note: " + note + "\n");
  if (!plan.notes.empty()) object["notes"] = boost::json::value_from(plan.notes);
  return {std::move(text), std::move(object)};
}

Task<Result<Answer>> plan(bmc::Bmc& bmc, const Profile& profile, Deadline deadline) {
  CO_TRY(const SettingsPlan now, co_await look(bmc, profile, deadline));
  co_return answer_of(now);
}

Task<Result<Answer>> apply(bmc::Bmc& bmc, const Profile& profile, Deadline deadline) {
  CO_TRY(const SettingsPlan before, co_await look(bmc, profile, deadline));
  if (before.is_as_wanted()) co_return answer_of(before);
  CO_TRY(co_await settings::apply_settings(bmc, before, deadline));
  CO_TRY(const SettingsPlan after, co_await look(bmc, profile, deadline));
  if (after.has(SettingState::differs))
    co_return Error{Code::kFailed, "the BMC accepted the settings, and " +
                                       settings::described(after, SettingState::differs)};
  auto answer = answer_of(after);
  answer.object["changed"] = before.count(SettingState::differs);
  co_return answer;
}

using Act = Task<Result<Answer>> (*)(bmc::Bmc&, const Profile&, Deadline);

Task<Result<Answer>> in_a_session(Act act, Connections& connections, const Node& node,
                                  Deadline deadline) {
  const auto& profile = connections.inventory().profile_of(node);
  if (!settings::wants_settings(profile))
    co_return Answer{"profile " + profile.name + " wants no settings",
                     {{"as_wanted", true}, {"settings", boost::json::array{}}}};
  const auto bmc = connections.bmc(node);
  auto answer = co_await act(*bmc, profile, deadline);
  co_await bmc->log_out();
  co_return answer;
}

CommandRow verb_command(const BmcCommand& command, const char* name, const char* summary, Act act) {
  CommandRow row{name, summary};
  row.options = {{"NODES", &command.asked->nodes, "as with run --nodes", kRequired}};
  row.run = [command, act] {
    return ask_over_connections(
        command, [act](Connections& connections, const Node& node, Deadline deadline) {
          return in_a_session(act, connections, node, deadline);
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
      verb_command(settings, "plan", "what differs, and what would be set; changes nothing", plan),
      verb_command(settings, "apply",
                   "set what differs; what the machine refuses is named, the rest is set", apply)};
  return row;
}

}  // namespace cupel::cli
