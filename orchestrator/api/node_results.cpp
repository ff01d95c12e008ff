#include "orchestrator/api/node_results.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <limits>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "orchestrator/api/handlers.h"
#include "orchestrator/record/codec.h"

namespace cupel::api {
namespace {

constexpr std::size_t kMostEnds = 200;  // of one node's steps that are looked through
constexpr std::size_t kMostPast = 20;   // runs behind one that judged nothing
constexpr std::size_t kMostAnswered = 10'000;
constexpr std::int64_t kPast = 20;
constexpr std::string_view kEnded = "ended";

/// Where nothing judged the node: what it could not do. By the newest end of each step.
void note_failure(const store::EventText& end, const boost::json::value& data,
                  std::set<std::string>& steps, NodeResult& result) {
  const bool done =
      engine::outcome_of(text_at(data, "outcome").value_or("done")) == engine::Outcome::done;
  if (!steps.insert(end.step).second || done || result.state != kEnded) return;
  result.state = to_string(burnin::Decision::inconclusive);
  constexpr std::size_t kLongest = 300;
  result.cause = shortened(
      printable(fmt::format("{}: {}", end.step, text_at(data, "detail").value_or("it failed"))),
      kLongest);
}

/// What older runs say of a node whose newest judged nothing: a look hides no verdict, and one that
/// failed hides no failure.
Result<NodeResult> by_older_runs(const store::JournalReader& journal, const std::string& node,
                                 const std::set<engine::RunId>& works, NodeResult newest,
                                 std::size_t& reads) {
  TRY(const auto past, journal.past_of(node, kMostPast));
  for (const auto& each : past) {
    if (each.run >= newest.run || works.contains(each.run)) continue;
    ++reads;
    TRY(auto older, result_of(journal, each.run, node));
    if (!older.judged) continue;
    const bool stands = newest.state == kEnded || older.state == to_string(burnin::Decision::fail);
    if (!stands) return newest;
    older.newest = newest.newest;
    return older;
  }
  return newest;
}

}  // namespace

Result<NodeResult> result_of(const store::JournalReader& journal, engine::RunId run,
                             const std::string& node) {
  NodeResult result{.run = run, .newest = run, .state = std::string{kEnded}};
  std::set<std::string> steps;
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
    if (ends.empty()) break;  // fewer than `most` may come: a page has a bound of bytes, too
    for (const auto& end : ends) {
      const auto data = parse_json(end.data);
      if (!data || !data->is_object()) continue;
      if (!data->get_object().contains("verdict")) {
        note_failure(end, *data, steps, result);
        continue;
      }
      const auto verdict = record::verdict_from(data->get_object());
      result.state = to_string(verdict.decision);
      result.cause = cause_line(verdict);
      result.judged = true;
      return result;
    }
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
    if (const auto known = before.find(node);
        known != before.end() && known->second.newest == run) {
      all_.emplace(node, std::move(known->second));
      continue;
    }
    complete = reads < kMostReads;
    if (!complete) continue;
    ++reads;
    TRY(auto result, result_of(journal, run, node));
    if (!result.judged) {
      TRY(result, by_older_runs(journal, node, works, std::move(result), reads));
    }
    all_.emplace(node, std::move(result));
  }
  return complete;
}

Reply list_history(RequestHandler& handler, const Call& call) {
  const auto inventory = handler.shared().inventory.get();
  const auto* node = inventory ? inventory->node(call.text("node")) : nullptr;
  if (node == nullptr || !call.identity.sees_rack(node->rack))
    return not_found(fmt::format("the inventory has no node '{}'", call.text("node")));
  const auto past =
      handler.journal().past_of(node->name, static_cast<std::size_t>(call.integer("limit", kPast)));
  if (!past) return problem_of(past.error());
  boost::json::array items;
  for (const auto& each : *past) {
    if (!handler.sees(call, each.run, node->name)) continue;
    boost::json::object row{{"run", each.run},
                            {"playbook", each.playbook},
                            {"began", utc_ms(each.began)},
                            {"state", to_string(each.phase)}};
    const auto result = result_of(handler.journal(), each.run, node->name);
    if (!result) return problem_of(result.error());
    const bool over =
        each.phase == engine::RunPhase::ended || each.phase == engine::RunPhase::cancelled;
    if (over && result->state != kEnded) row["state"] = result->state;
    if (over && !result->cause.empty()) row["cause"] = result->cause;
    items.push_back(std::move(row));
  }
  return list_answer(std::move(items), {});
}

Reply list_results(RequestHandler& handler, const Call& call) {
  const auto inventory = handler.shared().inventory.get();
  if (!inventory) return not_found("this service has no inventory: cupel serve --inventory FILE");
  NodeResults::SiteNodes nodes;
  for (const auto& each : inventory->nodes) nodes.emplace(each.name, &each);
  const auto complete = handler.results().catch_up(handler.journal(), nodes);
  if (!complete) return problem_of(complete.error());
  const auto most =
      static_cast<std::size_t>(call.integer("limit", static_cast<std::int64_t>(kMostAnswered)));
  const auto behind = call.text("cursor");
  const auto& all = handler.results().all();
  boost::json::array items;
  std::string last;
  for (auto at = behind.empty() ? all.begin() : all.upper_bound(behind); at != all.end(); ++at) {
    const auto& [name, result] = *at;
    const auto* node = inventory->node(name);
    const bool seen = node != nullptr && call.identity.sees_rack(node->rack) &&
                      handler.sees(call, result.run, name);
    if (!seen) continue;
    if (items.size() == most) return list_answer(std::move(items), last);
    boost::json::object row{{"node", name}, {"run", result.run}, {"state", result.state}};
    if (result.newest != result.run) row["newest"] = result.newest;
    if (!result.cause.empty()) row["cause"] = result.cause;
    items.push_back(std::move(row));
    last = name;
  }
  boost::json::object answer{{"items", std::move(items)}};
  if (!*complete) answer["incomplete"] = true;
  return json_answer(answer);
}

}  // namespace cupel::api
