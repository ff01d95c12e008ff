#include "orchestrator/report/summary.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/json.h"
#include "base/text.h"
#include "burnin/consequences.h"
#include "burnin/verdict_text.h"
#include "inventory/node_range.h"
#include "orchestrator/engine/fold.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/report/advice.h"
#include "orchestrator/report/document.h"
#include "orchestrator/report/fold_equal.h"
#include "orchestrator/report/node_json.h"
#include "orchestrator/report/rehearsal.h"
#include "orchestrator/report/slow.h"
#include "orchestrator/report/verdict_json.h"
#include "orchestrator/store/journal_reader.h"

namespace cupel::report {
namespace {

using burnin::Decision;
using std::chrono::milliseconds;

constexpr std::string_view kNotFinished = "not finished";

std::string text_of(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

int int_of(const json::object& object, std::string_view key, int otherwise) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_int64() ? static_cast<int>(value->get_int64()) : otherwise;
}

template <class Take>
void each_object(const json::object& object, std::string_view key, Take take) {
  const auto* value = object.if_contains(key);
  if (value == nullptr || !value->is_array()) return;
  for (const auto& item : value->get_array())
    if (item.is_object()) take(item.get_object());
}

/// Where no verdict was reached: every step that failed is a reason why nothing is known.
std::vector<burnin::Cause> causes_of_steps(const record::NodeRecord& record) {
  std::vector<burnin::Cause> causes;
  for (const auto& step : record.steps) {
    const bool left_out = step.outcome == "skipped" && !was_passed_over(step.skipped);
    const bool good = step.outcome == "done" || left_out;
    if (good) continue;
    burnin::Cause cause;
    cause.decision = Decision::inconclusive;
    cause.criterion = "step " + step.name;
    cause.measured = step.outcome.empty() ? std::string{kNotFinished} : step.detail;
    causes.push_back(std::move(cause));
  }
  return causes;
}

void conclude(NodeSummary& node, std::size_t steps_planned) {
  if (node.record.verdict) {
    node.decision = node.record.verdict->decision;
    node.causes = node.record.verdict->causes;
    // A good node that could not be handed over is not with Slurm: that is no pass of the run.
    for (const auto& step : node.record.steps)
      if (step.name == "hand-off" && step.outcome != "done" && node.decision == Decision::pass) {
        node.decision = Decision::inconclusive;
        node.causes.push_back({Decision::inconclusive, "", "step hand-off", step.detail, "", "",
                               "see why Slurm refused, then resume the node by hand"});
      }
    return;
  }
  node.causes = causes_of_steps(node.record);
  const bool all_done = node.causes.empty() && node.record.steps.size() == steps_planned;
  node.decision = all_done ? Decision::pass : Decision::inconclusive;
}

/// What the run's first event tells of the site as it was.
void take_plan(RunSummary& summary, const json::object& data) {
  summary.site = text_of(data, "site");
  summary.rehearsal = data.contains("rehearsal");
  summary.requalified = requalified_from(data.if_contains("requalifies"));
  each_object(data, "racks", [&](const auto& rack) {
    summary.racks.push_back({text_of(rack, "name"), int_of(rack, "units", 48)});
  });
  each_object(data, "nodes", [&](const auto& node) {
    NodeSummary each;
    each.record.node = text_of(node, "name");
    each.profile = text_of(node, "profile");
    each.position = {text_of(node, "rack"), int_of(node, "unit", 0), int_of(node, "height", 1)};
    summary.nodes.push_back(std::move(each));
  });
  const auto* steps = data.if_contains("steps");
  if (steps == nullptr || !steps->is_array()) return;
  for (const auto& step : steps->get_array())
    if (step.is_string()) summary.steps.emplace_back(step.get_string());
}

/// "  console       v01-n01  12345 bytes  /var/lib/cupel/evidence/console/run-1/v01-n01.1.log".
std::string console_lines(const RunSummary& summary) {
  std::string text;
  for (const auto& node : summary.nodes)
    for (const auto& each : node.console)
      text += fmt::format("  console       {}  {} bytes  {}\n", node.record.node, each.bytes,
                          printable(each.file));
  return text;
}

/// A cluster's line each, and at most so many groups that have none.
std::string failure_lines(const std::vector<FailureGroup>& groups) {
  constexpr std::size_t kMostGroups = 10;
  std::string text;
  std::size_t shown = 0;
  for (const auto& group : groups) {
    if (group.nodes.size() < 2 || shown++ == kMostGroups) continue;
    text += fmt::format("  alike         {}\n", printable(to_text(group)));
    for (const auto& cluster : group.clusters)
      text += fmt::format("    cluster     {}\n", printable(to_text(group, cluster)));
  }
  return text;
}

/// A cause with what to do, and what it explains.
std::string cause_lines(const burnin::Explained& each, const std::string& node) {
  const auto& cause = each.cause;
  auto text = "                  " + printable(burnin::to_string(cause));
  if (cause.stages.size() > 1) text += fmt::format("  ({})", stages_text(cause.stages));
  text += "\n";
  if (!cause.remedy.empty())
    text += "                    -> " + printable(action_for(cause.remedy, 0, node)) + "\n";
  if (!each.consequences.empty())
    text +=
        "                    explains " + printable(consequences_text(each.consequences)) + "\n";
  return text;
}

/// Not judged yet, by a run that still may.
bool may_still_pass(const RunSummary& summary, const NodeSummary& node) {
  const auto phase = summary.run.phase;
  const bool over = phase == engine::RunPhase::ended || phase == engine::RunPhase::cancelled;
  return !over && !node.record.verdict && node.decision == Decision::inconclusive;
}

std::string_view label_of(const RunSummary& summary, const NodeSummary& node) {
  return may_still_pass(summary, node) ? "in work" : to_string(node.decision);
}

std::vector<std::string> in_work(const RunSummary& summary) {
  std::vector<std::string> names;
  for (const auto& node : summary.nodes)
    if (may_still_pass(summary, node)) names.push_back(node.record.node);
  return names;
}

/// Nodes of which the same is to be reported, but for numbers and names.
struct AlikeNodes {
  const NodeSummary* first = nullptr;
  std::vector<std::string> names{};
};

std::vector<AlikeNodes> alike_nodes(const RunSummary& summary) {
  std::vector<AlikeNodes> groups;
  std::map<std::string, std::size_t> where;
  for (const auto& node : summary.nodes) {
    const bool failed = std::ranges::any_of(
        node.causes, [](const burnin::Cause& cause) { return cause.measured != kNotFinished; });
    if (node.decision == Decision::pass || (may_still_pass(summary, node) && !failed)) continue;
    std::string key{label_of(summary, node)};
    for (const auto& each : node.causes)
      key +=
          fmt::format("\n{}\n{}", each.part, cause_of(burnin::to_string(each), node.record.node));
    const auto [found, fresh] = where.try_emplace(std::move(key), groups.size());
    if (fresh) groups.push_back({&node, {}});
    groups[found->second].names.push_back(node.record.node);
  }
  std::ranges::stable_sort(groups, std::greater{},
                           [](const AlikeNodes& each) { return each.names.size(); });
  return groups;
}

/// What is to be reported of those that did not pass: of most nodes first, and of so many groups.
std::string node_lines(const RunSummary& summary, bool all) {
  constexpr std::size_t kMostGroups = 20;
  const auto groups = alike_nodes(summary);
  const auto shown = all ? groups.size() : std::min(groups.size(), kMostGroups);
  std::string text;
  for (const auto& [node, names] : std::span{groups}.first(shown)) {
    text += fmt::format("  {:<13} {}", label_of(summary, *node), inventory::fold(names));
    if (names.size() > 1) text += fmt::format(" ({} nodes, of {}:)", names.size(), names.front());
    text += "\n";
    const auto whose = names.size() == 1 ? names.front() : std::string{"NODE"};
    for (const auto& each : fold_equal(burnin::explained(node->causes)))
      text += cause_lines(each, whose);
  }
  std::size_t left = 0;
  for (const auto& group : std::span{groups}.subspan(shown)) left += group.names.size();
  if (left > 0)
    text += fmt::format("  and {} more node{}: cupel report {} --all\n", left, left == 1 ? "" : "s",
                        summary.run.id);
  return text;
}

/// Steps that failed with their causes; of a verdict, the criteria that were not met.
std::vector<Trial> trials_of(const NodeSummary& node) {
  std::vector<Trial> trials;
  for (const auto& step : node.record.steps) {
    if (step.outcome.empty() || step.outcome == "skipped") continue;
    Trial trial{node.record.node, step.name};
    const auto& name = node.record.node;
    if (step.outcome != "done")
      trial.causes = {{cause_of(step.detail, name), words_of_cause(step.detail, name)}};
    const bool judged = step.name == "verdict" && step.outcome == "done";
    for (const auto& cause : judged ? node.causes : std::vector<burnin::Cause>{}) {
      const bool known = std::ranges::find(trial.causes, cause.criterion, &TrialCause::cause) !=
                         trial.causes.end();
      const bool counts = cause.decision == Decision::fail && cause.consequence_of.empty();
      if (counts && !known)
        trial.causes.push_back({cause.criterion, words_of_cause(burnin::to_string(cause), name)});
    }
    trials.push_back(std::move(trial));
  }
  return trials;
}

Traits traits_of(const NodeSummary& node) {
  const auto fact = [&](std::string_view name) {
    const auto found = node.record.facts.find(name);
    return found == node.record.facts.end() ? std::string{} : found->second;
  };
  return {{"model", fact("system.model")},
          {"bmc", fact("bmc.version")},
          {"bios", fact("bios.version")},
          {"rack", node.position.rack},
          {"unit", node.position.unit == 0 ? "" : std::to_string(node.position.unit)},
          {"profile", node.profile}};
}

json::object to_json(const NodeSummary& node) {
  json::object object;
  object["node"] = node.record.node;
  object["verdict"] = to_string(node.decision);
  object["causes"] =
      report::to_json(std::span<const burnin::Cause>{node.causes}, node.record.findings);
  if (node.record.verdict && !node.record.verdict->slow.empty())
    object["slow"] = slow_json(node.record.verdict->slow);
  object["hand_off"] = node.record.hand_off.empty() ? "none" : node.record.hand_off;
  if (!node.record.hand_off_detail.empty()) object["reason"] = node.record.hand_off_detail;
  if (!node.console.empty()) object["console"] = to_json(node.console);
  return object;
}

}  // namespace

std::size_t RunSummary::count(Decision decision) const {
  return static_cast<std::size_t>(std::ranges::count(nodes, decision, &NodeSummary::decision));
}

Result<RunSummary> summarize(const store::Store& store, engine::RunId id) {
  RunSummary summary;
  TRY(summary.run, store.run(id));
  TRY(auto events, store.events(id));
  summary.provenance = provenance_of(events);
  summary.took = undo_clock_sets(events);
  record::hand_out(store, events);
  for (const auto& event : events)
    if (event.kind == engine::EventKind::run_started) take_plan(summary, event.data);
  const auto run = engine::fold(events);
  for (auto& node : summary.nodes) {
    node.record = record::record_of(node.record.node, run);
    conclude(node, summary.steps.size());
  }
  return summary;
}

Result<NodeSummary> summarize_node(const store::Store& store, engine::RunId id,
                                   const std::string& node) {
  RunSummary summary;
  TRY(const auto journal, store::JournalReader::open(store.folder()));
  TRY(const auto begin, journal.page({.run = id, .kind = "run-started", .most = 1}));
  for (const auto& event : begin) {
    TRY(const auto data, parse_json(event.data));
    if (data.is_object()) take_plan(summary, data.get_object());
  }
  const auto found = std::ranges::find(summary.nodes, node, [](const NodeSummary& each) {
    return std::string_view{each.record.node};
  });
  if (found == summary.nodes.end())
    return Error{Code::kNotFound, fmt::format("run {} has no node '{}'", id, node)};
  TRY(auto events, store.events(id, node));
  record::hand_out(store, events);
  found->record = record::record_of(node, engine::fold(events));
  conclude(*found, summary.steps.size());
  return std::move(*found);
}

std::vector<FailureGroup> failures_of(const RunSummary& summary) {
  std::vector<Trial> trials;
  std::map<std::string, Traits, std::less<>> traits;
  for (const auto& node : summary.nodes) {
    std::ranges::move(trials_of(node), std::back_inserter(trials));
    traits[node.record.node] = traits_of(node);
  }
  return group_failures(trials, traits);
}

std::string utc(engine::WallTime time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(static_cast<std::time_t>(seconds.time_since_epoch().count())));
}

