#pragma once
// Slurm as an operator's own tools see it: which node is meant, and what it needs, by scontrol or
// slurmrestd. Never decides whether a node is good.
#include "inventory/fwd.h"
#include "inventory/slurm_site.h"
#include "orchestrator/handoff/scheduler.h"
#include "orchestrator/handoff/scontrol.h"

namespace cupel::handoff {

/// Another user's word that a node is to take no jobs.
struct ForeignHold {
  std::string state{};  // "DRAIN", "DOWN"
  std::string by{};     // "alice"; empty: not known
  std::string reason{};
  friend bool operator==(const ForeignHold&, const ForeignHold&) = default;
};

/// A drain or down with a reason that neither Cupel nor slurmctld itself has given. Where Cupel has
/// drained the node since, what it kept of it in its own reason.
std::optional<ForeignHold> foreign_hold(const SlurmNode& node);
/// Cupel's reason with what it must put back, at most kLongestReason.
std::string reason_with(std::string_view reason, const std::optional<ForeignHold>& before);
/// Cupel's reason alone.
std::string_view own_reason(std::string_view reason);

/// Each asks for the node first and changes only what is exactly one.
/// Errors: kInvalid (ALL, a range, a list: not asked), kUnreachable (slurmctld does not answer),
/// kNotFound (no such node), kUnsupported (no scontrol here, or a slurmrestd that cannot do it),
/// kRefused (its token), kFailed with Slurm's words.
class Slurm : public Scheduler {
 public:
  /// `signature`: what every reason that Cupel writes begins with.
  explicit Slurm(inventory::SlurmSite site, std::string signature = "cupel");

  Task<Result<SlurmNode>> node(std::string name, Deadline deadline);
  /// All that slurmctld has.
  Task<Result<std::vector<SlurmNode>>> nodes(Deadline deadline);
  /// Keeps new jobs away; running ones go on. Idempotent.
  Task<Result<void>> drain(std::string name, std::string reason, Deadline deadline);
  /// Also from DOWN. Idempotent.
  Task<Result<void>> resume(std::string name, Deadline deadline);
  /// Adds the site's features to those that the node has, and makes them active. Idempotent.
  Task<Result<void>> add_features(std::string name, std::vector<std::string> features,
                                  Deadline deadline);
  /// Who answers, for people.
  Task<Result<std::string>> ping(Deadline deadline);

  std::string_view name() const override { return "Slurm"; }
  std::vector<std::string_view> keys() const override { return {"slurm"}; }
  const std::string& signature() const override { return signature_; }
  Task<Result<NodeState>> look(const inventory::Node& node, const inventory::Profile& profile,
                               Deadline deadline) override;
  Task<Result<void>> hold(const inventory::Node& node, std::string reason,
                          Deadline deadline) override;
  Task<Result<std::string>> release(const inventory::Node& node, Deadline deadline) override;
  Task<Result<void>> reserve(const inventory::Node& node, std::string run,
                             Deadline deadline) override;
  Task<Result<void>> unreserve(const inventory::Node& node, std::string run,
                               Deadline deadline) override;

 private:
  inventory::SlurmSite site_;
  std::string signature_;
  std::shared_ptr<SlurmBackend> door_;
};

/// Names by commas of those among `terms` (as --nodes) that Slurm reports idle. Blocks while
/// slurmctld is asked, 30 s at most. Errors: kInvalid: no such node, no slurm section in the
/// inventory, or none is idle; as Slurm.
Result<std::string> idle_nodes(const inventory::Inventory& inventory, const std::string& terms);

}  // namespace cupel::handoff
