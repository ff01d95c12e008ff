#pragma once
// The verdicts of a run made again of what was kept: the node's record, what was learned of the
// fleet, earlier runs. With the same criteria they are the same; with others they show what those
// would have decided. Touches no machine, writes nothing.
#include <optional>

#include "burnin/compared.h"
#include "burnin/criteria/judge.h"
#include "burnin/verdict.h"
#include "inventory/fwd.h"
#include "inventory/profile.h"
#include "orchestrator/store/store.h"
#include "playbooks/fwd.h"

namespace cupel::steps {

struct Recomputed {
  std::string node{};
  std::string profile{};
  burnin::Verdict recorded{};
  burnin::Verdict now{};
  std::vector<burnin::Compared> compared{};
  /// Of the node's whole run, where what is behind a cause depends on the order of events.
  burnin::FindingsByStage findings{};
  std::string note{};  // what could not be done again: "run 3 is no longer in the store"

  bool is_same() const;  // decision, causes and checked criteria
};

struct RecomputeRequest {
  engine::RunId run = 0;
  /// In place of the profile of this name.
  std::optional<inventory::Profile> profile{};
  /// Compares each node with all of the run, those too that were measured after its verdict.
  bool whole = false;
};

/// One for each node that has a verdict, in the inventory's order. Errors: kStorage; kMalformed:
/// evidence that was changed.
Result<std::vector<Recomputed>> recompute(const store::Store& store,
                                          const inventory::Inventory& inventory,
                                          const playbooks::Plan& plan,
                                          const RecomputeRequest& request);

}  // namespace cupel::steps
