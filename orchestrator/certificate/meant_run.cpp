#include "orchestrator/certificate/meant_run.h"

#include <fmt/format.h>

#include "base/text.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/report/summary.h"

namespace cupel::certificate {
namespace {

constexpr std::size_t kMostRunsOfNode = 500;
constexpr std::size_t kMostRuns = 50;

/// 0: none.
Result<engine::RunId> newest_of_node(const store::Store& store, const std::string& node) {
  TRY(const auto runs, store.runs_of(node, kMostRunsOfNode));
  for (const auto id : runs) {
    TRY(const auto run, store.run(id));
    if (run.phase != engine::RunPhase::ended) continue;
    TRY(const auto record, record::node_record(store, id, node));
    if (record.verdict) return id;
  }
  return 0;
}

std::set<std::string> judged_in_rack(const report::RunSummary& summary, const std::string& rack) {
  std::set<std::string> nodes;
  for (const auto& node : summary.nodes)
    if (node.position.rack == rack && node.record.verdict) nodes.insert(node.record.node);
  return nodes;
}

Result<MeantRun> newest_of_rack(const store::Store& store, const std::string& rack) {
  TRY(const auto runs, store.runs(kMostRuns));
  for (const auto& run : runs) {
    if (run.phase != engine::RunPhase::ended) continue;
    TRY(const auto summary, report::summarize(store, run.id));
    if (auto nodes = judged_in_rack(summary, rack); !nodes.empty())
      return MeantRun{run.id, std::move(nodes)};
  }
  return MeantRun{};
}

}  // namespace

Result<MeantRun> meant_run(const store::Store& store, const std::string& name) {
  TRY(const auto of_node, newest_of_node(store, name));
  if (of_node != 0) return MeantRun{of_node, {name}};
  TRY(auto of_rack, newest_of_rack(store, name));
  if (of_rack.run != 0) return of_rack;
  return Error{Code::kNotFound,
               fmt::format("{0} is no number of a run, and no node or rack of which a run that has "
                           "ended has a verdict: cupel status",
                           printable(name))};
}

}  // namespace cupel::certificate
