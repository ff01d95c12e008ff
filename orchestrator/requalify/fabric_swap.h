#pragma once
// What runs before and after exchanges of plugs say of links that pairs found slow, and which
// exchange is to be made next. Pure.
#include <map>
#include <optional>
#include <set>
#include <span>

#include "burnin/fabric/cable_swap.h"
#include "orchestrator/record/node_record.h"

namespace cupel::requalify {

/// What a run's `fabric-pairs` found, of all its nodes.
struct PairReadings {
  std::vector<burnin::fabric::SlowLinks> slow{};  // each once
  /// Of each slow link's end: the nodes that are judged by it.
  std::map<inventory::CableEnd, std::set<std::string>> nodes_of{};
  std::set<std::string> measured{};  // nodes with flows
  std::string exchanged{};           // the stage's parameter; empty: none
};

/// Nothing of nodes without that stage, and nothing of a leaf or a spine as a whole.
PairReadings pair_readings(std::span<const record::NodeRecord> records,
                           const inventory::Fabric& plan);

/// A run that measured pairs.
struct PairRun {
  engine::RunId run = 0;
  PairReadings readings{};
};

/// What is known of one slow link.
struct SwapCase {
  burnin::fabric::SwapAnswer answer{};
  std::vector<engine::RunId> by{};  // with an exchange, that say so, the newest first
  std::optional<burnin::fabric::Exchange> next{};
  std::set<std::string> measure{};  // nodes that are to be measured after `next`
  bool uplinks = false;             // `next` is of uplinks: by-destination routing is needed
};

struct SwapInquiry {
  engine::RunId before = 0;            // whose slow links they are: the newest without an exchange
  std::vector<engine::RunId> after{};  // with an exchange since then, the newest first
  std::vector<SwapCase> cases{};
};

/// The slow links of the newest run without an exchange, each by all exchanges that were measured
/// since it was first slow. Errors: kNotFound: no run without an exchange; kInvalid: the newest
/// exchange since then concerns none of them, cannot be, or was measured without a node that the
/// answer needs. Older exchanges of which that is true say nothing.
Result<SwapInquiry> inquire(std::span<const PairRun> newest_first, const inventory::Fabric& plan);

}  // namespace cupel::requalify
