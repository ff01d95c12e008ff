#pragma once
// Who gives the site's nodes to jobs, as the steps see it: a node is held back while it is tested,
// and given back with its proof. Slurm (slurm.h), Kubernetes (kubernetes.h), or both
// (both_schedulers.h). Never decides whether a node is good.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/task.h"
#include "inventory/fwd.h"
#include "inventory/nvlink_domain.h"

namespace cupel::handoff {

/// What the scheduler reports of one node.
struct NodeState {
  std::string name{};               // as the scheduler knows it
  bool drained = false;             // no new jobs start there
  bool busy = false;                // jobs are on it, or end on it
  std::vector<std::string> jobs{};  // of a busy one, where that is known: "17 (alice)"
  std::string silent{};  // why it could start none although it may: "slurmctld hears no slurmd"
  std::string reason{};  // why it is drained
  /// Who else wants no jobs there, and why: stays so when Cupel gives the node back.
  std::string held_by_others{};
  std::string look_with{};                   // the command that shows it
  std::vector<std::string> disagreements{};  // with its profile
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// "Slurm"
  virtual std::string_view name() const = 0;
  /// Of its findings in the journal: "slurm". Of both: two of them.
  virtual std::vector<std::string_view> keys() const = 0;
  /// What every reason that Cupel writes begins with: "cupel".
  virtual const std::string& signature() const = 0;

  /// Errors of all of these: kInvalid (its name is several nodes, or none: not asked), kNotFound
  /// (no such node), kUnreachable, kTimeout, kBusy, kRefused, kUntrusted, kUnsupported, kMalformed,
  /// kFailed with the scheduler's words.
  virtual Task<Result<NodeState>> look(const inventory::Node& node,
                                       const inventory::Profile& profile, Deadline deadline) = 0;
  /// Keeps new jobs away; running ones go on. Idempotent.
  virtual Task<Result<void>> hold(const inventory::Node& node, std::string reason,
                                  Deadline deadline) = 0;
  /// Marks it as qualified and lets jobs come again. Idempotent. Returns why it stays drained all
  /// the same; empty: it does not.
  virtual Task<Result<std::string>> release(const inventory::Node& node, Deadline deadline) = 0;

  /// Says which NVLink domain the node's GPUs are in, where the scheduler places jobs by it.
  /// Idempotent.
  virtual Task<Result<void>> place(const inventory::Node& node,
                                   const inventory::NvlinkDomain& domain, Deadline deadline);

  /// A reservation of the node for this run, where the site asks for one. Both idempotent.
  virtual Task<Result<void>> reserve(const inventory::Node& node, std::string run,
                                     Deadline deadline);
  virtual Task<Result<void>> unreserve(const inventory::Node& node, std::string run,
                                       Deadline deadline);
};

inline constexpr std::size_t kLongestReason = 240;  // bytes

/// The same with only the host of each long URL: what is behind it is what people have to read.
std::string with_short_urls(std::string_view text);
/// A reason that fits into the tools of both: one line, no quotes, at most kLongestReason.
std::string one_line_reason(std::string_view text);

/// A node's; nullptr where the inventory has none.
using SchedulerOf = std::function<std::shared_ptr<Scheduler>(const inventory::Node&)>;

/// `signature`: as Scheduler::signature. The inventory must outlive it.
SchedulerOf scheduler_of(const inventory::Inventory& inventory, const std::string& signature);

}  // namespace cupel::handoff
