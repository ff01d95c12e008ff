#pragma once
// How a stage has cupel-node run cupel-burn: only on idle GPUs, after a self-test, with the
// driver's sensors and the kernel's log beside it; and what the node printed, taken apart again.
// Pure.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent_stage.h"

namespace cupel::burnin {

/// One command of cupel-burn.
struct BurnWork {
  std::string_view command;
  std::chrono::seconds duration{};
  std::vector<std::string> arguments{};     // "--types", "bf16"
  std::vector<std::string> of_self_test{};  // the same: it tests only what the run needs
};

AgentWork agent_work(const BurnWork& work);

/// Between two samples of the driver's sensors: five seconds; more in burns of hours, whose samples
/// would only tell the same again.
std::chrono::seconds sampling_period(std::chrono::seconds duration);

/// What one run printed. Sections are "gpus", "apps", "self-test", "run", "samples" and "kernel".
/// Views into the output, or into what cupel-node reported in it.
struct BurnOutput {
  BurnOutput() = default;
  BurnOutput(BurnOutput&&) = default;
  BurnOutput& operator=(BurnOutput&&) = default;
  BurnOutput(const BurnOutput&) = delete;
  BurnOutput& operator=(const BurnOutput&) = delete;
  ~BurnOutput() = default;

  std::optional<AgentOutput> agent{};
  std::map<std::string, std::vector<std::string_view>, std::less<>> sections{};
  int self_test_status = -1, run_status = -1;
  std::string self_test_complaint{}, run_complaint{};  // the first line of their standard errors
  std::optional<double> seconds{};                     // for how long it was to burn
  bool busy = false;                 // somebody else's program was on a GPU: nothing was run
  bool whole = false;                // the stage came to its end
  bool cut = false;                  // cupel-burn printed more than the node kept
  bool samples_cut = false;          // nvidia-smi printed more than the node kept
  bool reads_kernel = false;         // the kernel's log may be read
  std::string_view kernel_before{};  // the last line of the kernel's log, as far as its time
  std::string_view types{};          // of numbers, as they were asked for: "bf16,fp8"

  const std::vector<std::string_view>& lines_of(std::string_view section) const;
  std::string text_of(std::string_view section) const;
};

/// Half an output has what was printed until then, and is not whole: a fault that was found counts.
/// Errors: kNoMeasurement, in the node's words, where the stage gave up.
Result<BurnOutput> read_burn_output(const Output& output);

}  // namespace cupel::burnin
