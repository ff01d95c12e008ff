#pragma once
// A tool that works for hours: what it prints is reported while it runs, in pieces. A job that is
// killed at its limit, because a tool hangs, has the evidence of what was done until then.
#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {

class Reported {
 public:
  Reported(Node& node, std::string name, Command command);
  Reported(const Reported&) = delete;
  Reported& operator=(const Reported&) = delete;
  ~Reported() = default;

  /// As Programs::start(). This must live as long as it runs.
  int start() { return node_.programs.start(command_); }
  /// The whole lines that it has printed since, in one line of ours. Half of what the command keeps
  /// goes so; the other half is for what it prints last, which is shortened until the end.
  void report();
  /// What is left, and how it ended: the evidence of that name.
  void end(Ran ran);

 private:
  void take(std::string& out);
  void keep_room();

  Node& node_;
  std::string name_;
  Command command_;
  std::function<void(std::string& out)> shorten_;
  std::string waiting_{};
  std::size_t reported_ = 0;
  bool cut_ = false;
};

/// Between two reports: a 480th of the limit, from 5 to 60 seconds.
std::chrono::milliseconds report_pace(std::chrono::seconds limit);

/// Runs it to its end, and reports it so; not one that was not run, since the kernel gives it other
/// CPUs.
Work<Ran> run_reported(Node& node, std::string name, Command command);

}  // namespace cupel::agent
