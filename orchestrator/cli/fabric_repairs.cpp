// `cupel fabric repaired` and `history`: what was done at a link, and what came of it.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "burnin/fabric/named_link.h"
#include "inventory/model.h"
#include "inventory/yaml.h"
#include "orchestrator/cli/commands.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/site_store.h"
#include "orchestrator/cli/table.h"
#include "orchestrator/record/link_record.h"

namespace cupel::cli {
namespace {

using burnin::LinkEvent;

struct RepairedAsked {
  std::string port{};
  std::string inventory = default_inventory();
  bool inventory_named = false;
  std::vector<std::string> did{};
  std::string note{};
  std::string ago{};
};

/// The inventory with the plan; nothing where none was named and the usual one is not there.
OrExit<std::optional<inventory::Inventory>> inventory_of(const Context& context,
                                                         const RepairedAsked& asked) {
  std::error_code failure;
  if (!asked.inventory_named && !std::filesystem::exists(asked.inventory, failure))
    return std::optional<inventory::Inventory>{};
  TRY(auto inventory, inventory_or_exit(context, asked.inventory));
  // Records of virtual machines and of real ones never share a store.
  if (const auto store = open_store_for(context, inventory); !store)
    return print_error_of_store(context, store.error());
  return std::optional{std::move(inventory)};
}

Result<std::chrono::sys_seconds> time_of(const RepairedAsked& asked) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (asked.ago.empty()) return now;
  const auto ago = inventory::duration_of(asked.ago);
  if (!ago || ago->count() < 0 || *ago > burnin::kRepairCounts)
    return Error{Code::kInvalid,
                 fmt::format("--ago {}: not a duration such as 2h, of at most {} days",
                             printable(asked.ago), burnin::kRepairCounts.count())};
  return now - *ago;
}

/// One event for each word of --did, in its order.
Result<std::vector<LinkEvent>> events_of(const RepairedAsked& asked,
                                         const inventory::Fabric* plan) {
  TRY(const auto link, burnin::named_link(asked.port, plan));
  TRY(const auto at, time_of(asked));
  if (asked.note.size() > burnin::kLongestNote)
    return Error{Code::kInvalid, fmt::format("a note has at most {} bytes", burnin::kLongestNote)};
  std::vector<LinkEvent> events;
  for (const auto& word : asked.did)
    if (const auto did = burnin::repair_of(word))
      events.push_back({.at = at,
                        .here = link.here,
                        .there = link.there,
                        .did = *did,
                        .note = printable(asked.note)});
  return events;
}

std::string link_text(const LinkEvent& event) {
  return to_string(burnin::LookedLink{.from = event.here, .to = event.there});
}

void print_repaired(const Context& context, const std::vector<LinkEvent>& events) {
  boost::json::array recorded;
  for (const auto& event : events) recorded.push_back(burnin::to_json(event));
  if (context.json)
    return say("{}\n", boost::json::serialize(boost::json::object{{"recorded", recorded}}));
  say("{}", rehearsal_line(context.state));
  for (const auto& event : events)
    say("recorded: {} at {}, {:%F %H:%M} UTC\n", to_string(event.did), printable(link_text(event)),
        event.at);
  say("Fill a folder now and another after 125 minutes; what helped says: "
      "cupel fabric health LATER --before NOW\n");
}

Exit repaired(const Context& context, const RepairedAsked& asked) {
  TRY(const auto inventory, inventory_of(context, asked));
  const bool planned = inventory && inventory->fabric;
  const auto events = events_of(asked, planned ? &inventory->fabric->fabric : nullptr);
  if (!events) return print_error(context, events.error(), Exit::invalid);
  if (const auto recorded = record::record_links(context.state, *events); !recorded)
    return print_error(context, recorded.error(), Exit::unfinished);
  print_repaired(context, *events);
  return Exit::passed;
}

bool is_at(const LinkEvent& event, const std::optional<burnin::NamedLink>& asked) {
  return !asked || event.here == asked->here || event.there == asked->here;
}

void print_history(const Context& context, const std::vector<LinkEvent>& events) {
  if (context.json) {
    boost::json::array all;
    for (const auto& event : events) all.push_back(burnin::full_json(event));
    return say("{}\n", boost::json::serialize(boost::json::object{{"history", std::move(all)}}));
  }
  say("{}", rehearsal_line(context.state));
  std::vector<Row> rows{{"UTC", "LINK", "BY", "WHAT"}};
  for (const auto& event : events)
    rows.push_back({fmt::format("{:%F %H:%M}", event.at), link_text(event), event.by,
                    burnin::what_text(event)});
  say("{}", events.empty() ? "nothing is recorded\n" : table(rows));
}

Exit history(const Context& context, const std::string& port) {
  std::optional<burnin::NamedLink> asked;
  if (!port.empty()) {
    auto named = burnin::named_link(port, nullptr);
    if (!named) return print_error(context, named.error(), Exit::invalid);
    asked = *std::move(named);
  }
  auto events = record::recorded_links(context.state);
  if (!events) return print_error(context, events.error(), Exit::unfinished);
  std::erase_if(*events, [&](const LinkEvent& event) { return !is_at(event, asked); });
  std::ranges::stable_sort(*events, {}, &LinkEvent::at);
  print_history(context, *events);
  return Exit::passed;
}

}  // namespace

CommandRow repaired_command(Context& context) {
  const auto asked = std::make_shared<RepairedAsked>();
  CommandRow row{"repaired", "record what was done at a link"};
  row.footer =
      "Examples: cupel fabric repaired n05/mlx5_3 --did reseat\n"
      "          cupel fabric repaired leaf1-r3/7 --did transceivers --note 'in box 3'";
  row.options = {
      {"port", &asked->port,
       "a port of the link: n05/mlx5_3, leaf1-r3/7, or as fabric health prints it", kRequired},
      {"-i,--inventory",
       &asked->inventory,
       "its cable plan must have the port [$CUPEL_INVENTORY, ./inventory.yaml; none where absent]",
       {.given = &asked->inventory_named}},
      {"--did",
       &asked->did,
       "air-flow, clear (the counters), reseat (pull, clean, plug in), transceivers (of both "
       "ends), fibre, cable (copper or active optical) or firmware; repeatable",
       {.required = true,
        .repeatable = true,
        .among = {"air-flow", "clear", "reseat", "transceivers", "fibre", "cable", "firmware"}}},
      {"--note", &asked->note, "in your words"},
      {"--ago", &asked->ago, "how long ago it was done, such as 2h (default: now)"},
      json_flag(context)};
  row.run = [&context, asked] { return repaired(context, *asked); };
  return row;
}

CommandRow history_command(Context& context) {
  const auto port = std::make_shared<std::string>();
  CommandRow row{"history", "what was found and done at links"};
  row.footer =
      "Examples: cupel fabric history\n"
      "          cupel fabric history n05/mlx5_3";
  row.options = {{"port", port.get(), "a port of the link, such as n05/mlx5_3 [all]"},
                 json_flag(context)};
  row.run = [&context, port] { return history(context, *port); };
  return row;
}

}  // namespace cupel::cli
