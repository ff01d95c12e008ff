#pragma once
// Which steps of a playbook are worth their time: how much of what fails in fleets each of them
// shows, by the shares of part_shares.h and by what the catalogue says finds each fault. Pure.
#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/problem.h"
#include "orchestrator/report/part_shares.h"

namespace cupel::report {

/// What must run for a fault of the catalogue to be found.
struct FaultNeeds {
  std::string fault{};
  std::string check{};  // "hbm.copy", "fleet: hbm.copy", "audit: missing", "stage gemm"
  std::vector<std::string> under{};  // stages, without which it does not show
  std::chrono::seconds after{0};     // so long machines have worked before it begins
};

/// Of one file of the catalogue. What says nothing of what is found is passed over.
std::vector<FaultNeeds> parse_fault_needs(std::string_view text, const std::string& file,
                                          std::vector<inventory::Problem>& problems);

/// A step that makes machines work: it may be left out.
struct LoadStep {
  std::string name{};
  std::chrono::seconds expected{};
};

/// time: the fewest minutes that show nine tenths of what the whole playbook shows. coverage: no
/// step is left out that shows anything.
enum class Prefer { time, coverage };

struct RankedStep {
  std::string name{};
  std::chrono::seconds expected{};
  double share = 0;  // of 100 parts that fail, what it shows beside the steps before it
  bool kept = true;

  double per_minute() const;
};

struct Ranking {
  std::vector<RankedStep> steps{};  // what is kept first; the most share for a minute first
  double whole = 0, kept = 0;  // of 100 parts: shown by the whole playbook, and by what is kept
  std::vector<std::string>
      escaped{};  // faults that the whole playbook shows, and what is kept does not
};

/// `always`: the names of the other steps, which stay. Steps go one by one, each time the one that
/// loses the least share for the time that it saves; the last to go is the first of the ranking.
/// So many steps squared, times the faults.
Ranking rank_steps(const PartShares& shares, std::span<const FaultNeeds> faults,
                   const std::vector<std::string>& always, std::vector<LoadStep> loads,
                   Prefer prefer);

}  // namespace cupel::report
