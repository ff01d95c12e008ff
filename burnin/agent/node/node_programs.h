#pragma once
// A stage's tools and clock on a real node: processes of this one, and the kernel's own time. Each
// wait blocks, so that a stage runs through without being suspended.
#include <sys/types.h>

#include <map>
#include <memory>
#include <set>

#include "burnin/agent/node/stages/clock.h"
#include "burnin/agent/node/stages/programs.h"

namespace cupel::agent {

/// Adopts whatever its children leave behind (PR_SET_CHILD_SUBREAPER), and ends it with them: no
/// other child of this process may live meanwhile. Each command carries a mark in its environment,
/// by which what it left behind is known while others run. What hides from that too (a new
/// session, and an environment of its own) ends with the last of those that run.
class NodePrograms final : public Programs {
 public:
  /// English, and the folders where our own programs and the administrators' tools lie. As many
  /// open files as the system lets us have: each command takes three.
  NodePrograms();
  /// Kills what still runs.
  ~NodePrograms() override;

  std::string folder_of(const std::string& name) const override;
  int start(const Command& command) override;

 private:
  class Running;  // one command and its streams

  bool begin(const Command& command, Wait<Ran>& wait) override;
  bool begin_first_end(std::chrono::milliseconds span, Wait<std::optional<Ended>>& wait) override;
  bool begin_stop(int number, Wait<Ran>& wait) override;
  Ran take(int number);
  /// First processes of all others that run.
  std::set<pid_t> others_than(int number) const;
  /// Kills what lives of it. `status`: where it did not end by itself.
  void finish(int number, std::optional<int> status);
  /// That one or, for 0, any; 0 where none has ended.
  int first_ended(int number) const;
  /// The next limit.
  std::optional<std::chrono::steady_clock::time_point> end_at_limits();
  /// One round: waits until one prints, reads or ends, or until that moment.
  void serve(std::chrono::steady_clock::time_point until);
  /// Serves all of them, until that one or, for 0, any has ended, or until that moment: 0.
  int attend(int number, std::chrono::steady_clock::time_point until);

  std::map<int, std::unique_ptr<Running>> running_;  // and those that nobody has taken yet
  int last_ = 0;
};

class NodeClock final : public StageClock {
 public:
  std::chrono::milliseconds now() const override;

 private:
  bool begin(std::chrono::milliseconds span, Wait<Passed>& wait) override;
};

}  // namespace cupel::agent
