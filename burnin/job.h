#pragma once
// What a stage is given, what it makes of that, and what comes back: the part of the contract
// (stage.h) that playbooks, plans and whatever runs jobs need. They need no measurement and no
// profile.
#include <chrono>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::burnin {

/// What a playbook may say with `with:`. Every value as it was written; the stage reads it.
using Parameters = std::map<std::string, std::string>;

/// What one stage does on one kind of node: a POSIX shell script, and how long it may take.
struct Job {
  std::string script;
  std::chrono::seconds expected{};  // for the ETA
  std::chrono::seconds limit{};     // after that it hangs: a finding. Enforced on the node too.
  /// Tools of the node that cupel-node runs for it, and that no script names
  /// (burnin/agent_stage.h).
  std::vector<std::string> tools{};    // without which it proves nothing
  std::vector<std::string> helpful{};  // it goes on without them, and measures less
  std::string folder{};                // where one of them may lie, if PATH has it not
};

/// What came back from the node.
struct Output {
  std::string text;    // standard output
  std::string errors;  // standard error
  int exit_status = 0;
  /// What the BMC reported meanwhile, as the controller wrote it down: JSON, of stages that ask for
  /// it (Stage::beside, Stage::is_bmc_log). Kept apart: no node can forge it.
  std::string beside{};
};

/// One name that `with:` may carry, with its default and its bounds. Stages read their values by it
/// (burnin/parameters.h); people, editors and the playbooks' reader know it by it.
struct ParameterRow {
  enum class Kind { text, word, duration, size, size_or_percent, folder };
  std::string_view name;
  Kind kind = Kind::text;
  std::string_view summary;
  std::string_view fallback{};  // what counts where it is not given; empty: it must be given
  std::span<const std::string_view> words{};  // of a word: all that it may be
  double least = 0, most = 0;                 // of a duration in seconds, of a size in bytes
};

}  // namespace cupel::burnin
