#pragma once
// What the light test does in Slurm: it drains its node with the cause, and takes back a drain that
// is its own. Never one of anybody else. By scontrol, as root of the node may.
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupel::agent {

/// What every reason of the light test begins with.
inline constexpr std::string_view kCheckReason = "cupel-check: ";

/// What slurmctld says of one node. Source: man scontrol, "show node".
struct SlurmState {
  std::string name{};
  bool drained = false;  // DRAIN is among the words of State=
  bool down = false;     // DOWN, FAIL, NOT_RESPONDING
  std::string reason{};  // without [user@time]
};

/// One line of `scontrol --oneliner show node`. Errors: kMalformed.
Result<SlurmState> parse_slurm_state(std::string_view line);

/// "cupel-check: gpu3: ...; +2 more": one line without quotes, at most 240 bytes.
std::string check_reason(const std::vector<std::string>& complaints);

/// What is to be done. Pure.
enum class SlurmAct { nothing, drain, resume };
SlurmAct act_for(const SlurmState& state, bool is_well, bool may_resume);

/// What this node is called there: `named`, SLURMD_NODENAME, or the host's name up to its first
/// dot. Errors: kInvalid: it has characters that no node's name has.
Result<std::string> slurm_name(std::string_view named);

/// Looks, acts where that is due, and says in words what was done. Errors: as run_command();
/// kMalformed.
Result<std::string> settle_in_slurm(const std::string& name,
                                    const std::vector<std::string>& complaints, bool may_resume,
                                    std::chrono::steady_clock::time_point deadline);

}  // namespace cupel::agent
