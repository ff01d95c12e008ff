#include "orchestrator/compliance/evidence.h"

#include <algorithm>

namespace cupel::compliance {
namespace {

constexpr std::size_t kMostRuns = 50;

/// Worst last.
int rank(burnin::Met met) {
  return met == burnin::Met::met ? 0 : met == burnin::Met::missing ? 1 : 2;
}

void add(const burnin::Checked& checked, engine::RunId run, Judged& judged, bool is_first) {
  if (is_first) judged = {.run = run, .met = checked.met, .unit = checked.quantity.unit};
  if (rank(checked.met) > rank(judged.met)) judged.met = checked.met;
  const auto value = checked.quantity.value;
  if (!value) return;
  judged.least = std::min(judged.least.value_or(*value), *value);
  judged.most = std::max(judged.most.value_or(*value), *value);
}

bool has_failed(const record::NodeRecord& record, const std::string& stage) {
  if (!record.verdict) return false;
  return std::ranges::any_of(record.verdict->causes, [&](const burnin::Cause& cause) {
    return cause.decision == burnin::Decision::fail &&
           std::ranges::find(cause.stages, stage) != cause.stages.end();
  });
}

}  // namespace

void take(const record::NodeRecord& record, engine::RunId run, NodeEvidence& into) {
  std::set<std::string> of_this_run;
  if (record.verdict)
    for (const auto& checked : record.verdict->checked) {
      const bool is_first = !into.measures.contains(checked.measure);
      if (is_first) of_this_run.insert(checked.measure);
      if (of_this_run.contains(checked.measure))
        add(checked, run, into.measures[checked.measure], is_first);
    }
  // A stage that is repeated has a step of its own for each time ("train@2"): its findings' name.
  for (const auto& step : record.steps) {
    const auto name = step.name.substr(0, step.name.find('@'));
    if (step.outcome.empty() || step.outcome == "skipped" || into.stages.contains(name)) continue;
    into.stages[name] = {run, step.outcome == "done" && !has_failed(record, step.name)};
  }
}

Result<Evidence> read_evidence(const store::Store& store,
                               const std::set<std::string, std::less<>>& nodes, engine::RunId run) {
  Evidence evidence;
  for (const auto& node : nodes) {
    auto& of = evidence[node];
    std::vector<engine::RunId> runs{run};
    if (run == 0) {
      TRY(runs, store.runs_of(node, kMostRuns));
    }
    for (const auto each : runs) {
      TRY(const auto record, record::node_record(store, each, node));
      take(record, each, of);
    }
  }
  return evidence;
}

}  // namespace cupel::compliance
