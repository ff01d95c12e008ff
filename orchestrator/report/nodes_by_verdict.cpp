#include "orchestrator/report/nodes_by_verdict.h"

#include "orchestrator/report/summary.h"

namespace cupel::report {

Result<std::vector<std::string>> nodes_by_verdict(const store::Store& store,
                                                  std::string_view verdict, engine::RunId run) {
  using burnin::Decision;
  const auto expected = verdict == "passed"   ? Decision::pass
                        : verdict == "failed" ? Decision::fail
                                              : Decision::inconclusive;
  TRY(const auto summary, summarize(store, run));
  const auto phase = summary.run.phase;
  const bool at_work = phase == engine::RunPhase::running || phase == engine::RunPhase::submitted;
  std::vector<std::string> names;
  for (const auto& node : summary.nodes)
    if (node.decision == expected && (!at_work || node.record.verdict))
      names.push_back(node.record.node);
  return names;
}

inventory::NodesOfRun nodes_of_run(const store::Store& store) {
  return [&store](std::string_view verdict, engine::RunId run) {
    return nodes_by_verdict(store, verdict, run);
  };
}

}  // namespace cupel::report
