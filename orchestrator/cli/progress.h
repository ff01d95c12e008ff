#pragma once
// What people and programs see while a run goes on: a live table on a terminal, plain lines
// otherwise, one JSON object a line for programs.
#include <memory>

#include "orchestrator/engine/doors.h"
#include "playbooks/plan.h"

namespace cupel::cli {

/// Ticks once a second where the display needs it; nothing to do for the others.
class Progress : public engine::Observer {
 public:
  virtual void tick() {}
  /// Of the run as a whole: what it waits for. Empty: nothing more.
  virtual void tell(const std::string&) {}
  virtual void finish() {}
};

/// Chooses by `json` and by whether standard output is a terminal.
std::unique_ptr<Progress> make_progress(const playbooks::Plan& plan, engine::RunId run, bool json);

}  // namespace cupel::cli
