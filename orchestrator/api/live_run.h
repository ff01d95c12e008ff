#pragma once
// A run as the API shows it, folded from its journal as that grows. A view: nothing is judged here,
// and it is made anew from the journal whenever it is asked for.
#include <boost/json/object.hpp>
#include <deque>
#include <map>
#include <set>

#include "burnin/verdict.h"
#include "orchestrator/engine/fold.h"
#include "orchestrator/store/journal_reader.h"

namespace cupel::api {

/// Where a node stands, as it was when the run began.
struct NodePlace {
  std::string rack{};
  int unit = 0;
  int height = 1;
  std::string profile{};
};

/// What a run's first event says of it.
struct RunHead {
  std::map<std::string, NodePlace, std::less<>> places{};
  std::vector<std::string> order{};  // nodes as the run lists them
  boost::json::object begin{};       // racks, site, by, rehearsal, steps, parameters
};

RunHead run_head(const boost::json::object& first);

/// What the verdict is about, in one line, for a list; empty where there is nothing to be reported.
std::string cause_line(const burnin::Verdict& verdict);

class LiveRun {
 public:
  explicit LiveRun(engine::RunId run) : run_{run} {}
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  /// Folds what was written since. Errors: kStorage.
  Result<void> catch_up(const store::JournalReader& journal);

  engine::RunId run() const { return run_; }
  std::int64_t sequence() const { return sequence_; }
  const std::string& tip() const { return tip_; }  // the newest event's hash
  const engine::FoldedRun& folded() const { return folded_; }
  const RunHead& head() const { return head_; }
  const burnin::Verdict* verdict(std::string_view node) const;
  /// In one line, for a list; empty where there is nothing to be reported.
  std::string cause(std::string_view node) const;
  /// SHA-256 of the raw outputs that events name, each with its node.
  const std::map<std::string, std::set<std::string>, std::less<>>& evidence() const {
    return evidence_;
  }

  /// What the journal says of commands, in its order.
  struct CommandAnswer {
    std::int64_t command = 0;
    std::string refused{};  // why; empty: it is done
  };
  const std::vector<CommandAnswer>& answers() const { return answers_; }

  struct Standing {
    /// "waiting", "running", "between-tries", "needs-operator", "failed", "pass", "fail",
    /// "inconclusive".
    std::string_view state{};
    const engine::StepTrace* step = nullptr;  // that it is at
    const engine::StepState* at = nullptr;
    std::size_t done = 0;  // steps that are over
  };
  Standing standing(std::string_view node) const;
  bool over() const;

 private:
  void take(const store::EventText& text);
  void take_end(engine::Event& event);

  engine::RunId run_;
  std::int64_t sequence_ = 0;
  std::string tip_{};
  std::deque<engine::Event> events_{};  // that the fold points into, without what is large
  engine::FoldedRun folded_{};
  RunHead head_{};
  std::map<std::string, burnin::Verdict, std::less<>> verdicts_{};
  std::vector<CommandAnswer> answers_{};
  std::map<std::string, std::set<std::string>, std::less<>> evidence_{};
};

/// The runs that were asked for last.
class LiveRuns {
 public:
  /// As it stands now. Valid until the next call. Errors: kNotFound; kStorage.
  Result<LiveRun*> of(engine::RunId run, const store::JournalReader& journal);

  static constexpr std::size_t kMost = 8;

 private:
  std::deque<std::unique_ptr<LiveRun>> runs_{};  // the one that was asked for last in front
};

}  // namespace cupel::api
