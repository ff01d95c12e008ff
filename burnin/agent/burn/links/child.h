#pragma once
// Another cupel-burn, for one of the ways that NCCL can be made to take, or for one GPU: its lines
// are read as they come. It ends with its parent, however that ends.
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/burn/failure.h"
#include "burnin/agent/burn/report.h"

namespace cupel::burn {

struct Child {
  std::vector<std::string> words{};        // the program and its arguments
  std::vector<std::string> environment{};  // "NAME=value", in the place of the parent's NAME
  std::string input{};                     // its standard input, at most 60 KiB
  /// Each line of its standard output, with its line feed. Lines are cut at 64 KiB.
  std::function<void(std::string_view line)> takes{};
  /// While it returns true the child is sent SIGTERM, once.
  std::function<bool()> is_asked_to_end{};
  /// The child has printed its last line: it has 30 seconds to end.
  std::function<bool()> has_ended{};
  /// For how long it may print nothing; zero: for ever.
  std::chrono::duration<double> silence{0};
};

struct ChildEnd {
  int status = 0;           // 128 and the signal's number where one ended it
  bool was_silent = false;  // for too long: it was killed
  bool is_left = false;     // it was killed, and does not end: its status is not known
};

/// Runs a program until it ends. One that is killed and does not end (a driver may hold it for
/// ever) is left alone. Errors: refused.
Outcome<ChildEnd> run_child(const Child& child);

/// The same without limits: the exit status.
Outcome<int> run_child(const std::vector<std::string>& words,
                       const std::function<void(std::string_view line)>& takes,
                       const std::function<bool()>& is_asked_to_end);

/// In the child: all of its standard input. Errors: usage, where it is longer than a child's.
Outcome<std::string> read_input();

/// What a child's lines mean for the parent's report.
class Relay {
 public:
  /// `doing` hears of the child's progress.
  Relay(Report& report, std::function<void(std::string_view)> doing)
      : report_{report}, doing_{std::move(doing)} {}

  /// Passes on what was found; start, progress and end are the parent's own to write.
  void take(std::string_view line);
  bool has_ended() const { return has_ended_; }
  bool is_complete() const { return is_complete_; }
  /// It reported a hang.
  bool has_hung() const { return has_hung_; }

 private:
  Report& report_;
  std::function<void(std::string_view)> doing_;
  std::uint64_t faults_ = 0;  // that its lines count
  bool has_ended_ = false;
  bool is_complete_ = false;
  bool has_hung_ = false;
};

/// What an end with `status` means for the parent. `has_ended`: the child printed its end line. A
/// child that SIGTERM ended before it listened for it has only stopped, where the parent was asked
/// to stop too. A hang (3) is the caller's. Errors: `code`, where it ended as no cupel-burn does.
Outcome<> judge_end(std::string_view what, int status, bool has_ended, bool is_asked_to_end,
                    std::string_view code = "nccl");

/// The text of a member of one of our own lines, as it stands there; empty where there is none.
std::string_view member_of(std::string_view line, std::string_view name);

}  // namespace cupel::burn
