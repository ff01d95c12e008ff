#include "orchestrator/cli/seen_assets.h"

namespace cupel::cli {
namespace {

constexpr std::size_t kMostRunsBack = 500;
constexpr int kMostReadings = 8;  // runs of one machine since one that read a part

/// Of one machine while its runs are read.
struct Readings {
  record::SeenParts parts{};
  int runs = 0;
  bool is_complete = false;
};

}  // namespace

Result<SeenMachines> seen_machines(const store::Store& store,
                                   const std::set<std::string, std::less<>>& nodes) {
  SeenMachines seen;
  std::map<std::string, Readings, std::less<>> readings;
  TRY(const auto runs, store.runs(kMostRunsBack));
  for (const auto& run : runs) {
    seen.began.emplace(run.id, run.began);
    for (const auto& node : run.nodes) {
      if (!nodes.empty() && !nodes.contains(node)) continue;
      auto& of = readings[node];
      if (of.is_complete || of.runs == kMostReadings) continue;
      TRY(const auto record, record::node_record(store, run.id, node));
      of.is_complete = !of.parts.take(record, run.id);
      of.runs += of.parts.parts().empty() ? 0 : 1;
    }
  }
  for (auto& [node, of] : readings) seen.machines.emplace(node, std::move(of.parts));
  return seen;
}

Result<Seen> seen_of_store(const store::Store& store) {
  TRY(const auto known, seen_machines(store));
  Seen seen;
  for (const auto& [node, of] : known.machines) {
    if (auto parts = of.parts(); !parts.empty()) seen.parts.emplace(node, std::move(parts));
    if (auto unread = of.unread(); !unread.empty()) seen.unread.emplace(node, std::move(unread));
  }
  return seen;
}

}  // namespace cupel::cli
