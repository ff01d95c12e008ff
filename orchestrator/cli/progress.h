#pragma once
// What people and programs see while a run goes on: a live table on a terminal, plain lines
// otherwise, one JSON object a line for programs.
#include <memory>

#include "orchestrator/engine/doors.h"
#include "orchestrator/report/run_table.h"
#include "playbooks/plan.h"

namespace cupel::cli {

/// Ticks once a second where the display needs it; nothing to do for the others.
class Progress : public engine::Observer {
 public:
  virtual void tick() {}
  /// Of the run as a whole: what it waits for. Empty: nothing more.
  virtual void tell(const std::string&) {}
  /// Which nodes' steps may not begin yet, and why.
  virtual void hold(report::NodeWords) {}
  /// A line that stays, of something that is no event of the run.
  virtual void announce(const std::string& line);
  virtual void finish() {}
};

/// A line for each event, with the run's number: for a log that several runs share.
std::unique_ptr<Progress> make_log_lines(engine::RunId run);

/// Chooses by `json` and by whether standard output is a terminal.
std::unique_ptr<Progress> make_progress(const playbooks::Plan& plan, engine::RunId run, bool json);

}  // namespace cupel::cli
