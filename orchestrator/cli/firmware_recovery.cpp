// `cupel firmware continue` and `forget`: the ways on from an update that may not be repeated.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>
#include <span>

#include "base/login.h"
#include "base/text.h"
#include "base/wall_clock.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/control.h"
#include "orchestrator/cli/execute.h"
#include "orchestrator/cli/firmware_begun.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/store/audit_log.h"
#include "orchestrator/store/power_hold.h"

namespace cupel::cli {
namespace {

using InRun = BegunUpdate::Run;
using End = store::FirmwareState::End;

constexpr std::size_t kLongestReason = 300;  // beside the words of a retry
constexpr std::size_t kLongestKept = 4000;   // of what cannot be read

struct RecoveryAsked {
  std::string node{};
  std::string inventory = default_inventory();
  std::string reason{};
};

/// Those of which something is awaited. Errors: as begun_updates(); kNotFound where there is none.
Result<std::vector<BegunUpdate>> awaited_updates(const Context& context, store::Store& store,
                                                 const std::string& node) {
  TRY(auto all, begun_updates(context, store, node));
  std::string settled;
  if (all.empty()) {
    TRY(const auto nodes, nodes_with_updates(store));
    settled = inventory::did_you_mean(node, std::span{nodes});
  }
  for (const auto& each : all) {
    settled += "; " + standing_text(each);
    if (const auto next = next_command(each, node); !next.empty())
      settled += ": " + advised(context, next);
  }
  std::erase_if(all, [](const BegunUpdate& each) { return store::is_settled(each.state.end); });
  if (!all.empty()) return all;
  return Error{Code::kNotFound, fmt::format("no firmware update of {} waits for anything{}",
                                            printable(node), settled)};
}

Exit exit_for(const Error& error) {
  return error.code == Code::kStorage ? Exit::unfinished : Exit::invalid;
}

/// A run that has not ended with it decides itself.
Result<void> check_left(const Context& context, const BegunUpdate& update,
                        const std::string& node) {
  if (update.in_run != InRun::at_work && update.in_run != InRun::interrupted) return ok();
  const bool lives = update.in_run == InRun::at_work;
  return Error{Code::kConflict, fmt::format("run {} {} {} of {}: {}", update.state.run,
                                            lives ? "is at work with" : "was interrupted in",
                                            printable(update.named()), node,
                                            advised(context, next_command(update, node)))};
}

/// A step may have gone on with it since it was read. Errors: kConflict; kStorage.
Result<void> check_unchanged(const Context& context, store::Store& store, const BegunUpdate& update,
                             const std::string& node) {
  TRY(const auto now, store::firmware_state(store, update.kind, node));
  const auto& read = update.state;
  if (now && now->handle == read.handle && now->run == read.run && now->end == read.end)
    return ok();
  return Error{Code::kConflict,
               fmt::format("{} of {} has changed meanwhile: {}", printable(update.named()), node,
                           advised(context, "cupel firmware show " + node))};
}

/// The next step of its kind on the node begins from the handle, or does not any more.
Result<void> mark(const Context& context, store::Store& store, BegunUpdate update,
                  const std::string& node, bool go_on = true) {
  TRY(check_unchanged(context, store, update, node));
  update.state.go_on = go_on;
  return store::keep_firmware_state(store, update.kind, node, update.state);
}

/// The retry was refused. A step that has begun meanwhile keeps what it wrote.
void unmark(const Context& context, const BegunUpdate& update, const std::string& node) {
  const auto store = store::Store::open(context.state);
  const auto unmarked = store ? mark(context, **store, update, node, false) : store.error();
  if (!unmarked && unmarked.error().code != Code::kConflict)
    print_error(context, unmarked.error(), Exit::unfinished);
}

Exit continue_in_a_new_run(Context& context, const RecoveryAsked& asked,
                           const BegunUpdate& update) {
  const auto& window = update.state.window;
  PlanOptions options{.playbook = "firmware",
                      .inventory = asked.inventory,
                      .inventory_named = true,
                      .nodes = asked.node};
  if (!window.empty()) options.settings.push_back("window=" + window);
  const auto& only = update.handle.only;
  if (!only.empty()) options.settings.push_back(fmt::format("rewrite={}", fmt::join(only, ",")));
  TRY(auto planned, planned_or_exit(context, options));
  if (!context.json)
    say("goes on with {}; then writes {} (window: {})\n", printable(update.named()),
        only.empty() ? "what else is off the baseline" : "what else is to be written again",
        window.empty() ? "any" : printable(window));
  {
    const auto store = store::Store::open(context.state);
    if (!store) return print_error(context, store.error(), Exit::unfinished);
    if (const auto marked = mark(context, **store, update, asked.node); !marked)
      return print_error(context, marked.error(), Exit::unfinished);
  }
  if (!context.run.repair_patience) context.run.repair_patience = controller::kUsualRepairPatience;
  return execute_new(context, std::move(planned));
}

Exit go_on(Context& context, const RecoveryAsked& asked) {
  auto store = store::Store::open(context.state);
  if (!store) return print_error(context, store.error(), Exit::unfinished);
  const auto updates = awaited_updates(context, **store, asked.node);
  if (!updates) return print_error(context, updates.error(), exit_for(updates.error()));
  const auto& update = updates->front();
  if (const auto left = check_left(context, update, asked.node); !left)
    return print_error(context, left.error(), Exit::invalid);
  if (update.in_run == InRun::over) {
    store->reset();
    return continue_in_a_new_run(context, asked, update);
  }
  if (const auto marked = mark(context, **store, update, asked.node); !marked)
    return print_error(context, marked.error(), Exit::unfinished);
  store->reset();
  const auto why = "firmware continue: " + printable(update.named()) +
                   (asked.reason.empty() ? "" : ": " + asked.reason);
  const auto exit = retry_node(context, {update.state.run, asked.node, update.state.step, why});
  if (exit == Exit::invalid) unmark(context, update, asked.node);
  return exit;
}

/// What the update's memory kept from happening. `freed`: its power was held.
std::vector<std::string> no_longer_protected(const BegunUpdate& update, bool freed) {
  const auto name = printable(update.named());
  const bool by_bmc = update.kind == "firmware";
  std::vector<std::string> all;
  if (update.state.end == End::staged)
    all.push_back(name + " is written, and may be written again before it has run");
  else
    all.push_back(
        fmt::format("{} may be written again; that nothing of it is still at work, {} "
                    "alone shows",
                    name, by_bmc ? "the BMC" : "the node"));
  if (freed) all.push_back("its power is not held any more: steps and operators may change it");
  return all;
}

/// Whether its power was held and is free now. The audit log first: what was forgotten stands
/// there, whatever follows.
Result<bool> forget_update(const Context& context, store::Store& store, const BegunUpdate& update,
                           const RecoveryAsked& asked) {
  TRY(check_unchanged(context, store, update, asked.node));
  TRY(auto audit, store::AuditLog::open(store.folder()));
  store::AuditEntry entry{.who = login_name(),
                          .origin = "command line",
                          .what = "firmware-forgotten",
                          .data = begun_json(update, asked.node)};
  entry.data.erase("next");
  entry.data["node"] = asked.node;
  if (!asked.reason.empty()) entry.data["reason"] = printable(asked.reason);
  TRY(audit.append(std::move(entry)));
  auto state = update.state;
  state.words = fmt::format("by {}{}", login_name(),
                            asked.reason.empty() ? "" : ": " + printable(asked.reason));
  state.end = End::forgotten;
  state.since = seconds_now();
  state.go_on = false;
  TRY(store::keep_firmware_state(store, update.kind, asked.node, state));
  return store::release_power_of(store, state.held, update.named(), asked.node);
}

void print_forgotten(const Context& context, const std::vector<BegunUpdate>& updates,
                     const std::vector<std::string>& bare_lines, const std::string& node) {
  boost::json::array forgotten, bare;
  for (const auto& line : bare_lines) bare.emplace_back(line);
  for (const auto& each : updates) {
    auto object = begun_json(each, node);
    object.erase("next");
    forgotten.push_back(std::move(object));
  }
  const auto next = advised(context, "cupel firmware plan " + node);
  if (context.json)
    return say("{}\n", boost::json::serialize(boost::json::object{{"node", node},
                                                                  {"forgotten", forgotten},
                                                                  {"no_longer_protected", bare},
                                                                  {"next", next}}));
  for (const auto& each : updates)
    say("{}: forgotten: {}. On the machine nothing was changed.\n", node, printable(each.named()));
  say("no longer protected:\n");
  for (const auto& line : bare) say("  {}\n", std::string_view{line.as_string()});
  say("see what would be written now: {}\n", next);
}

/// The audit log has its text, as far as it is text.
Result<void> forget_unreadable(store::Store& store, const std::string& kind,
                               const RecoveryAsked& asked) {
  const auto kept = store::firmware_state_text(store, kind, asked.node).value_or("");
  TRY(auto audit, store::AuditLog::open(store.folder()));
  store::AuditEntry entry{.who = login_name(),
                          .origin = "command line",
                          .what = "firmware-forgotten",
                          .data = {{"node", asked.node},
                                   {"step", kind},
                                   {"unreadable", printable(shortened(kept, kLongestKept))}}};
  if (!asked.reason.empty()) entry.data["reason"] = printable(asked.reason);
  TRY(audit.append(std::move(entry)));
  return store::drop_firmware_state(store, kind, asked.node);
}

/// Nothing is known of it but that it was there: a hold on the power ends by itself.
Exit forget_all_unreadable(const Context& context, store::Store& store,
                           const std::vector<std::string>& kinds, const RecoveryAsked& asked) {
  boost::json::array forgotten;
  for (const auto& kind : kinds) {
    if (const auto dropped = forget_unreadable(store, kind, asked); !dropped)
      return print_error(context, dropped.error(), Exit::unfinished);
    forgotten.push_back(boost::json::object{{"step", kind}, {"unreadable", true}});
  }
  const auto next = advised(context, "cupel firmware show " + asked.node);
  if (context.json) {
    say("{}\n", boost::json::serialize(boost::json::object{
                    {"node", asked.node}, {"forgotten", forgotten}, {"next", next}}));
    return Exit::passed;
  }
  say("{}{}: forgotten: what was remembered of the step {}, and could not be read; the audit log "
      "has its text. On the machine nothing was changed.\nsee what it runs: {}\n",
      rehearsal_line(context.state), asked.node, fmt::join(kinds, ", "), next);
  return Exit::passed;
}

Exit forget(const Context& context, const RecoveryAsked& asked) {
  const auto store = store::Store::open(context.state);
  if (!store) return print_error(context, store.error(), Exit::unfinished);
  if (const auto kinds = unreadable_updates(**store, asked.node); !kinds.empty())
    return forget_all_unreadable(context, **store, kinds, asked);
  const auto updates = awaited_updates(context, **store, asked.node);
  if (!updates) return print_error(context, updates.error(), exit_for(updates.error()));
  for (const auto& each : *updates)
    if (const auto left = check_left(context, each, asked.node); !left)
      return print_error(context, left.error(), Exit::invalid);
  std::vector<std::string> bare;
  for (const auto& each : *updates) {
    const auto freed = forget_update(context, **store, each, asked);
    if (!freed) return print_error(context, freed.error(), Exit::unfinished);
    std::ranges::move(no_longer_protected(each, *freed), std::back_inserter(bare));
  }
  if (!context.json) say("{}", rehearsal_line(context.state));
  print_forgotten(context, *updates, bare, asked.node);
  return Exit::passed;
}

/// "", or what is wrong with it.
std::string too_long(const std::string& reason) {
  return reason.size() <= kLongestReason ? ""
                                         : fmt::format("is longer than {} bytes", kLongestReason);
}

std::vector<OptionRow> recovery_options(RecoveryAsked& asked) {
  return {{"NODE", &asked.node, "its name", kRequired},
          {"--reason", &asked.reason, "the reason, recorded with your name", {.check = too_long}}};
}

}  // namespace

CommandRow firmware_continue_command(Context& context) {
  auto asked = std::make_shared<RecoveryAsked>();
  CommandRow row{"continue", "go on with an update from where it stands, in its run or a new one"};
  row.footer = "Example: cupel firmware continue a01-n07";
  row.options =
      joined<OptionRow>({recovery_options(*asked),
                         {{"-i,--inventory", &asked->inventory,
                           "[$CUPEL_INVENTORY, ./inventory.yaml, /etc/cupel/inventory.yaml]"},
                          json_flag(context),
                          on_halt_option(context)}});
  row.run = [&context, asked] { return go_on(context, *asked); };
  return row;
}

CommandRow firmware_forget_command(Context& context) {
  auto asked = std::make_shared<RecoveryAsked>();
  CommandRow row{"forget",
                 "drop what is remembered of an update, and say what is not protected any more"};
  row.footer = "Example: cupel firmware forget a01-n07 --reason 'board replaced'";
  row.options = joined<OptionRow>({recovery_options(*asked), {json_flag(context)}});
  row.run = [&context, asked] { return forget(context, *asked); };
  return row;
}

}  // namespace cupel::cli
