#pragma once
// Everything that one run has found out about one node, gathered from the journal.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "burnin/measurement.h"
#include "burnin/verdict.h"
#include "inventory/audit.h"
#include "inventory/security_floor.h"
#include "orchestrator/store/store.h"

namespace cupel::engine {
struct FoldedRun;
}

namespace cupel::record {

/// Why a step was not done. `untold`: its condition asks for what nothing reported. `unknown`:
/// whoever wrote it down did not say.
enum class Skipped { no, unknown, condition, unreported, partner, person, failure };
std::string_view to_string(Skipped skipped);
/// By a person, or because nothing reported what its condition asks for: it may have belonged to
/// the node.
constexpr bool was_passed_over(Skipped skipped) {
  return skipped == Skipped::person || skipped == Skipped::unreported;
}

/// One thing that a person is to do before the step can go on, as the step itself asked for it.
struct Needed {
  std::string action;
  std::string part{};   // empty: the machine as a whole
  bool goes_on = true;  // by itself: from afar it can be seen that it was done
  friend bool operator==(const Needed&, const Needed&) = default;
};

struct StepRecord {
  std::string name;
  std::string outcome{};  // "done", "failed", ..., "skipped"; empty: not over
  std::string detail{};
  Skipped skipped = Skipped::no;
  std::string error{};  // the code of what it failed of, as base/result.h names it
  int attempts = 0;
  int revivals = 0;  // taken up again because the world had changed, without a person's word
  std::vector<Needed> needs{};
  bool hung = false;  // a stage that was ended after its limit: a finding, not a failure to find
  engine::WallTime began{};
  engine::WallTime ended{};
};

struct NodeRecord {
  std::string node;
  std::vector<StepRecord> steps{};  // in the order in which they were met
  std::map<std::string, burnin::Findings, std::less<>> findings{};  // by stage
  std::set<std::string, std::less<>> companions{};  // of these: "cpu@train", beside "train"
  std::map<std::string, std::string, std::less<>> evidence{};  // SHA-256 by step
  std::vector<inventory::Part> bmc_parts{};
  std::map<std::string, std::string, std::less<>> facts{};  // "bmc.version", as steps found them
  std::string kernel_log_mark{};  // where the newest reading of the node's kernel log ended
  std::string system_serial{};    // as the BMC tells it
  bool bmc_reported = false;
  std::vector<inventory::PartialList> bmc_partial{};  // kinds of which bmc_parts does not have all
  std::optional<std::vector<inventory::AuditFinding>> audit{};
  std::optional<inventory::FloorLook> floor{};  // versions against the security floor
  std::optional<burnin::Verdict> verdict{};
  std::string hand_off{};  // "resumed", "drained"; empty: none
  std::string hand_off_detail{};
};

/// Of the BMC's or the kernel's log: that it has no line that counts, and none was lost.
bool gained_nothing(const burnin::Findings& log);

/// Under which name a reading of `log` ("kernel-log@gemm") stays in `findings` that gained
/// something before its step came again; the first is 1. A person's retry ends it, as a repair
/// would.
std::string former_log_name(std::string_view log, int which);

/// Gives each event of a step that several nodes did together what was found on its own node. Where
/// that cannot be read any more the step is taken for failed.
void hand_out(const store::Store& store, std::vector<engine::Event>& events);

/// A view of what folds from the node's events, or from its run's, as hand_out() leaves them. Pure.
NodeRecord record_of(const std::string& node, const engine::FoldedRun& run);

/// The same from the store. Errors: kStorage.
Result<NodeRecord> node_record(const store::Store& store, engine::RunId run,
                               const std::string& node);

}  // namespace cupel::record
