#pragma once
// A node that Slurm and Kubernetes both give to jobs: held back in both, given back to both.
#include "orchestrator/handoff/scheduler.h"

namespace cupel::handoff {

class BothSchedulers : public Scheduler {
 public:
  BothSchedulers(std::shared_ptr<Scheduler> first, std::shared_ptr<Scheduler> second);

  std::string_view name() const override { return name_; }
  std::vector<std::string_view> keys() const override;
  const std::string& signature() const override { return first_->signature(); }
  /// Drained where both have drained it, busy where one has jobs on it.
  Task<Result<NodeState>> look(const inventory::Node& node, const inventory::Profile& profile,
                               Deadline deadline) override;
  Task<Result<void>> hold(const inventory::Node& node, std::string reason,
                          Deadline deadline) override;
  /// What a person holds back in one of them stays held back in both.
  Task<Result<std::string>> release(const inventory::Node& node, Deadline deadline) override;
  Task<Result<void>> place(const inventory::Node& node, const inventory::NvlinkDomain& domain,
                           Deadline deadline) override;
  Task<Result<void>> reserve(const inventory::Node& node, std::string run,
                             Deadline deadline) override;
  Task<Result<void>> unreserve(const inventory::Node& node, std::string run,
                               Deadline deadline) override;

 private:
  std::shared_ptr<Scheduler> first_, second_;
  std::string name_;
};

/// One state of the two, as BothSchedulers::look() has it. `first`, `second`: their names.
NodeState state_of_both(NodeState one, NodeState other, std::string_view first,
                        std::string_view second);

}  // namespace cupel::handoff
