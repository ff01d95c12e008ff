#pragma once
// Slurm as an operator's own tools see it: scontrol, with the node's line read by its keys. Never
// decides whether a node is good.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/task.h"
#include "inventory/model.h"

namespace cupel::handoff {

/// What slurmctld says of one node.
struct SlurmNode {
  std::string name;
  std::vector<std::string> state;  // "IDLE", "DRAIN", ... as State=IDLE+DRAIN says it
  std::string reason{};            // without Slurm's own [user@time]
  int cpus = 0;                    // CPUTot
  double memory_bytes = 0;         // RealMemory
  std::string gres{};
  std::vector<std::string> features{};

  bool has(std::string_view word) const;
  bool drained() const { return has("DRAIN"); }
  /// Jobs are on it, or end on it.
  bool busy() const;
  /// It has no jobs, would take one now, and is kept for none.
  bool idle() const;
};

/// One line of `scontrol --oneliner show node`. Errors: kMalformed.
/// Source: man scontrol (22.05), "show node".
Result<SlurmNode> parse_slurm_node(std::string_view line);

/// Each asks for the node first and changes only what is exactly one; 20 s for each `scontrol`.
/// Errors: kInvalid (ALL, a range, a list: not asked), kUnreachable (slurmctld does not answer),
/// kNotFound (no such node), kUnsupported (no scontrol here), kFailed with scontrol's words.
class Slurm {
 public:
  /// `signature`: what every reason that Cupel writes begins with.
  explicit Slurm(inventory::SlurmSite site, std::string signature = "cupel")
      : site_{std::move(site)}, signature_{std::move(signature)} {}

  Task<Result<SlurmNode>> node(std::string name, Deadline deadline);
  /// All that slurmctld has. At most 10,000 or so: what `scontrol` prints is bounded by 32 MiB.
  Task<Result<std::vector<SlurmNode>>> nodes(Deadline deadline);
  /// Keeps new jobs away; running ones go on. Idempotent.
  Task<Result<void>> drain(std::string name, std::string reason, Deadline deadline);
  /// Also from DOWN. Idempotent.
  Task<Result<void>> resume(std::string name, Deadline deadline);
  /// Adds the site's features to those that the node has, and makes them active. Idempotent.
  Task<Result<void>> add_features(std::string name, std::vector<std::string> features,
                                  Deadline deadline);

  const inventory::SlurmSite& site() const { return site_; }
  const std::string& signature() const { return signature_; }

 private:
  Task<Result<std::string>> scontrol(std::vector<std::string> arguments, Deadline deadline,
                                     std::size_t most_output = 4u << 20);
  Task<Result<void>> update(std::string name, std::vector<std::string> changes, Deadline deadline);

  inventory::SlurmSite site_;
  std::string signature_;
};

/// Names by commas of those among `terms` (as --nodes) that Slurm reports idle. Blocks while
/// scontrol is asked, 30 s at most. Errors: kInvalid: no such node, no slurm section in the
/// inventory, or none is idle; as Slurm.
Result<std::string> idle_nodes(const inventory::Inventory& inventory, const std::string& terms);

/// A reason that fits into Slurm's tools: one line, no quotes, at most 240 bytes.
std::string slurm_reason(std::string_view text);

}  // namespace cupel::handoff
