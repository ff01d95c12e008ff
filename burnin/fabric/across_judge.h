#pragma once
// What the reports of all nodes of all teams become: rates of the slowest rank, which node did not
// come or did not go on, whose results are wrong, who is slower than the others in collectives or
// in training. Pure.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "burnin/fabric/across_report.h"
#include "burnin/fabric/teams.h"
#include "burnin/group_stage.h"

namespace cupel::burnin::fabric {

/// A team with what each of its members reported, in their order; nothing: its job failed.
struct TeamRun {
  Team team{};
  int ranks_each = 1;
  bool trains = false;   // steps of training; else collectives
  bool bisects = false;  // a half of the nodes: bisection.h says what it loses
  std::vector<std::optional<AcrossReport>> reports{};
  std::string gave_up{};  // why nothing was begun; empty: it was
};

/// Of a team that did not come to its end.
struct Stall {
  std::vector<std::size_t> nodes{};  // places in the team: whom the others waited for
  std::string why{};                 // "n2 (rank 9) has not entered all_reduce of 64 MiB ..."
};

/// Nothing: all came to the end. Without nodes: it is not known who.
std::optional<Stall> stall_of(const TeamRun& run, std::span<const std::string> nodes);

/// GB/s of the slowest node at the largest size; 0: it did not come to its end, or did not run the
/// operation.
double busbw_of(const TeamRun& run, std::span<const std::string> nodes, std::string_view operation);

/// `hcas`: of each node, rail by rail; empty: not known. `left`: why a node took no part to the
/// end; empty: it did. Errors: kNoMeasurement: no team came to its end, and no node is to blame.
Result<GroupFindings> across_findings(std::span<const TeamRun> runs,
                                      std::span<const std::string> nodes,
                                      std::span<const std::string> hcas, int rails,
                                      const std::vector<bool>& left);

}  // namespace cupel::burnin::fabric
