#pragma once
// What runs have shown of each node, the newest first: of each measure that a criterion judged, and
// of each stage and step. Reads the store.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "burnin/verdict.h"
#include "orchestrator/record/node_record.h"

namespace cupel::compliance {

/// A measure's newest judgement on a node, over all of its parts.
struct Judged {
  engine::RunId run = 0;
  burnin::Met met = burnin::Met::missing;  // the worst of all parts
  std::optional<double> least{}, most{};   // of the values
  std::string unit{};
};

/// A stage or step that a run has carried out on a node.
struct Ran {
  engine::RunId run = 0;
  bool passed = false;  // done, and no cause of a failure is its own
};

struct NodeEvidence {
  std::map<std::string, Judged, std::less<>> measures{};
  std::map<std::string, Ran, std::less<>> stages{};
  /// By component: whether it was at or above the floor of that run.
  std::map<std::string, Ran, std::less<>> floor{};
  bool has_floor = false;  // a newer run's audit decides alone, also of what it could not read
};

using Evidence = std::map<std::string, NodeEvidence, std::less<>>;

/// Takes what one run found, unless a newer one has said it already. Pure.
void take(const record::NodeRecord& record, engine::RunId run, NodeEvidence& into);

/// `run` 0: of the newest 50 runs of each node; else of that run alone. Errors: kStorage.
Result<Evidence> read_evidence(const store::Store& store,
                               const std::set<std::string, std::less<>>& nodes, engine::RunId run);

}  // namespace cupel::compliance
