// Which earlier runs' evidence stands behind a requalification.
#include <fmt/format.h>

#include <algorithm>

#include "burnin/stage.h"
#include "orchestrator/certificate/statement.h"
#include "orchestrator/report/serials.h"

namespace cupel::certificate {
namespace {

constexpr std::size_t kLongestChain = 32;  // requalifications upon one another

bool has(const std::vector<std::string>& all, std::string_view word) {
  return std::ranges::find(all, word) != all.end();
}

/// The machine of a requalification: it is of one.
Result<const report::NodeSummary*> node_of(const report::RunSummary& summary,
                                           const std::string& node) {
  for (const auto& each : summary.nodes)
    if (each.record.node == node) return &each;
  return Error{Code::kNotFound, fmt::format("{} took no part in run {}", node, summary.run.id)};
}

/// Stages that ended well there and that nothing later has renewed or made void.
std::vector<std::string> standing(const record::NodeRecord& record,
                                  const std::vector<std::string>& voided,
                                  const std::vector<std::string>& renewed) {
  std::vector<std::string> stages;
  for (const auto& step : record.steps) {
    if (step.outcome != "done" || burnin::stage(step.name) == nullptr) continue;
    if (has(voided, burnin::base_name(step.name)) || has(renewed, step.name)) continue;
    stages.push_back(step.name);
  }
  return stages;
}

/// Errors: see kept_runs().
Result<report::RunSummary> base_of(const store::Store& store, std::int64_t run,
                                   const report::NodeSummary& now) {
  TRY(auto summary, report::summarize(store, run));
  TRY(const auto broken, store.broken_at(run));
  if (broken)
    return Error{Code::kMalformed,
                 fmt::format("the journal of run {}, whose evidence is kept, was changed at event "
                             "{}: no certificate is made of it; cupel store verify",
                             run, *broken)};
  TRY(const auto* node, node_of(summary, now.record.node));
  if (node->decision != burnin::Decision::pass)
    return Error{Code::kInvalid, fmt::format("{} did not pass run {}: nothing of it can be kept",
                                             now.record.node, run)};
  const auto was = report::chassis_serial(node->record);
  if (was != report::chassis_serial(now.record))
    return Error{Code::kInvalid,
                 fmt::format("run {} was of another machine: chassis serial {}, not {}", run, was,
                             report::chassis_serial(now.record))};
  return summary;
}

}  // namespace

Result<std::vector<KeptRun>> kept_runs(const store::Store& store,
                                       const report::RunSummary& summary) {
  std::vector<KeptRun> kept;
  if (!summary.requalified || summary.nodes.size() != 1) return kept;
  const auto& now = summary.nodes.front();
  auto next = summary.requalified;
  std::vector<std::string> voided, renewed;
  for (const auto& step : now.record.steps) renewed.push_back(step.name);
  while (next) {
    if (kept.size() == kLongestChain)
      return Error{Code::kInvalid, fmt::format("more than {} requalifications upon one another: "
                                               "run the whole playbook again",
                                               kLongestChain)};
    voided.insert(voided.end(), next->voided.begin(), next->voided.end());
    TRY(auto base, base_of(store, next->run, now));
    TRY(const auto* node, node_of(base, now.record.node));
    auto stages = standing(node->record, voided, renewed);
    renewed.insert(renewed.end(), stages.begin(), stages.end());
    const auto id = base.run.id;
    next = base.requalified;
    if (next && next->run >= id) return Error{Code::kMalformed, "requalifications in a circle"};
    kept.push_back({std::move(base), std::move(stages)});
  }
  return kept;
}

}  // namespace cupel::certificate