std::string span_text(milliseconds span) {
  span = std::max(span, milliseconds{0});
  const auto seconds = std::chrono::round<std::chrono::seconds>(span).count();
  if (span < std::chrono::seconds{10})
    return plain(static_cast<double>(span.count()) / 1000.0, 1) + " s";
  if (seconds < 100) return fmt::format("{} s", seconds);
  if (seconds < 100 * 60) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds % 3600 / 60);
}

json::array to_json(const std::vector<ConsoleFile>& files) {
  json::array all;
  for (const auto& each : files) all.push_back({{"file", each.file}, {"bytes", each.bytes}});
  return all;
}

json::object to_json(const RunSummary& summary) {
  json::object object;
  object["run"] = summary.run.id;
  if (summary.rehearsal) object["rehearsal"] = true;
  object["playbook"] = summary.run.playbook;
  object["state"] = to_string(summary.run.phase);
  if (summary.requalified) object["requalifies"] = to_json(*summary.requalified);
  object["began"] = utc(summary.run.began);
  if (summary.run.ended != engine::WallTime{}) {
    object["ended"] = utc(summary.run.ended);
    object["seconds"] = static_cast<double>(summary.took.count()) / 1000.0;
  }
  for (const auto decision : {Decision::pass, Decision::fail, Decision::inconclusive})
    object[to_string(decision)] = summary.count(decision);
  json::array nodes;
  for (const auto& node : summary.nodes) nodes.push_back(to_json(node));
  object["nodes"] = std::move(nodes);
  object["failures"] = to_json(failures_of(summary));
  return json::object{{"schema", kJsonSchema}, {"summary", std::move(object)}};
}

std::string to_text(const RunSummary& summary, bool all) {
  std::string text = summary.rehearsal ? fmt::format("{}\n", kRehearsal) : std::string{};
  text += fmt::format("run {} ({}) {}", summary.run.id, summary.run.playbook,
                      to_string(summary.run.phase));
  if (summary.run.ended != engine::WallTime{}) text += " after " + span_text(summary.took);
  const auto working = in_work(summary);
  text += fmt::format(": {} pass, {} fail, {} inconclusive{}\n", summary.count(Decision::pass),
                      summary.count(Decision::fail),
                      summary.count(Decision::inconclusive) - working.size(),
                      working.empty() ? "" : fmt::format(", {} in work", working.size()));
  std::vector<std::string> passed;
  for (const auto& node : summary.nodes)
    if (node.decision == Decision::pass) passed.push_back(node.record.node);
  if (!passed.empty()) text += "  pass          " + inventory::fold(passed) + "\n";
  if (!working.empty()) text += "  in work       " + inventory::fold(working) + "\n";
  return text + failure_lines(failures_of(summary)) + node_lines(summary, all) +
         slow_lines(summary, all) + console_lines(summary);
}

}  // namespace cupel::report
