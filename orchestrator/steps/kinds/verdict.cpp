// What all that was found means. No door to the machine is opened here.
#include "orchestrator/steps/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "burnin/criteria/compared_causes.h"
#include "burnin/stage.h"
#include "burnin/verdict_text.h"
#include "inventory/model.h"
#include "orchestrator/engine/command.h"
#include "orchestrator/engine/event_data.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/record/fleet_codec.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/steps/comparison.h"
#include "orchestrator/steps/flaky_gpus.h"
#include "orchestrator/steps/kinds/kinds.h"
#include "orchestrator/steps/part_places.h"
#include "orchestrator/steps/peers.h"
#include "orchestrator/steps/rack_domains.h"
#include "orchestrator/steps/second_look.h"
#include "orchestrator/steps/uniformity.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"

namespace cupel::steps::kinds {
namespace {

using engine::StepEnd;
using engine::StepRequest;

/// What people left out, and what was left out since nothing reported a fact, stands beside every
/// verdict, a pass too.
std::string passed_over(const record::NodeRecord& record, const std::string& reported) {
  using record::Skipped;
  std::string text;
  for (const auto& step : record.steps) {
    const bool meant = was_passed_over(step.skipped);
    if (!meant || reported.find(step.detail) != std::string::npos) continue;
    const auto* how = step.skipped == Skipped::unreported ? "was skipped: " : "";
    text += fmt::format("; {} {}{}", step.name, how, step.detail);
  }
  return text;
}

/// Whether anything of the node is compared with others.
bool is_compared(const StepRequest& request, const record::NodeRecord& record,
                 const burnin::FleetCriteria& criteria) {
  if (request.run_state == nullptr) return false;
  const auto node = request.run_state->nodes.find(request.node.name);
  const bool has_facts = node != request.run_state->nodes.end() && !node->second.facts.empty();
  return has_facts || (criteria.judge && has_rates(findings_to_compare(record)));
}

/// One node that is being measured now; empty: none is.
std::string node_at_work(StepEnvironment& environment, const StepRequest& request) {
  const auto& run = *request.run_state;
  auto& waited_for = environment.fleet->waited_for[request.node.profile];
  const auto known = run.nodes.find(waited_for);
  const bool still =
      waited_for != request.node.name && known != run.nodes.end() && is_at_work(known->second);
  if (!still) waited_for = peers_of(environment.inventory, request.node, run).one;
  return waited_for;
}

/// Other nodes that are measured now are waited for, but only as long as the step may take. Within
/// the try: a wait of the engine would be an event of the journal each time. Errors: kCancelled.
Task<Result<void>> wait_for_peers(StepEnvironment& environment, const StepRequest& request) {
  constexpr std::chrono::seconds kForItself{45};
  constexpr std::size_t kNodesPerSecond = 50, kLongest = 60;  // so many look at most
  const auto nodes = request.run_state->nodes.size();
  const std::chrono::seconds pause{std::clamp<std::size_t>(nodes / kNodesPerSecond, 1, kLongest)};
  for (;;) {
    const auto peer = node_at_work(environment, request);
    if (peer.empty() || request.deadline.left() < pause + kForItself) co_return ok();
    request.waiting("other nodes that are measured, " + peer + " among them");
    CO_TRY(co_await pause_for(pause));
  }
}

/// Nodes that passed before others had reported, and differ from them now that all have. Once for
/// all nodes of the profile: it looks at each of them.
std::vector<std::string> to_compare_again(StepEnvironment& environment,
                                          const StepRequest& request) {
  const auto& run = *request.run_state;
  for (const auto& node : environment.inventory.nodes) {
    if (node.profile != request.node.profile || node.name == request.node.name) continue;
    const auto state = run.nodes.find(node.name);
    if (state != run.nodes.end() && may_still_report(state->second)) return {};
  }
  if (!environment.fleet->compared_whole.insert(request.node.profile).second) return {};
  auto nodes = nodes_that_differ(environment.inventory, request.node.profile, run);
  for (auto& other : nodes_in_other_domains(environment.inventory, request.node.profile, run))
    if (std::ranges::find(nodes, other) == nodes.end()) nodes.push_back(std::move(other));
  std::erase_if(nodes, [&](const std::string& name) {
    const auto& facts = run.nodes.find(name)->second.facts;
    const auto verdict = facts.find(std::string{engine::kVerdictFact});
    const bool passed =
        verdict != facts.end() && verdict->second == to_string(burnin::Decision::pass);
    return !passed || name == request.node.name;
  });
  return nodes;
}

const engine::StepState* verdict_of(const engine::RunState& run, const std::string& node) {
  const auto state = run.nodes.find(node);
  if (state == run.nodes.end() || state->second.planned == nullptr) return nullptr;
  const auto& planned = *state->second.planned;
  for (std::size_t i = std::min(planned.size(), state->second.steps.size()); i-- > 0;)
    if (planned[i].kind == playbooks::StepKind::verdict) return &state->second.steps[i];
  return nullptr;
}

std::string verdict_name(const engine::RunState& run, const std::string& node) {
  const auto* step = verdict_of(run, node);
  const auto& state = run.nodes.find(node)->second;
  return (*state.planned)[static_cast<std::size_t>(step - state.steps.data())].name;
}

/// The last node to report has the verdicts of the earlier ones made again where the comparison has
/// another result by now: a canary is judged before there is anything to compare it with. Waits
/// until they have begun, so that the run does not end before. Errors: kCancelled.
Task<Result<void>> have_compared_again(StepEnvironment& environment, const StepRequest& request) {
  constexpr std::chrono::seconds kPause{1}, kLongest{30};
  std::map<std::string, int> attempts;
  for (const auto& node : to_compare_again(environment, request)) {
    const auto* step = verdict_of(*request.run_state, node);
    if (step == nullptr || !step->over()) continue;
    engine::Command again;
    again.run = request.run;
    again.kind = engine::Command::Kind::retry;
    again.node = node;
    again.step = verdict_name(*request.run_state, node);
    again.text = "all nodes have reported: it is compared with them";
    again.by = engine::kByItself;
    CO_TRY(environment.store.ask(again));
    attempts.emplace(node, step->attempt);
  }
  const auto until = request.deadline.sooner(kLongest);
  while (!attempts.empty() && until.left() > kPause) {
    request.waiting("the verdict of " + attempts.begin()->first + ", which is made again");
    CO_TRY(co_await pause_for(kPause));
    std::erase_if(attempts, [&](const auto& each) {
      const auto* step = verdict_of(*request.run_state, each.first);
      return step == nullptr || step->attempt > each.second;
    });
  }
  co_return ok();
}

/// Waits while a node is named, but only so long, and as long as the step may take. Errors:
/// kCancelled, those of `named`.
Task<Result<void>> wait_while(const StepRequest& request, std::chrono::seconds longest,
                              std::string_view what,
                              const std::function<Result<std::string>()>& named) {
  constexpr std::chrono::seconds kPause{1}, kForItself{45};
  const auto until = Deadline::in(longest);
  for (;;) {
    CO_TRY(const auto node, named());
    if (node.empty()) break;
    if (until.left() < kPause || request.deadline.left() < kPause + kForItself) break;
    request.waiting(fmt::format("{}, {} among them", what, node));
    CO_TRY(co_await pause_for(kPause));
  }
  co_return ok();
}

/// The run's events of each node, as far as the journal goes.
EventsOf events_now(const StepEnvironment& environment, const StepRequest& request) {
  return [&environment, &request](const std::string& node) {
    return environment.store.events(request.run, node);
  };
}

/// As far as this verdict goes by them.
EventsOf events_so_far(const StepEnvironment& environment, const StepRequest& request) {
  return [&environment, &request](const std::string& node) -> Result<std::vector<engine::Event>> {
    TRY(auto events, environment.store.events(request.run, node));
    const auto last = request.run_state->last_sequence;
    std::erase_if(events, [&](const engine::Event& each) { return each.sequence > last; });
    record::hand_out(environment.store, events);
    return events;
  };
}

/// The nodes beside it may end a little later. Errors: kCancelled, kStorage.
Task<Result<void>> wait_for_those_beside(const StepEnvironment& environment,
                                         const StepRequest& request, const SecondLook& look) {
  constexpr std::chrono::minutes kLongest{10};
  const std::function<Result<std::string>()> named = [&] {
    return looks_again(request, events_now(environment, request), look);
  };
  co_return co_await wait_while(request, kLongest, "nodes that are measured beside it", named);
}

/// Whether another node would pass by what the run has of it. Its earlier runs are not asked.
PassesSoFar passes_so_far(const StepEnvironment& environment, const StepRequest& request,
                          const burnin::FleetReference& reference) {
  return [&](const std::string& name) -> Result<bool> {
    const auto* node = environment.inventory.node(name);
    if (node == nullptr) return false;
    TRY(const auto record, record::node_record(environment.store, request.run, name));
    auto differences = version_differences(environment.inventory, *node, *request.run_state);
    std::ranges::move(rack_differences(environment.inventory, *node, *request.run_state),
                      std::back_inserter(differences));
    const auto compared = burnin::compare(reference, findings_to_compare(record));
    std::ranges::move(burnin::causes_of(compared), std::back_inserter(differences));
    const auto verdict =
        decide(environment.inventory.profile_of(*node), record, std::move(differences));
    return verdict.decision == burnin::Decision::pass;
  };
}

/// The stages that the node does again, and then this verdict. Errors: kCancelled, kStorage.
Task<Result<std::optional<SecondLook>>> to_look_again(StepEnvironment& environment,
                                                      const StepRequest& request,
                                                      const FleetComparison& comparison,
                                                      const burnin::Verdict& verdict) {
  const auto events_of = events_now(environment, request);
  if (!verdict.causes.empty()) {
    const auto reference = comparison.reference();
    co_return second_look_for(
        *environment.fleet, request,
        {.events_of = events_of, .passes = passes_so_far(environment, request, reference)},
        comparison.compared, verdict);
  }
  constexpr std::chrono::minutes kLongest{1};
  const std::function<Result<std::string>()> named = [&] {
    return may_be_needed_by(*environment.fleet, request, events_of);
  };
  CO_TRY(co_await wait_while(request, kLongest, "nodes that may be measured again", named));
  co_return look_beside_others(*environment.fleet, request, events_of);
}

/// Jobs of the site may run on it by now: it is measured no more.
bool is_given_away(const record::NodeRecord& record) {
  return std::ranges::any_of(record.steps, [](const record::StepRecord& step) {
    const auto* kind = playbooks::step_kind(burnin::base_name(step.name));
    return kind != nullptr && kind->kind == playbooks::StepKind::slurm_job;
  });
}

StepEnd sent_back(const SecondLook& look) { return done(look.words(), to_json(look)); }

/// What a verdict took from outside the node's record, to make it again (`cupel verdict`).
boost::json::object basis_of(const FleetComparison& comparison, const StepRequest& request) {
  boost::json::object basis;
  if (!comparison.history.empty()) basis["history"] = boost::json::value_from(comparison.history);
  if (request.run_state != nullptr) basis["events"] = request.run_state->last_sequence;
  return basis;
}

/// The verdict as it is written, and what people read of it.
StepEnd judged(const burnin::Verdict& verdict, const record::NodeRecord& record,
               const FleetComparison& comparison, boost::json::object basis,
               std::vector<std::string> remarks) {
  auto detail = std::string{to_string(verdict.decision)};
  if (!verdict.causes.empty()) detail += ": " + burnin::to_string(verdict.causes.front());
  auto found = record::to_json(verdict);
  if (!comparison.evidence.empty()) found["evidence"] = comparison.evidence;
  if (!comparison.compared.empty()) found["compared"] = record::to_json(comparison.compared);
  found["basis"] = std::move(basis);
  found["facts"] = {{std::string{engine::kVerdictFact}, to_string(verdict.decision)}};
  detail += passed_over(record, detail);
  const auto slow = burnin::slow_ones(comparison.compared);
  if (!slow.empty())
    detail += fmt::format("; slow: {}{}", burnin::slow_text(slow.front()),
                          slow.size() == 1 ? "" : fmt::format(", and {} more", slow.size() - 1));
  remarks.push_back(comparison.words);
  for (const auto& words : remarks)
    if (!words.empty()) detail += "; " + words;
  return done(std::move(detail), std::move(found));
}

Task<Result<StepEnd>> perform_verdict(StepEnvironment& environment, const StepRequest& request) {
  CO_TRY(auto record, record::node_record(environment.store, request.run, request.node.name));
  const auto criteria = burnin::fleet_criteria(request.step.with);
  if (!criteria) co_return ended_by(criteria.error());
  if (is_compared(request, record, *criteria)) {
    CO_TRY(co_await wait_for_peers(environment, request));
  }
  std::optional<SecondLook> looked;
  if (request.run_state != nullptr) {
    CO_TRY(const auto events, environment.store.events(request.run, request.node.name));
    looked = second_look_of(events);
  }
  if (looked) {
    CO_TRY(co_await wait_for_those_beside(environment, request, *looked));
  }
  std::vector<burnin::Cause> differences;
  auto remarks = flaky_gpus(record);
  bool whole = false;
  if (request.run_state != nullptr) {
    const auto& run = *request.run_state;
    name_missing_parts(record, environment.inventory, request.node, run);
    auto versions = compare_versions(environment.inventory, request.node, run);
    differences = std::move(versions.causes);
    std::ranges::move(rack_differences(environment.inventory, request.node, run),
                      std::back_inserter(differences));
    std::ranges::move(versions.remarks, std::back_inserter(remarks));
    remarks.push_back(uncompared_nodes(environment.inventory, request.node, run));
    whole = environment.fleet->waited_for[request.node.profile].empty();
  }
  CO_TRY(auto comparison,
         compared_with_fleet(environment.store, *environment.fleet, request.run,
                             environment.inventory, request.node, record, *criteria, whole));
  if (looked) {
    CO_TRY(auto words,
           hold_against_first_look(*looked, request.node.name, events_so_far(environment, request),
                                   comparison.reference(), comparison.compared));
    std::ranges::move(words, std::back_inserter(remarks));
  }
  std::ranges::move(burnin::causes_of(comparison.compared), std::back_inserter(differences));
  // Before it waits once more: what is reported meanwhile was not compared.
  auto basis = basis_of(comparison, request);
  auto verdict =
      decide(environment.inventory.profile_of(request.node), record, std::move(differences));
  if (looked) leave_open_what_is_new(*looked, verdict);
  if (whole && !looked && !is_given_away(record)) {
    CO_TRY(const auto look, co_await to_look_again(environment, request, comparison, verdict));
    if (look) co_return sent_back(*look);
  }
  if (request.run_state != nullptr) {
    CO_TRY(co_await have_compared_again(environment, request));
  }
  co_return judged(verdict, record, comparison, std::move(basis), std::move(remarks));
}

}  // namespace

StepType verdict() { return {.kind = playbooks::StepKind::verdict, .perform = perform_verdict}; }

}  // namespace cupel::steps::kinds
