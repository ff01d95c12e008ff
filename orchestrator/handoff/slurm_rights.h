#pragma once
// Whether a user may change nodes in Slurm: asked, and not tried. slurmctld lets root, SlurmUser
// and administrators; an operator may change no node.
// Source: https://slurm.schedmd.com/user_permissions.html.
#include <string>
#include <string_view>

#include "base/task.h"

namespace cupel::handoff {

struct SlurmRights {
  enum class Right { has, lacks, unknown } right = Right::unknown;
  std::string why{};    // "cupel is SlurmUser", "the AdminLevel of cupel is Operator"
  std::string helps{};  // a command; empty where nothing is to be done, or no command is known
  friend bool operator==(const SlurmRights&, const SlurmRights&) = default;
};

/// By scontrol and sacctmgr of this machine, 20 s each. `configuration`: SLURM_CONF; empty: the
/// environment's. What cannot be found out is unknown, with the tool's words.
Task<SlurmRights> slurm_rights(std::string user, std::string configuration, Deadline deadline);

/// "slurm" of what `scontrol show config` prints ("SlurmUser = slurm(64030)"); empty where it is
/// not in there. Source: man scontrol (22.05), "show config".
std::string slurm_user_in(std::string_view shown);

}  // namespace cupel::handoff
