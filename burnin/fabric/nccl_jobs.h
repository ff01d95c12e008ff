#pragma once
// The jobs of a collective over several nodes: what each runs, and for how long at most; and what
// cupel-node printed of it.
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "burnin/fabric/teams.h"
#include "burnin/group_stage.h"

namespace cupel::burnin::fabric {

inline constexpr std::string_view kNcclStage = "fabric-nccl";

struct Collectives {
  std::string operations = "all_reduce";  // as cupel-burn's --ops
  std::uint64_t least = 0, most = 0;      // bytes
  int factor = 4;
  int times = 20;
  int steps = 0;                                     // of training in place of these; 0: none
  std::chrono::seconds duration{60};                 // of a round, at most
  std::chrono::seconds join{120};                    // until all ranks must have come
  std::string interface{};                           // empty: that of the node's address
  std::map<std::string, std::string> environment{};  // NCCL_IB_SL ...
};

/// A node of a team.
struct NcclMember {
  std::size_t place = 0;       // in the team; 0 makes the id
  std::string_view hca{};      // of a rail's team
  std::string_view address{};  // whose interface its ranks meet at; empty: as NCCL chooses
};

MemberJob nccl_job(const Collectives& collectives, const Team& team, int ranks_each,
                   const NcclMember& member);

/// What cupel-burn printed, and the status that it ended with, as the shell script of an earlier
/// version printed them; of such a script's job as it is. Of what has no end, nothing: its node did
/// not come to its end.
Output nccl_report(const Output& output);

/// How long a job takes at most, waiting for the others included.
std::chrono::seconds nccl_limit(const Collectives& collectives);

}  // namespace cupel::burnin::fabric
