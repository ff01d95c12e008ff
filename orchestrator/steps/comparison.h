#pragma once
// A node's numbers beside those of the run's other nodes and of its own earlier runs: what a
// verdict takes from outside the node's record, and how it is made again of what was kept.
#include <memory>
#include <vector>

#include "burnin/criteria/own_history.h"
#include "inventory/fwd.h"
#include "orchestrator/steps/fleet_board.h"

namespace cupel::steps {

struct FleetComparison {
  burnin::FleetReference reference() const {
    return learned ? learned->reference : burnin::FleetReference{};
  }

  std::shared_ptr<const FleetBoard::Learned> learned{};  // null: nodes are not compared
  std::vector<burnin::Compared> compared{};
  std::string evidence{};                // of what was learned of the fleet; empty: nothing was
  std::vector<engine::RunId> history{};  // earlier runs that it was compared with
  std::string words{};                   // what people should know: "too few nodes to compare with"
};

/// The node's findings with those that are reckoned from them.
burnin::FindingsByStage findings_to_compare(const record::NodeRecord& record);

/// Whether any of it is compared between machines.
bool has_rates(const burnin::FindingsByStage& findings);

/// The rates of the newest earlier runs that the node passed, at most 12 of them, as far as they
/// are of what is there now: `now` is its record in the new run. A run of another chassis is left
/// out, and so is a value of a part that has another serial number since. Errors: kStorage.
Result<std::vector<burnin::EarlierValue>> earlier_of(const store::Store& store,
                                                     engine::RunId before,
                                                     const inventory::Node& node,
                                                     const record::NodeRecord& now);

/// Names in each outlier where the same number of the same part stood out before: in another stage
/// of this run, or in the newest earlier run in which it was compared, if it is the same machine
/// and the part was not replaced since. `now`: its record in this run. Errors: kStorage.
Result<void> mark_repeated(const store::Store& store, engine::RunId before, const std::string& node,
                           const record::NodeRecord& now, std::vector<burnin::Compared>& compared);

/// In days since 1970: when the record's newest stage ended.
double day_of(const record::NodeRecord& record);

/// Errors: kStorage.
Result<FleetComparison> compared_with_fleet(store::Store& store, FleetBoard& board,
                                            engine::RunId run,
                                            const inventory::Inventory& inventory,
                                            const inventory::Node& node,
                                            const record::NodeRecord& record,
                                            const burnin::FleetCriteria& criteria, bool whole);

}  // namespace cupel::steps
