// `cupel firmware rewrite`: components that are written again although they run their version, in a
// run of the playbook `firmware`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>

#include "base/text.h"
#include "base/wall_clock.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/profile.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/execute.h"
#include "orchestrator/cli/firmware_begun.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/firmware/resets.h"
#include "orchestrator/store/power_hold.h"
#include "playbooks/rewrite.h"

namespace cupel::cli {
namespace {

struct RewriteAsked {
  std::string node{};
  std::string inventory = default_inventory();
  std::string only{};
  bool yes = false;
};

std::string words_of(const std::vector<inventory::FirmwareReset>& resets) {
  std::vector<std::string_view> words;
  for (const auto reset : resets) words.push_back(firmware::text_of(reset));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string rewrite_text(const inventory::ExpectedFirmware& one) {
  auto text = fmt::format("{} {} is written again, whatever it runs: up to {} min", one.component,
                          one.version, std::chrono::ceil<std::chrono::minutes>(one.takes).count());
  if (!one.before.empty()) text += ", before it " + words_of(one.before);
  if (!one.follow.empty()) text += ", then " + words_of(one.follow);
  return text;
}

boost::json::object rewrite_json(const inventory::ExpectedFirmware& one) {
  boost::json::array before, follow;
  for (const auto reset : one.before) before.emplace_back(to_string(reset));
  for (const auto reset : one.follow) follow.emplace_back(to_string(reset));
  return {{"component", one.component},
          {"version", one.version},
          {"takes", one.takes.count()},
          {"before", std::move(before)},
          {"follow", std::move(follow)}};
}

/// Nothing is written over what may still be at work, or waits to run. Errors: kConflict, with the
/// command that comes first; kStorage.
Result<void> check_settled(const Context& context, store::Store& store, const std::string& node) {
  TRY(const auto begun, begun_updates(context, store, node));
  for (const auto& each : begun) {
    if (store::is_settled(each.state.end)) continue;
    return Error{Code::kConflict,
                 fmt::format("nothing is written again while {} on {}: {}", standing_text(each),
                             node, advised(context, next_command(each, node)))};
  }
  return ok();
}

/// The power of a machine is held by an update, also one of another node of the same BMC.
Result<void> check_not_held(const Context& context, store::Store& store,
                            const inventory::Node& node) {
  const auto held = store::power_is_held(store, node, seconds_now());
  if (!held) return ok();
  return Error{Code::kConflict, fmt::format("{}; it comes first: {}", printable(*held),
                                            advised(context, "cupel firmware show " + node.name))};
}

Result<void> check_free_to_write(const Context& context, const inventory::Node& node) {
  TRY(const auto store, store::Store::open(context.state));
  TRY(check_settled(context, *store, node.name));
  return check_not_held(context, *store, node);
}

/// What it does to the machine, before anything is done.
void print_what_is_written(const Context& context, const RewriteAsked& asked,
                           const inventory::Profile& profile) {
  const auto components = playbooks::components_to_rewrite({{"rewrite", asked.only}});
  boost::json::array writes;
  if (!context.json) say("{}", rehearsal_line(context.state));
  for (const auto& one : profile.firmware) {
    if (!components.contains(one.component)) continue;
    writes.push_back(rewrite_json(one));
    if (!context.json) say("{}: {}\n", asked.node, rewrite_text(one));
  }
  if (!context.json)
    say("Nothing else is written. The node is drained, its power is held meanwhile, and a write "
        "that is broken off may leave it without this firmware.\n");
  if (asked.yes) return;
  const auto next = advised(
      context, fmt::format("cupel firmware rewrite {} --only {} --yes", asked.node, asked.only));
  if (context.json)
    say("{}\n", boost::json::serialize(boost::json::object{
                    {"node", asked.node}, {"rewrites", std::move(writes)}, {"next", next}}));
  else
    say("nothing was written; to write it: {}\n", next);
}

Exit rewrite(Context& context, const RewriteAsked& asked) {
  const PlanOptions options{.playbook = "firmware",
                            .inventory = asked.inventory,
                            .inventory_named = true,
                            .nodes = asked.node,
                            .settings = {"rewrite=" + asked.only}};
  TRY(auto planned, planned_or_exit(context, options));
  const auto& nodes = planned->plan.nodes;
  if (nodes.size() != 1 || nodes.front().node->name != asked.node)
    return print_error(context,
                       Error{Code::kInvalid,
                             "firmware is written again on one node at a time: "
                             "give its name"},
                       Exit::invalid);
  const auto& node = *nodes.front().node;
  if (const auto free = check_free_to_write(context, node); !free)
    return print_error(context, free.error(),
                       free.error().code == Code::kStorage ? Exit::unfinished : Exit::invalid);
  if (!context.json || !asked.yes)
    print_what_is_written(context, asked, planned->inventory.profile_of(node));
  if (!asked.yes) return Exit::failed;
  if (!context.run.repair_patience) context.run.repair_patience = controller::kUsualRepairPatience;
  return execute_new(context, std::move(planned));
}

/// "", or what is wrong with it.
std::string no_list(const std::string& only) {
  return only == "none" || only.empty() ? "names no component" : "";
}

}  // namespace

CommandRow firmware_rewrite_command(Context& context) {
  auto asked = std::make_shared<RewriteAsked>();
  CommandRow row{"rewrite", "write components again although they run their version"};
  row.footer =
      "Example: cupel firmware rewrite a01-n07 --only bios --yes\n"
      "Exit codes: as of run; without --yes 1. 2: it may not be written now, or the input is "
      "wrong.";
  row.options = {
      {"NODE", &asked->node, "its name", kRequired},
      {"--only",
       &asked->only,
       "components of its profile, joined by commas: no other is written",
       {.required = true, .check = no_list, .placeholder = "COMPONENT[,..]"}},
      {"-i,--inventory", &asked->inventory,
       "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
      {"--yes", &asked->yes, "write; without: only say what would be done to the machine"},
      json_flag(context),
      on_halt_option(context)};
  row.run = [&context, asked] { return rewrite(context, *asked); };
  return row;
}

}  // namespace cupel::cli
