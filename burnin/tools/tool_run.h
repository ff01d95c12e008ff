#pragma once
// One run of a tool of GPUs, whoever started it: cupel-node, or the shell script of a job that an
// earlier version of the controller began, in whose output all stands together.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "burnin/agent_stage.h"
#include "burnin/tools/tool_gpus.h"

namespace cupel::burnin {

class ToolRun {
 public:
  /// Of `tool`, as the stage calls it. Errors: kNoMeasurement as read_agent_output() gives it, and
  /// where the tool's output is cut or absent.
  static Result<ToolRun> read(std::string_view stage, std::string_view tool,
                              const inventory::Profile& profile, const Output& output);

  /// What the tool printed, standard error first, with its exit status.
  const Output& output() const { return output_; }
  const ToolGpus& gpus() const { return gpus_; }
  /// An amount that it was to do; nothing where it was not started.
  std::optional<double> asked(std::string_view what) const;
  /// What it noted in words; empty where there is nothing.
  std::string note(std::string_view what) const;
  /// The fact "host.pinned", "NUMA node 1, CPUs 28-55,84-111", where it ran on some CPUs alone.
  void add_pin(Findings& findings) const;

 private:
  ToolRun(Output output, ToolGpus gpus, std::optional<AgentOutput> agent);

  Output output_;
  ToolGpus gpus_;
  std::optional<AgentOutput> agent_;
};

}  // namespace cupel::burnin
