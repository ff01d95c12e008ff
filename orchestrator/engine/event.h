#pragma once
// One fact of a run, in the order in which it was written. A run's state is what its events replay
// to.
#include <boost/json/object.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cupel::engine {

using RunId = std::int64_t;

/// Milliseconds since 1970-01-01 UTC, as the admin node's clock said.
using WallTime = std::chrono::sys_time<std::chrono::milliseconds>;

enum class EventKind {
  run_started,  // data: playbook, nodes
  run_resumed,
  step_began,     // intent, before anything is done. data: attempt
  step_started,   // data: handle, to re-attach to what was started
  step_retried,   // a transient failure. data: outcome, why, after_ms, until (wall, ms), spent_ms
  step_ended,     // data: outcome, detail, and what the step found; handle, left (why what it
                  // started may go on there), ssh_lost (the node answers no more)
  step_skipped,   // data: why, because (condition, untold, partner, person,
                  // failure); by, command
  step_overdue,   // takes longer than expected by far; changes nothing. data: expected_s, after_s
  step_shed,      // ended half done, to begin again; mostly for want of power. data: why
  step_stopped,   // ended half done, since its run was cancelled. data: why; handle, left (why
                  // what it started on the node may go on there)
  step_approved,  // a person let it go on. data: by, command
  node_retried,   // a person wants its failed step, and what comes after, again. data: by, command,
                  // from
  run_paused,     // nothing new begins. data: by, command
  run_unpaused,   // data: by, command
  run_halted,     // so many failures that nothing new begins on this step. data: step, why
  run_released,   // a person has looked at a halt. data: by, command, step
  wave_opened,    // of the canary: so many nodes may work now. data: nodes
  run_interrupted,  // the controller was asked to stop; the run can be resumed
  run_cancelled,
  run_ended,
};

std::string_view to_string(EventKind kind);
std::optional<EventKind> event_kind(std::string_view word);

struct Event {
  EventKind kind{};
  std::string node{};  // empty: of the run as a whole
  std::string step{};
  boost::json::object data{};
  WallTime time{};
  std::int64_t sequence = 0;  // counted from 1 within the run; given by the journal
  std::string hash{};         // SHA-256 over the event before and this one; given by the journal
};

}  // namespace cupel::engine
