#pragma once
// How the newest run that judged it left each node of the site: read from the journal once a run is
// over, and kept in memory. Not how a run stands that works: see live_run.h.
#include <map>
#include <string>

#include "inventory/fwd.h"
#include "orchestrator/store/journal_reader.h"

namespace cupel::api {

struct NodeResult {
  engine::RunId run = 0;
  engine::RunId newest = 0;  // of the node; another one than `run` where it judged nothing
  std::string state{};       // "pass", "fail", "inconclusive"; "ended": nothing was judged
  std::string cause{};       // in one line; empty where there is nothing to be reported
  bool judged = false;       // by a verdict
};

/// What the newest verdict of the run on the node says; without one it is "inconclusive" where a
/// step failed. Errors: kStorage.
Result<NodeResult> result_of(const store::JournalReader& journal, engine::RunId run,
                             const std::string& node);

class NodeResults {
 public:
  using SiteNodes = std::map<std::string_view, const inventory::Node*>;
  using ByNode = std::map<std::string, NodeResult, std::less<>>;

  /// Reads what is new since: a few events for each node whose newest run has ended, of about
  /// kMostReads runs. True where that was all. Errors: kStorage.
  Result<bool> catch_up(const store::JournalReader& journal, const SiteNodes& nodes);

  /// Of nodes of the site.
  const ByNode& all() const { return all_; }

  static constexpr std::size_t kMostReads = 4000;

 private:
  ByNode all_{};
};

}  // namespace cupel::api
