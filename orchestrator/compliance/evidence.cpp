#include "orchestrator/compliance/evidence.h"

#include <algorithm>
#include <utility>

#include "burnin/stage.h"

namespace cupel::compliance {
namespace {

constexpr std::size_t kMostRuns = 50;

/// A stage that is repeated has a step of its own for each time: "train" of "train@night".
std::string base_name(const std::string& step) { return step.substr(0, step.find('@')); }

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

/// Whether the verdict has a cause of the step: of a stage also where nobody judged it.
bool is_blamed(const record::NodeRecord& record, const std::string& step) {
  if (!record.verdict) return burnin::stage(base_name(step)) != nullptr;
  return std::ranges::any_of(record.verdict->causes, [&](const burnin::Cause& cause) {
    return std::ranges::find(cause.stages, step) != cause.stages.end();
  });
}

/// A component below the floor is known, even where another part of it was not read. What the
/// newest audit did not read, an older one does not prove: the version may be another by now.
void take_floor(const inventory::FloorLook& look, engine::RunId run, NodeEvidence& into) {
  if (std::exchange(into.has_floor, true)) return;
  for (const auto& component : look.read) into.floor[component] = {run, true};
  for (const auto& each : look.below) into.floor[each.component] = {run, false};
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
  if (record.floor) take_floor(*record.floor, run, into);
  for (const auto& step : record.steps) {
    if (step.outcome.empty() || step.outcome == "skipped") continue;
    const auto at = into.stages.try_emplace(base_name(step.name), Ran{run, true}).first;
    if (at->second.run != run) continue;  // a newer run has said it
    at->second.passed =
        at->second.passed && step.outcome == "done" && !is_blamed(record, step.name);
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
