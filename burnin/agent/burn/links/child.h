#pragma once
// Another cupel-burn, for one of the ways that NCCL can be made to take: its lines are read as they
// come. It ends with its parent, however that ends.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/burn/failure.h"
#include "burnin/agent/burn/report.h"

namespace cupel::burn {

/// Runs a program until it ends; gives each line of its standard output, with its line feed, to
/// `takes`. While `is_asked_to_end` says so it is sent SIGTERM, once. Lines are cut at 64 KiB. The
/// exit status; 128 and the signal's number where one ended it. Errors: refused.
Outcome<int> run_child(const std::vector<std::string>& words,
                       const std::function<void(std::string_view line)>& takes,
                       const std::function<bool()>& is_asked_to_end);

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

 private:
  Report& report_;
  std::function<void(std::string_view)> doing_;
  bool has_ended_ = false;
  bool is_complete_ = false;
};

/// What an end with `status` means for the parent. `has_ended`: the child printed its end line. A
/// child that SIGTERM ended before it listened for it has only stopped, where the parent was asked
/// to stop too. A hang (3) is the caller's. Errors: nccl, where it ended as no cupel-burn does.
Outcome<> judge_end(std::string_view what, int status, bool has_ended, bool is_asked_to_end);

/// The text of a member of one of our own lines, as it stands there; empty where there is none.
std::string_view member_of(std::string_view line, std::string_view name);

}  // namespace cupel::burn
