#pragma once
// The places of GPUs that a tool numbers. Not what a GPU is like: that is gpu/gpu_facts.h. That
// GPUs are idle and whole: agent/node/stages/idle_gpus.h.
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/stage.h"
#include "inventory/fwd.h"

namespace cupel::burnin {

struct AgentOutput;  // burnin/agent_stage.h

/// Names by what the script of an earlier version printed, or by cupel-node's evidence "gpus".
class ToolGpus {
 public:
  ToolGpus(const inventory::Profile& profile, const Output& output);
  ToolGpus(const inventory::Profile& profile, const AgentOutput& output);

  /// "gpu5" by the profile's places. Where the node did not say where its GPUs are, by the tool's
  /// own number.
  std::string name(int index) const;
  std::size_t count() const { return names_.size(); }
  /// Of every GPU that the node listed.
  std::vector<std::string> names() const;

 private:
  /// "5, 00000000:D1:00.0"
  void take_row(std::span<const std::string> places, std::string_view row);

  std::map<int, std::string> names_{};
};

}  // namespace cupel::burnin
