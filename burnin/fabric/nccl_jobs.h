#pragma once
// The jobs of a collective over several nodes: what each runs, and for how long at most.
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "burnin/fabric/teams.h"
#include "burnin/group_stage.h"

namespace cupel::burnin::fabric {

struct Collectives {
  std::string operations = "all_reduce";  // as cupel-burn's --ops
  std::uint64_t least = 0, most = 0;      // bytes
  int factor = 4;
  int times = 20;
  std::chrono::seconds duration{60};                 // of a round, at most
  std::chrono::seconds join{120};                    // until all ranks must have come
  std::string interface{};                           // empty: as NCCL chooses
  std::map<std::string, std::string> environment{};  // NCCL_IB_SL ...
};

/// The job of `place` in a team. `hca`: of a rail's team, that of this node.
MemberJob nccl_job(const Collectives& collectives, const Team& team, std::size_t place,
                   int ranks_each, std::string_view hca);

/// How long a job takes at most, waiting for the others included.
std::chrono::seconds nccl_limit(const Collectives& collectives);

/// "NCCL_IB_SL=1 NCCL_IB_TC=106". Errors: kInvalid: a name that is not NCCL's, one that the job
/// itself sets, a sign that does not belong into a value, or more than 64.
Result<std::map<std::string, std::string>> nccl_environment(std::string_view text);

}  // namespace cupel::burnin::fabric
