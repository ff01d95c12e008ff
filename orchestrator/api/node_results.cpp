#include "orchestrator/api/node_results.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <limits>
#include <set>
#include <utility>

#include "base/json.h"
#include "orchestrator/api/handlers.h"
#include "orchestrator/record/codec.h"

namespace cupel::api {
namespace {

constexpr std::size_t kMostEnds = 200;  // of one node's steps that are looked through
constexpr std::size_t kMostAnswered = 10'000;
constexpr std::int64_t kPast = 20;

}  // namespace

Result<NodeResult> result_of(const store::JournalReader& journal, engine::RunId run,
                             const std::string& node) {
  NodeResult result{.run = run, .state = "ended"};
  // Most often the last but one: one at a time, before all that is left.
  std::int64_t before = 0;
  for (std::size_t looked = 0; looked < kMostEnds;) {
    const std::size_t most = looked < 3 ? 1 : kMostEnds;
    TRY(const auto ends,
        journal.page(
            {.run = run,
             .node = node,
             .kind = "step-ended",
             .most = most,
             .newest_before = before == 0 ? std::numeric_limits<std::int64_t>::max() : before}));
    for (const auto& end : ends) {
      const auto data = parse_json(end.data);
      if (!data || !data->is_object() || !data->get_object().contains("verdict")) continue;
      const auto verdict = record::verdict_from(data->get_object());
      result.state = to_string(verdict.decision);
      result.cause = cause_line(verdict);
      return result;
    }
    if (ends.size() < most) break;
    looked += ends.size();
    before = ends.back().sequence;
  }
  return result;
}

Result<bool> NodeResults::catch_up(const store::JournalReader& journal, const SiteNodes& nodes) {
  TRY(const auto open, journal.open_runs());
  const std::set<engine::RunId> works{open.begin(), open.end()};
  TRY(const auto newest, journal.newest_runs());
  auto before = std::exchange(all_, {});
  std::size_t reads = 0;
  bool complete = true;
  for (const auto& [node, run] : newest) {
    if (!nodes.contains(node) || works.contains(run)) continue;
    if (const auto known = before.find(node); known != before.end() && known->second.run == run) {
      all_.emplace(node, std::move(known->second));
      continue;
    }
    complete = reads < kMostReads;
    if (!complete) continue;
    ++reads;
    TRY(all_[node], result_of(journal, run, node));
  }
  return complete;
}

Reply list_history(Desk& desk, const Call& call) {
  const auto inventory = desk.shared().inventory.get();
  const auto* node = inventory ? inventory->node(call.text("node")) : nullptr;
  if (node == nullptr || !call.identity.sees_rack(node->rack))
    return not_found(fmt::format("the inventory has no node '{}'", call.text("node")));
  const auto past =
      desk.journal().past_of(node->name, static_cast<std::size_t>(call.integer("limit", kPast)));
  if (!past) return problem_of(past.error());
  boost::json::array items;
  for (const auto& each : *past) {
    if (!desk.sees(call, each.run, node->name)) continue;
    boost::json::object row{{"run", each.run},
                            {"playbook", each.playbook},
                            {"began", utc_ms(each.began)},
                            {"state", to_string(each.phase)}};
    const auto result = result_of(desk.journal(), each.run, node->name);
    if (!result) return problem_of(result.error());
    const bool over =
        each.phase == engine::RunPhase::ended || each.phase == engine::RunPhase::cancelled;
    if (over && result->state != "ended") row["state"] = result->state;
    if (over && !result->cause.empty()) row["cause"] = result->cause;
    items.push_back(std::move(row));
  }
  return list_answer(std::move(items), {});
}

Reply list_results(Desk& desk, const Call& call) {
  const auto inventory = desk.shared().inventory.get();
  if (!inventory) return not_found("this service has no inventory: cupel serve --inventory FILE");
  NodeResults::SiteNodes nodes;
  for (const auto& each : inventory->nodes) nodes.emplace(each.name, &each);
  const auto complete = desk.results().catch_up(desk.journal(), nodes);
  if (!complete) return problem_of(complete.error());
  const auto most =
      static_cast<std::size_t>(call.integer("limit", static_cast<std::int64_t>(kMostAnswered)));
  const auto behind = call.text("cursor");
  const auto& all = desk.results().all();
  boost::json::array items;
  std::string last;
  for (auto at = behind.empty() ? all.begin() : all.upper_bound(behind); at != all.end(); ++at) {
    const auto& [name, result] = *at;
    const auto* node = inventory->node(name);
    const bool seen =
        node != nullptr && call.identity.sees_rack(node->rack) && desk.sees(call, result.run, name);
    if (!seen) continue;
    if (items.size() == most) return list_answer(std::move(items), last);
    boost::json::object row{{"node", name}, {"run", result.run}, {"state", result.state}};
    if (!result.cause.empty()) row["cause"] = result.cause;
    items.push_back(std::move(row));
    last = name;
  }
  boost::json::object answer{{"items", std::move(items)}};
  if (!*complete) answer["incomplete"] = true;
  return json_answer(answer);
}

}  // namespace cupel::api
