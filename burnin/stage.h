#pragma once
// A burn-in stage: how it is started, what its output says. Parsing is pure and apart from running.
// How a stage is run (detached on the node, read from an offset, re-attached after anything) is the
// same for one of a second and one of 72 hours, and is not written here but in
// orchestrator/ssh/detached.h.
#include <chrono>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "burnin/measurement.h"
#include "inventory/profile.h"

namespace cupel::burnin {

/// What a playbook may say with `with:`. Every value as it was written; the stage reads it.
using Parameters = std::map<std::string, std::string>;

/// What one stage does on one kind of node: a POSIX shell script, and how long it may take.
struct Job {
  std::string script;
  std::chrono::seconds expected{};  // for the ETA
  std::chrono::seconds limit{};     // after that it hangs: a finding. Enforced on the node too.
};

/// What came back from the node.
struct Output {
  std::string text;    // standard output
  std::string errors;  // standard error
  int exit_status = 0;
};

struct Stage {
  std::string_view name;                         // "gpu-facts"
  std::string_view summary;                      // one line for people
  std::span<const std::string_view> parameters;  // names that `with:` may carry

  /// Errors: kInvalid, naming the parameter. Called when the plan is made, before anything is
  /// touched.
  Result<Job> (*prepare)(const inventory::Profile& profile, const Parameters& parameters);

  /// Pure. Errors: kNoMeasurement where the output proves nothing (tool missing, no row);
  /// kMalformed. A tool that reports bad parts is no Error: that is what measurements are for.
  Result<Findings> (*parse)(const inventory::Profile& profile, const Output& output);

  /// Names of the measurements that parse() can give: a criterion for another one is a typing
  /// error.
  std::span<const std::string_view> measures;
};

/// Every stage there is, in the order in which a newcomer meets them.
std::span<const Stage> stages();

/// nullptr if there is none of that name.
const Stage* stage(std::string_view name);

}  // namespace cupel::burnin
