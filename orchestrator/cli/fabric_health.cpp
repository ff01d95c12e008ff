// `cupel fabric health`: which links are bad, by what fabric tools printed once or twice.
#include <fmt/format.h>

#include "base/text.h"
#include "inventory/load.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/link_health_text.h"
#include "orchestrator/cli/link_looks.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/record/link_record.h"

namespace cupel::cli {
namespace {

struct HealthAsked {
  std::string folder{};
  std::string inventory = default_inventory();
  bool inventory_named = false;
  std::string before{};
  std::string interval{};
};

/// Both looks; the first where one was asked for. Their times lie apart as asked, or as their files
/// say.
Result<std::pair<std::optional<burnin::LinkLook>, burnin::LinkLook>> looks_of(
    const HealthAsked& asked) {
  TRY(auto after, read_look(asked.folder));
  std::optional<burnin::LinkLook> before;
  if (!asked.before.empty()) {
    TRY(before, read_look(asked.before));
    if (!asked.interval.empty()) {
      const auto interval = inventory::duration_of(asked.interval);
      if (!interval || interval->count() <= 0)
        return Error{Code::kInvalid,
                     fmt::format("--interval {}: not a duration such as 130m", asked.interval)};
      before->taken = after.taken - *interval;
    }
    if (before->taken >= after.taken)
      return Error{Code::kInvalid,
                   fmt::format("the files in {} are not older than those in {}: exchange the "
                               "folders, or give the time between the looks with --interval",
                               asked.before, asked.folder)};
  }
  return std::pair{std::move(before), std::move(after)};
}

/// What was not judged is no pass: 3, as where a run could not finish.
Exit exit_of(const burnin::LinkHealth& health) {
  if (!health.findings.empty()) return Exit::failed;
  return health.passed() ? Exit::passed : Exit::unfinished;
}

/// What was recorded of the links, and what is now; a store that cannot be read or written changes
/// no judgement.
burnin::FabricProgress followed(const Context& context, burnin::LinkHealth& health,
                                const burnin::LinkLook* before, const burnin::LinkLook& after) {
  const auto recorded = record::recorded_links(context.state);
  if (!recorded)
    say(stderr, "cupel: repairs of links are not known: {}\n", printable(recorded.error().what));
  auto progress = burnin::follow_repairs(health, before, after,
                                         recorded ? *recorded : std::vector<burnin::LinkEvent>{});
  if (!recorded) return progress;
  if (const auto kept = record::record_links(context.state, progress.judged); !kept)
    say(stderr, "cupel: what was found of the links is not recorded: {}\n",
        printable(kept.error().what));
  return progress;
}

/// The inventory with the cable plan that cables and transceivers are compared with; nothing where
/// there is none. One that was named must be there and right.
OrExit<std::optional<inventory::Inventory>> plan_of(const Context& context,
                                                    const HealthAsked& asked) {
  std::error_code failure;
  if (asked.inventory_named) {
    TRY(auto named, inventory_or_exit(context, asked.inventory));
    return std::optional{std::move(named)};
  }
  if (!std::filesystem::exists(asked.inventory, failure))
    return std::optional<inventory::Inventory>{};
  auto usual = inventory::load_inventory(asked.inventory);
  if (!usual.inventory)
    say(stderr,
        "cupel: {} has {} problems: cables are not compared with its plan (cupel inventory "
        "check)\n",
        printable(asked.inventory), usual.problems.size());
  return std::move(usual.inventory);
}

Exit health(const Context& context, const HealthAsked& asked) {
  TRY(const auto inventory, plan_of(context, asked));
  const bool has_plan = inventory && inventory->fabric;
  const auto* plan = has_plan ? &inventory->fabric->fabric : nullptr;
  const auto looks = looks_of(asked);
  if (!looks) {
    const bool blind = looks.error().code == Code::kNoMeasurement;
    return print_error(context, looks.error(), blind ? Exit::unfinished : Exit::invalid);
  }
  const auto* before = looks->first ? &*looks->first : nullptr;
  auto found = burnin::judge_links(before, looks->second, plan);
  const auto progress = followed(context, found, before, looks->second);
  if (context.json)
    say("{}\n", boost::json::serialize(health_json(found, progress)));
  else
    say("{}", health_text(found, progress));
  return exit_of(found);
}

}  // namespace

CommandRow health_command(Context& context) {
  const auto asked = std::make_shared<HealthAsked>();
  CommandRow row{"health", "which links are bad, and how they are mended"};
  row.footer =
      "The folder holds the outputs of ibnetdiscover or iblinkinfo (named so), of ibqueryerrors,\n"
      "and of mlxlink -m -c for each port: mlxlink/n05/mlx5_3.json, mlxlink/leaf1-r3/7.txt.\n"
      "What two folders say of a link is recorded where it is new: cupel fabric history.\n"
      "Where the inventory's cable plan has kinds, lengths or serial numbers, those of mlxlink "
      "are\n"
      "compared with them.\n"
      "Examples: cupel fabric health now\n"
      "          cupel fabric health now --before earlier\n"
      "Exit codes: 0 nothing is wrong, 1 something is, 2 the input is wrong,\n"
      "            3 nothing was found, but not all could be judged.";
  row.options = {{"folder", &asked->folder, "folder with the outputs of the tools", kRequired},
                 {"--before", &asked->before,
                  "folder with earlier outputs: counters are judged by their growth since"},
                 {"--interval", &asked->interval,
                  "time between the looks, such as 130m (default: by the files' times)"},
                 {"-i,--inventory",
                  &asked->inventory,
                  "[$CUPEL_INVENTORY, ./inventory.yaml, where it is there]",
                  {.given = &asked->inventory_named}},
                 json_flag(context)};
  row.run = [&context, asked] { return health(context, *asked); };
  return row;
}

}  // namespace cupel::cli
