#pragma once
// Where a run stands, for whoever goes on with it: from its newest snapshot and what came behind
// it, else from all its events. Also keeps the snapshots that the next one will want.
#include "orchestrator/store/store.h"

namespace cupel::playbooks {
struct Plan;
}

namespace cupel::store {

/// What is read is checked against the hash chain: the snapshot against the event that it stands
/// on, and each event behind it. A snapshot that does not decode is passed over. Errors: kStorage,
/// naming the run and the event at which the chain breaks.
Result<engine::RunState> standing(const Store& store, RunId run, const playbooks::Plan& plan);

/// The snapshots of one run. What cannot be kept now is tried again by the next one.
class RunSnapshots : public engine::Snapshots {
 public:
  RunSnapshots(Store& store, RunId run) : store_{store}, run_{run} {}
  void keep(std::int64_t sequence, std::string_view state) override;

 private:
  Store& store_;
  RunId run_;
};

/// As Store::events_after(), with the boot tickets that earlier versions wrote into events and no
/// other reader gets. In journal.cpp. Errors: as there.
Result<std::vector<engine::Event>> events_to_resume(const Store& store, RunId run,
                                                    std::int64_t sequence);

}  // namespace cupel::store
