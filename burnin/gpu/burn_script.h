#pragma once
// How a stage runs cupel-burn on a node: only on idle GPUs, after a self-test, with the driver's
// sensors and the kernel's log beside it; and its output, taken apart again. Pure.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/stage.h"

namespace cupel::burnin {

/// `arguments`: what follows the command; `test_arguments`: the same of its self-test, which tests
/// only what the run needs. No quotation marks in them.
Job burn_job(std::string_view command, const std::string& arguments,
             const std::string& test_arguments, std::chrono::seconds duration);

/// Between two samples of the driver's sensors: five seconds; more in burns of hours, whose samples
/// would only tell the same again.
std::chrono::seconds sampling_period(std::chrono::seconds duration);

/// Sections are "gpus", "apps", "self-test", "run", "samples" and "kernel".
struct BurnOutput {
  std::map<std::string, std::vector<std::string_view>, std::less<>> sections{};
  int self_test_status = -1, run_status = -1;
  bool busy = false;                 // somebody else's program was on a GPU: nothing was run
  bool whole = false;                // the script came to its end
  std::string_view kernel_before{};  // the last line of the kernel's log, as far as its time
  std::string_view types{};          // of numbers, as they were asked for: "bf16,fp8"

  const std::vector<std::string_view>& lines_of(std::string_view section) const;
  std::string text_of(std::string_view section) const;
};

/// Views into `text`.
BurnOutput read_burn_output(std::string_view text);

}  // namespace cupel::burnin
