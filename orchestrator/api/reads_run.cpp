// Runs and how they stand: lists of runs, of a run's nodes, of its steps, of its verdicts.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>

#include "base/text.h"
#include "burnin/criteria/causes.h"
#include "orchestrator/api/handlers.h"
#include "orchestrator/controller/run_status.h"
#include "orchestrator/controller/run_view.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/report/kept_summary.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/report/verdict_json.h"
#include "orchestrator/store/damaged_run.h"

namespace cupel::api {
namespace {

namespace json = boost::json;
using engine::RunPhase;

bool is_over(const store::Run& run) {
  return run.phase == RunPhase::ended || run.phase == RunPhase::cancelled;
}

std::string text_in(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

/// How many of the nodes that are seen have which state.
using Counts = std::map<std::string, std::int64_t, std::less<>>;

/// Of a run that is over, from what is kept of it; its nodes' own.
Result<Counts> kept_counts(RequestHandler& handler, const Call& call, const store::Run& run) {
  TRY(const auto summary, report::kept_summary(handler.store(), run, handler.shared().version));
  Counts counts;
  const auto* nodes = summary.if_contains("nodes");
  if (nodes == nullptr || !nodes->is_array()) return counts;
  for (const auto& each : nodes->get_array()) {
    if (!each.is_object()) continue;
    const auto node = text_in(each.get_object(), "node");
    if (handler.sees(call, run.id, node)) ++counts[text_in(each.get_object(), "verdict")];
  }
  return counts;
}

Result<Counts> live_counts(RequestHandler& handler, const Call& call, const store::Run& run) {
  TRY(const auto* live, handler.runs().of(run.id, handler.journal()));
  Counts counts;
  for (const auto& node : run.nodes) {
    if (!handler.sees(call, run.id, node)) continue;
    const auto state = live->standing(node).state;
    const bool judged = state == "pass" || state == "fail" || state == "inconclusive";
    ++counts[judged ? std::string{state} : "in_work"];
  }
  return counts;
}

/// A run in a list. Errors: kStorage.
Result<json::object> run_row(RequestHandler& handler, const Call& call, const store::Run& run) {
  TRY(const auto head, handler.head_of(run.id));
  TRY(const auto counts,
      is_over(run) ? kept_counts(handler, call, run) : live_counts(handler, call, run));
  const auto count = [&](std::string_view word) {
    const auto found = counts.find(word);
    return found == counts.end() ? std::int64_t{0} : found->second;
  };
  const auto nodes = std::ranges::count_if(
      run.nodes, [&](const std::string& node) { return handler.sees(call, run.id, node); });
  json::object row{{"run", run.id},
                   {"playbook", run.playbook},
                   {"state", to_string(run.phase)},
                   {"began", utc_ms(run.began)},
                   {"nodes", nodes},
                   {"pass", count("pass")},
                   {"fail", count("fail")},
                   {"inconclusive", count("inconclusive")},
                   {"in_work", count("in_work")}};
  if (run.ended != engine::WallTime{}) {
    row["ended"] = utc_ms(run.ended);
    row["seconds"] = static_cast<double>((run.ended - run.began).count()) / 1000.0;
  }
  if (head->begin.contains("rehearsal")) row["rehearsal"] = true;
  if (const auto by = text_in(head->begin, "by"); !by.empty()) row["by"] = by;
  return row;
}

/// What the controller says of the run, and what its fold says of its halts and delays: of the
/// nodes that are seen.
void put_standing(RequestHandler& handler, const Call& call, const store::Run& run,
                  const LiveRun& live, json::object& row) {
  const bool sees_all = handler.sees_all(call, run);
  const auto& state = live.folded().state;
  json::object running, halts;
  std::size_t between_tries = 0, failed = 0;
  json::array overdue;
  const auto now = report::wall_now();
  for (const auto& node : run.nodes) {
    if (!handler.sees(call, run.id, node)) continue;
    const auto standing = live.standing(node);
    if (standing.state == "between-tries") ++between_tries;
    if (standing.state == "failed" || standing.state == "needs-operator") ++failed;
    if (standing.state != "running") continue;
    auto& count = running[standing.step->name];
    count = count.is_null() ? 1 : count.to_number<std::int64_t>() + 1;
    if (standing.at->overdue && overdue.size() < 100)
      overdue.push_back(
          {{"node", node},
           {"step", standing.step->name},
           {"running_ms", std::max((now - standing.step->moved->time).count(), std::int64_t{0})}});
  }
  // The reason counts nodes of all racks, as what is held and what waits for approval does below.
  for (const auto& [step, why] : state.halts) halts[step] = sees_all ? why : std::string{};
  row["standing"] = {{"running", std::move(running)},
                     {"between_tries", between_tries},
                     {"failed", failed},
                     {"paused", state.paused},
                     {"halted", std::move(halts)},
                     {"overdue", std::move(overdue)}};
  const auto status = controller::read_status(handler.shared().state);
  const auto* known = controller::find(status, run.id);
  if (known == nullptr) return;
  auto object = controller::to_json(*known);
  for (const auto* key : {"ends", "hands_until", "halted", "held", "approvals"}) {
    const bool of_all = key == std::string_view{"held"} || key == std::string_view{"approvals"};
    if (of_all && !sees_all) continue;
    if (auto* value = object.if_contains(key); value != nullptr && !value->is_null())
      row[key] = std::move(*value);
  }
}

/// What the run's first event says of it, without racks that are not seen. Parameters are of the
/// whole run, and may name its nodes.
void put_begin(RequestHandler& handler, const Call& call, const store::Run& run,
               const json::object& begin, json::object& row) {
  for (const auto* key : {"steps", "site"})
    if (const auto* value = begin.if_contains(key)) row[key] = *value;
  if (const auto* value = begin.if_contains("parameters"); value && handler.sees_all(call, run))
    row["parameters"] = *value;
  const auto* racks = begin.if_contains("racks");
  if (racks == nullptr || !racks->is_array()) return;
  json::array seen;
  for (const auto& rack : racks->get_array())
    if (rack.is_object() && call.identity.sees_rack(text_in(rack.get_object(), "name")))
      seen.push_back(rack);
  row["racks"] = std::move(seen);
}

bool is_requested(const Call& call, std::string_view rack, std::string_view state) {
  const auto requested_rack = call.text("rack"), requested_state = call.text("state");
  return (requested_rack.empty() || requested_rack == rack) &&
         (requested_state.empty() || requested_state == state) && call.identity.sees_rack(rack);
}

json::object node_row_of(const LiveRun& live, const std::string& node, const NodePlace& place,
                         const LiveRun::Standing& standing) {
  json::object row{{"node", node},
                   {"rack", place.rack},
                   {"unit", place.unit},
                   {"height", place.height},
                   {"profile", place.profile},
                   {"state", standing.state},
                   {"done", standing.done},
                   {"steps", live.folded().trace.steps.size()}};
  if (standing.step != nullptr) {
    row["step"] = standing.step->name;
    row["step_began"] = utc_ms(standing.at->began);
    row["attempt"] = standing.at->attempt;
    // A step that is over was late, and is not: its outcome is what there is to say.
    if (standing.at->overdue && standing.state == "running") row["overdue"] = true;
  }
  if (const auto cause = live.cause(node); !cause.empty()) row["cause"] = cause;
  return row;
}

/// Folded up to its newest event. Errors: kNotFound; kStorage.
Result<LiveRun*> live_for(RequestHandler& handler, const Call& call) {
  TRY(const auto run, handler.run_for(call));
  return handler.runs().of(run->id, handler.journal());
}

/// As everywhere: with the order of the node's events where what is behind a cause depends on it.
/// Errors: kStorage.
Result<json::array> diagnosed(RequestHandler& handler, engine::RunId run, const std::string& node,
                              std::span<const burnin::Cause> causes) {
  burnin::FindingsByStage findings;
  if (burnin::causes().asks_for_order(causes)) {
    TRY(auto record, record::node_record(handler.store(), run, node));
    findings = std::move(record.findings);
  }
  return report::to_json(causes, findings);
}

std::size_t limit_of(const Call& call, std::int64_t usual) {
  return static_cast<std::size_t>(call.integer("limit", usual));
}

/// A run that cannot be read, so that the others are listed all the same.
json::object damaged_row(RequestHandler& handler, const Call& call, const store::Run& run,
                         const Error& error) {
  std::vector<std::string> seen;
  std::ranges::copy_if(run.nodes, std::back_inserter(seen),
                       [&](const std::string& node) { return handler.sees(call, run.id, node); });
  // Who repaired it, and which nodes that freed, is of the whole run.
  if (!call.identity.sees_all_racks())
    return controller::damaged_run_view(
        run, seen, fmt::format("the journal of run {} cannot be read", run.id));
  const auto view = controller::run_view(handler.store(), run, {}, handler.shared().version);
  const auto& why = view ? error : view.error();  // as the command on this machine says it
  return controller::damaged_run_view(run, seen,
                                      store::words_of_damage(handler.store(), run.id, why));
}

Reply runs_of(RequestHandler& handler, const Call& call) {
  const auto most = limit_of(call, 100);
  json::array items;
  auto before = number<engine::RunId>(call.text("cursor")).value_or(0);
  for (;;) {
    const auto ids =
        handler.journal().runs({.before = before, .phase = call.text("state"), .most = most + 1});
    if (!ids) return problem_of(ids.error());
    for (const auto id : *ids) {
      if (items.size() == most) return list_answer(std::move(items), std::to_string(before));
      before = id;
      const auto run = handler.store().run(id);
      if (!run) continue;  // removed meanwhile
      if (!call.identity.sees_all_racks() &&
          std::ranges::none_of(run->nodes,
                               [&](const auto& node) { return handler.sees(call, id, node); }))
        continue;
      auto row = run_row(handler, call, *run);
      items.push_back(row ? *std::move(row) : damaged_row(handler, call, *run, row.error()));
    }
    if (ids->size() <= most) return list_answer(std::move(items), {});
  }
}

Reply run_of(RequestHandler& handler, const Call& call, const store::Run& run) {
  auto row = run_row(handler, call, run);
  if (!row) return problem_of(row.error());
  const auto head = handler.head_of(run.id);
  if (head) put_begin(handler, call, run, (*head)->begin, *row);
  if (is_over(run)) {
    const auto summary = report::kept_summary(handler.store(), run, handler.shared().version);
    const auto* failures = summary ? summary->if_contains("failures") : nullptr;
    const bool all = call.identity.sees_all_racks();
    if (failures != nullptr && all) (*row)["failures"] = *failures;
    return json_answer(*row);
  }
  const auto live = handler.runs().of(run.id, handler.journal());
  if (!live) return problem_of(live.error());
  put_standing(handler, call, run, **live, *row);
  return json_answer(*row);
}

}  // namespace

Reply list_runs(RequestHandler& handler, const Call& call) {
  const auto moment = handler.moment();
  if (!moment) return problem_of(moment.error());
  return handler.kept(call, *moment, [&] { return runs_of(handler, call); });
}

Reply read_run(RequestHandler& handler, const Call& call) {
  // Before the run is read: what is written meanwhile is of a later one.
  const auto moment = handler.moment();
  if (!moment) return problem_of(moment.error());
  const auto run = handler.run_for(call);
  if (!run) return problem_of(run.error());
  return handler.kept(call, *moment, [&] { return run_of(handler, call, **run); });
}

Reply list_run_nodes(RequestHandler& handler, const Call& call) {
  const auto live = live_for(handler, call);
  if (!live) return problem_of(live.error());
  const auto& run = **live;
  // Words of what is waited for change without an event.
  const auto version = fmt::format("{} {}", run.tip(), handler.shared().waiting.changes(run.run()));
  return handler.kept(call, version, [&]() -> Reply {
    const auto waiting = handler.shared().waiting.of(run.run());
    const auto most = limit_of(call, 10'000);
    auto skip = number<std::size_t>(call.text("cursor")).value_or(0);
    const auto first = skip;
    json::array items;
    for (const auto& node : run.head().order) {
      const auto& place = run.head().places.find(node)->second;
      const auto standing = run.standing(node);
      if (!is_requested(call, place.rack, standing.state) || (skip > 0 && skip-- > 0)) continue;
      if (items.size() == most) return list_answer(std::move(items), std::to_string(first + most));
      auto row = node_row_of(run, node, place, standing);
      const auto words = waiting.find(node);
      if (words != waiting.end() && standing.state == "running")
        row["waits_for"] = printable(words->second);
      items.push_back(std::move(row));
    }
    return list_answer(std::move(items), {});
  });
}

Reply list_steps(RequestHandler& handler, const Call& call) {
  const auto live = live_for(handler, call);
  if (!live) return problem_of(live.error());
  const auto& run = **live;
  return handler.kept(call, run.tip(), [&]() -> Reply {
    const auto only_node = call.text("node"), only_step = call.text("step");
    const auto most = limit_of(call, 10'000);
    auto skip = number<std::size_t>(call.text("cursor")).value_or(0);
    const auto first = skip;
    json::array items;
    for (const auto& [node, trace] : run.folded().trace.nodes) {
      if (!only_node.empty() && node != only_node) continue;
      if (!handler.sees(call, run.run(), node)) continue;
      const auto& steps = run.folded().state.nodes.find(node)->second.steps;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto& traced = trace.steps[i];
        const bool selected =
            traced.moved != nullptr && (only_step.empty() || traced.name == only_step);
        if (!selected || (skip > 0 && skip-- > 0)) continue;
        if (items.size() == most)
          return list_answer(std::move(items), std::to_string(first + most));
        const auto& step = steps[i];
        const auto outcome = step.phase == engine::StepState::Phase::skipped ? "skipped"
                             : step.over() ? to_string(step.outcome)
                                           : std::string_view{};
        json::object row{
            {"node", node},
            {"step", traced.name},
            {"outcome", outcome},
            {"began",
             utc_ms(step.over() && step.began == engine::WallTime{} ? step.ended : step.began)},
            {"attempts", step.attempt}};
        if (step.over()) row["ended"] = utc_ms(step.ended);
        if (!step.detail.empty()) row["detail"] = shortened_at_word(printable(step.detail), 500);
        if (step.overdue) row["overdue"] = true;
        if (traced.between_tries) row["between_tries"] = true;
        items.push_back(std::move(row));
      }
    }
    return list_answer(std::move(items), {});
  });
}

Reply list_verdicts(RequestHandler& handler, const Call& call) {
  const auto live = live_for(handler, call);
  if (!live) return problem_of(live.error());
  const auto& run = **live;
  return handler.kept(call, run.tip(), [&]() -> Reply {
    json::array items;
    for (const auto& node : run.head().order) {
      const auto* verdict = run.verdict(node);
      if (verdict == nullptr || !handler.sees(call, run.run(), node)) continue;
      const auto not_met = std::ranges::count_if(verdict->checked, [](const burnin::Checked& each) {
        return each.met != burnin::Met::met;
      });
      auto causes = diagnosed(handler, run.run(), node, verdict->causes);
      if (!causes) return problem_of(causes.error());
      items.push_back({{"node", node},
                       {"verdict", to_string(verdict->decision)},
                       {"causes", *std::move(causes)},
                       {"checked", verdict->checked.size()},
                       {"not_met", not_met}});
    }
    return list_answer(std::move(items), {});
  });
}

}  // namespace cupel::api
