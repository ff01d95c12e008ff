#pragma once
// Which steps of a run that a machine has passed must be done again, and as what playbook. Pure.
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "burnin/criteria/requalify_rules.h"
#include "inventory/fwd.h"
#include "playbooks/playbook.h"

namespace cupel::requalify {

/// A stage that is done again, and what made its evidence void.
struct Again {
  std::string stage{};             // "gemm", "gemm@waves"
  std::vector<std::string> why{};  // "gpu3 replaced: another GPU proves nothing of ..."
  std::chrono::seconds expected{};
};

struct Selection {
  playbooks::Playbook playbook{};     // with its text, to be run
  std::vector<Again> again{};         // in the order in which they run
  std::vector<std::string> kept{};    // stages whose evidence stands
  std::vector<std::string> open{};    // void, and not to be done with one node alone
  std::vector<std::string> voided{};  // base names of all that is void
  /// Base names of what is requested and no stage of the run that was passed.
  std::vector<std::string> elsewhere{};
  std::string whole{};               // the short stage of the whole node; empty: none is needed
  std::size_t stages = 0;            // of the run that was passed
  std::chrono::seconds takes{};      // all of the playbook, as planned
  std::chrono::seconds whole_run{};  // all of the run that was passed

  bool is_empty() const { return again.empty() && open.empty() && elsewhere.empty(); }
};

/// What is asked for.
struct Request {
  std::int64_t run = 0;  // on which it builds, for the texts
  std::vector<burnin::Change> changes{};
  /// Stages that are needed again whatever the rules say, by base name, each with a reason.
  std::map<std::string, std::string, std::less<>> needed{};
  bool hands_over = true;  // a machine that passes goes back to Slurm
};

/// `passed`: the playbook of the run, as it was read. Errors: kInvalid: the playbook no longer
/// fits the profile, none can be made of it, or the run erased the machine's drives.
Result<Selection> select_stages(const playbooks::Playbook& passed,
                                const inventory::Inventory& inventory, const inventory::Node& node,
                                const Request& request);

/// The playbook of the look before: what is there now, from the BMC and the node. Changes nothing.
std::string look_playbook();

}  // namespace cupel::requalify
