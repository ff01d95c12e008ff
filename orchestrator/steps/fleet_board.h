#pragma once
// The numbers of one run's nodes, kept up with its journal, and what was learned of them, so that
// each verdict costs what is new and not what is there. Lost with the process: read again from the
// journal.
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "burnin/criteria/fleet_reference.h"
#include "inventory/fwd.h"
#include "orchestrator/record/node_record.h"
#include "orchestrator/steps/first_looks.h"
#include "orchestrator/store/store.h"

namespace cupel::steps {

class FleetBoard {
 public:
  struct Learned {
    burnin::FleetReference reference{};
    std::string evidence{};  // SHA-256 of it, as it is kept
    int nodes = 0;           // of this run
    int earlier = 0;         // nodes of earlier runs, where this one has few
  };

  /// What the nodes of this profile have reached at their first look (first_looks.h), as far as the
  /// run's journal goes. Learned anew when a quarter more has come, or `whole`: nobody else is at
  /// work, a twentieth. Of a run with few nodes, nodes of earlier runs stand beside them, which
  /// never weigh more than the run's own. Errors: kStorage.
  Result<std::shared_ptr<const Learned>> learned(store::Store& store, engine::RunId run,
                                                 const inventory::Inventory& inventory,
                                                 const std::string& profile,
                                                 const burnin::FleetLimits& limits, bool whole);

  /// How the run's nodes stand in a stage, by what learned() gave last; nothing before that. Looked
  /// up again only where stages have ended since.
  std::span<const burnin::NodeInStage> nodes_in(const std::string& profile,
                                                const std::string& stage);

  /// By profile: one of the nodes that verdicts wait for, so that they ask for it alone.
  std::map<std::string, std::string, std::less<>> waited_for{};
  /// Profiles of which all nodes have reported, and those that passed before were looked at again.
  std::set<std::string, std::less<>> compared_whole{};

 private:
  struct OfProfile {
    burnin::FleetSamples samples{};
    std::size_t taken = 0;       // stages' findings so far
    std::size_t learned_at = 0;  // of these, when it was learned
    std::shared_ptr<const Learned> learned{};
    std::map<std::string, std::vector<burnin::NodeInStage>, std::less<>> in_stage{};
    std::size_t in_stage_at = 0;  // `taken` when these were looked up
  };

  Result<void> catch_up(const store::Store& store, engine::RunId run,
                        const inventory::Inventory& inventory);
  void take(OfProfile& of, const engine::Event& event);

  std::int64_t read_ = 0;  // events up to this one
  FirstLooks first_looks_{};
  std::map<std::string, OfProfile, std::less<>> profiles_{};
};

/// Adds the newest numbers of other nodes from earlier runs. How many nodes that were. Errors:
/// kStorage.
Result<int> add_earlier(const std::filesystem::path& folder, engine::RunId before,
                        const std::string& profile, burnin::FleetSamples& samples);

}  // namespace cupel::steps
