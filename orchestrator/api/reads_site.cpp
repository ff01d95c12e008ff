// What the site is: who asks, the service, the inventory, text search, playbooks.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/text.h"
#include "inventory/shipped.h"
#include "orchestrator/api/handlers.h"
#include "orchestrator/api/notice_book.h"
#include "orchestrator/api/schedule_book.h"
#include "orchestrator/api/site_playbooks.h"
#include "orchestrator/controller/run_status.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/report/run_progress.h"

namespace cupel::api {
namespace {

namespace json = boost::json;

constexpr std::int64_t kRunsOfNode = 20;
constexpr std::size_t kUsualPage = 100;

std::string_view level_word(inventory::PowerNode::Kind kind) {
  constexpr std::string_view kLevels[] = {"room", "rack", "pdu", "breaker"};
  return kLevels[static_cast<std::size_t>(kind)];
}

json::array texts_json(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

json::object node_row(const inventory::Inventory& inventory, const inventory::Node& node) {
  json::object row{{"name", node.name},       {"rack", node.rack},
                   {"unit", node.unit},       {"height", inventory.profile_of(node).units},
                   {"profile", node.profile}, {"feeds", texts_json(node.feeds)}};
  if (!node.serial.empty()) row["serial"] = node.serial;
  return row;
}

bool has_text(std::string_view text, std::string_view lower) {
  return lower_case(text).find(lower) != std::string::npos;
}

bool is_meant(const Call& call, const inventory::Node& node) {
  const auto rack = call.text("rack"), profile = call.text("profile");
  const auto requested = lower_case(call.text("q"));
  return (rack.empty() || node.rack == rack) && (profile.empty() || node.profile == profile) &&
         (requested.empty() || has_text(node.name, requested) ||
          has_text(node.serial, requested)) &&
         call.identity.sees_rack(node.rack);
}

/// What of a node's record has the text: serial numbers, models and names of parts.
void search_record(const record::NodeRecord& record, engine::RunId run,
                   const std::string& requested, std::size_t most, json::array& items) {
  const auto add = [&](std::string_view kind, const std::string& part, const std::string& text) {
    if (items.size() >= most || text.empty() || !has_text(text, requested)) return;
    json::object item{
        {"kind", kind}, {"node", record.node}, {"run", run}, {"text", printable(text)}};
    if (!part.empty()) item["part"] = printable(part);
    items.push_back(std::move(item));
  };
  add("serial", {}, record.system_serial);
  const auto add_parts = [&](const std::vector<inventory::Part>& parts) {
    for (const auto& part : parts) {
      add("serial", part.name, part.serial);
      add("model", part.name, part.model);
      add("part", part.name, part.name);
    }
  };
  add_parts(record.bmc_parts);
  for (const auto& [stage, findings] : record.findings) add_parts(findings.parts);
}

/// What the settings say of a hook: nothing of a secret.
json::object hook_row(const NoticeHook& hook, const Identity& identity) {
  json::object row{{"name", hook.name},
                   {"kind", to_string(hook.kind)},
                   {"on", json::array(hook.on.begin(), hook.on.end())},
                   {"group_s", hook.group.count()}};
  json::array racks;
  for (const auto& rack : hook.racks.racks())
    if (identity.sees_rack(rack)) racks.emplace_back(rack);
  if (!racks.empty()) row["racks"] = std::move(racks);
  if (identity.sees_all_racks() && !hook.url.empty()) row["host"] = hook_host(hook.url);
  if (hook.quiet)
    row["quiet"] =
        fmt::format("{} to {}", time_of_day(hook.quiet->from), time_of_day(hook.quiet->to));
  if (!hook.urgent.empty()) row["urgent"] = json::array(hook.urgent.begin(), hook.urgent.end());
  return row;
}

void put_tally(json::object& row, const NoticeTally& tally, const Identity& identity) {
  row["sent"] = tally.sent;
  row["lost"] = tally.lost;
  if (tally.sent_at != engine::WallTime{}) row["last_sent"] = utc_ms(tally.sent_at);
  if (tally.failed_at == engine::WallTime{}) return;
  row["last_failed"] = utc_ms(tally.failed_at);
  if (identity.sees_all_racks()) row["why"] = printable(tally.why);
}

void put_queue(json::object& row, const NoticeQueue& queue, const NoticeHook& hook) {
  row["waiting"] = queue.size();
  row["tries"] = queue.tries();
  if (const auto due = queue.due(hook, report::wall_now())) row["next"] = utc_ms(*due);
}

const inventory::Node* node_for(const inventory::Inventory* inventory, const Call& call) {
  const auto* node = inventory == nullptr ? nullptr : inventory->node(call.text("node"));
  return node != nullptr && call.identity.sees_rack(node->rack) ? node : nullptr;
}

}  // namespace

Reply who_am_i(RequestHandler& handler, const Call& call) {
  const auto& identity = call.identity;
  const auto site = handler.shared().site.get();
  json::object who{{"name", identity.name},
                   {"kind", to_string(identity.kind)},
                   {"role", to_string(identity.role)}};
  if (!identity.sees_all_racks()) who["racks"] = texts_json(identity.racks.racks());
  if (identity.expires != engine::WallTime{}) who["expires"] = utc_ms(identity.expires);
  if (!identity.csrf.empty()) who["csrf"] = identity.csrf;
  const auto& words = site->settings.two_person;
  who["two_person"] = json::array(words.begin(), words.end());
  who["reason_required"] = json::array{"skip"};
  return json_answer(who);
}

Reply read_status(RequestHandler& handler, const Call& call) {
  const auto& shared = handler.shared();
  json::array runs;
  if (const auto status = controller::read_status(shared.state))
    for (const auto& each : status->runs) {
      const auto run = handler.store().run(each.run);
      const bool seen = run && (call.identity.sees_all_racks() || handler.sees_all(call, *run));
      if (seen) runs.push_back(controller::to_json(each));
    }
  const auto inventory = shared.inventory.get();
  json::object status{{"version", shared.version},
                      {"site", inventory ? inventory->site : ""},
                      {"rehearsal", shared.rehearsal},
                      {"started", utc_ms(shared.started)},
                      {"pid", ::getpid()},
                      {"runs", std::move(runs)}};
  return json_answer(status);
}

Reply read_inventory(RequestHandler& handler, const Call& call) {
  const auto inventory = handler.shared().inventory.get();
  if (!inventory) return not_found("this service has no inventory: cupel serve --inventory FILE");
  json::array racks, power, profiles;
  const auto& who = call.identity;
  for (const auto& rack : inventory->racks)
    if (who.sees_rack(rack.name))
      racks.push_back({{"name", rack.name}, {"room", rack.room}, {"units", rack.units}});
  for (const auto& level : inventory->power) {
    // "a01/p1/b1" is of the rack a01.
    if (!who.sees_rack(level.name.substr(0, level.name.find('/')))) continue;
    json::object each{
        {"name", level.name}, {"kind", level_word(level.kind)}, {"watts", level.watts}};
    if (!level.parent.empty()) each["parent"] = level.parent;
    power.push_back(std::move(each));
  }
  for (const auto& [name, profile] : inventory->profiles)
    profiles.push_back({{"name", name},
                        {"units", profile.units},
                        {"idle_watts", profile.draw.idle_watts},
                        {"peak_watts", profile.draw.loaded_watts}});
  const std::int64_t seen = std::ranges::count_if(
      inventory->nodes, [&](const inventory::Node& node) { return who.sees_rack(node.rack); });
  return json_answer(json::object{{"site", inventory->site},
                                  {"file", inventory->file},
                                  {"digest", inventory->digest},
                                  {"racks", std::move(racks)},
                                  {"power", std::move(power)},
                                  {"profiles", std::move(profiles)},
                                  {"nodes", seen}});
}

Reply list_nodes(RequestHandler& handler, const Call& call) {
  const auto inventory = handler.shared().inventory.get();
  if (!inventory) return not_found("this service has no inventory: cupel serve --inventory FILE");
  const auto version = handler.journal().newest_run();
  if (!version) return problem_of(version.error());
  return handler.kept(call, fmt::format("{} {}", inventory->digest, *version), [&]() -> Reply {
    const auto newest = handler.journal().newest_runs();
    if (!newest) return problem_of(newest.error());
    const std::map<std::string, engine::RunId, std::less<>> runs{newest->begin(), newest->end()};
    const auto most = static_cast<std::size_t>(call.integer("limit", kUsualPage));
    auto skip = number<std::size_t>(call.text("cursor")).value_or(0);
    const auto first = skip;
    json::array items;
    std::string next;
    for (const auto& node : inventory->nodes) {
      if (!is_meant(call, node) || (skip > 0 && skip-- > 0)) continue;
      if (items.size() == most) {
        next = std::to_string(first + most);
        break;
      }
      auto row = node_row(*inventory, node);
      if (const auto run = runs.find(node.name); run != runs.end()) row["run"] = run->second;
      items.push_back(std::move(row));
    }
    return list_answer(std::move(items), next);
  });
}

Reply read_node(RequestHandler& handler, const Call& call) {
  const auto inventory = handler.shared().inventory.get();
  const auto* node = node_for(inventory.get(), call);
  if (node == nullptr)
    return not_found(fmt::format("the inventory has no node '{}'", call.text("node")));
  const auto runs = handler.store().runs_of(node->name, kRunsOfNode);
  if (!runs) return problem_of(runs.error());
  auto row = node_row(*inventory, *node);
  row["runs"] = json::array(runs->begin(), runs->end());
  return json_answer(row);
}

Reply search(RequestHandler& handler, const Call& call) {
  const auto inventory = handler.shared().inventory.get();
  const auto requested = lower_case(call.text("q"));
  if (requested.size() < 2) return invalid("query.q is to have at least 2 characters");
  const auto most = static_cast<std::size_t>(call.integer("limit", 50));
  json::array items;
  bool incomplete = false;
  if (inventory)
    for (const auto& node : inventory->nodes) {
      if (!call.identity.sees_rack(node.rack)) continue;
      const bool by_name = has_text(node.name, requested);
      if (!by_name && !has_text(node.serial, requested)) continue;
      incomplete = items.size() >= most;
      if (incomplete) break;
      items.push_back({{"kind", by_name ? "node" : "serial"},
                       {"node", node.name},
                       {"text", by_name ? node.name : node.serial}});
    }
  const auto newest = handler.journal().newest_runs();
  if (!newest) return problem_of(newest.error());
  constexpr std::size_t kMostRecords = 2000;
  std::size_t looked_at = 0;
  for (const auto& [node, run] : *newest) {
    if (!handler.sees(call, run, node)) continue;
    incomplete = incomplete || items.size() >= most || looked_at == kMostRecords;
    if (incomplete) break;
    ++looked_at;
    const auto record = record::node_record(handler.store(), run, node);
    if (record) search_record(*record, run, requested, most, items);
  }
  json::object found{{"items", std::move(items)}};
  if (incomplete) found["incomplete"] = true;
  return json_answer(found);
}

Reply list_playbooks(RequestHandler& handler, const Call&) {
  const auto site = handler.shared().site.get();
  json::array items;
  for (const auto& each : site_playbooks(site->settings)) {
    json::array parameters;
    for (const auto& parameter : each.parameters)
      parameters.push_back(
          {{"name", parameter.name}, {"type", parameter.type}, {"value", parameter.value}});
    items.push_back({{"name", each.name},
                     {"description", each.description},
                     {"parameters", std::move(parameters)}});
  }
  return list_answer(std::move(items), {});
}

Reply list_schedules(RequestHandler& handler, const Call& call) {
  const auto site = handler.shared().site.get();
  const auto book = ScheduleBook::open(handler.shared().state);
  if (!book) return problem_of(book.error());
  json::array items;
  for (const auto& each : site->settings.schedules) {
    json::object item{
        {"name", each.name},           {"playbook", each.playbook},
        {"when", when_of(each)},       {"next", utc_ms(next_due(each, report::wall_now()))},
        {"idle_only", each.idle_only}, {"missed", each.skips_missed ? "skip" : "once"}};
    // Both may name nodes of racks that this person may not see.
    const bool sees_all = call.identity.sees_all_racks();
    if (sees_all) item["nodes"] = each.nodes;
    if (const auto* last = book->last(each.name)) {
      item["due"] = utc_ms(last->due);
      item["outcome"] = last->outcome;
      if (last->run != 0) item["run"] = last->run;
      if (sees_all && !last->why.empty()) item["why"] = last->why;
    }
    items.push_back(std::move(item));
  }
  return list_answer(std::move(items), {});
}

Reply list_notices(RequestHandler& handler, const Call& call) {
  const auto site = handler.shared().site.get();
  auto read = read_notice_book(handler.shared().state);
  if (!read) return problem_of(read.error());
  auto book = read->value_or(NoticeBook{});
  json::array items;
  for (const auto& hook : site->settings.notices) {
    const bool is_theirs = hook.racks.is_all() ||
                           hook.racks.common_with(call.identity.racks) != inventory::RackScope{};
    if (!is_theirs) continue;
    auto row = hook_row(hook, call.identity);
    put_tally(row, book.tallies[hook.name], call.identity);
    put_queue(row, book.queues[hook.name], hook);
    items.push_back(std::move(row));
  }
  return list_answer(std::move(items), {});
}

}  // namespace cupel::api
