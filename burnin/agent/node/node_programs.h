#pragma once
// A stage's tools and clock on a real node: processes of this one, and the kernel's own time. Each
// wait blocks, so that a stage runs through without being suspended.
#include "burnin/agent/node/stages/clock.h"
#include "burnin/agent/node/stages/programs.h"

namespace cupel::agent {

/// Adopts whatever its children leave behind (PR_SET_CHILD_SUBREAPER), and ends it with them: one
/// command at a time, and no other child of this process may live meanwhile.
class NodePrograms final : public Programs {
 public:
  /// English, and the folders where our own programs and the administrators' tools lie.
  NodePrograms();

  std::string folder_of(const std::string& name) const override;

 private:
  bool begin(const Command& command, Wait<Ran>& wait) override;
};

class NodeClock final : public StageClock {
 public:
  std::chrono::milliseconds now() const override;

 private:
  bool begin(std::chrono::milliseconds span, Wait<Passed>& wait) override;
};

}  // namespace cupel::agent
