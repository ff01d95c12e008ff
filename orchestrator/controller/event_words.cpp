#include "orchestrator/controller/event_words.h"

#include <fmt/format.h>

#include "base/log.h"
#include "orchestrator/controller/own_runs.h"
#include "orchestrator/engine/event_data.h"

namespace cupel::controller {
namespace {

using engine::Event;
using engine::EventKind;
using engine::text_in;

std::string words_of_run(const Event& event) {
  const auto by = text_in(event, "by").empty() ? std::string{} : " by " + text_in(event, "by");
  switch (event.kind) {
    case EventKind::run_halted:
      return fmt::format("halted: {}", text_in(event, "why"));
    case EventKind::run_released:
      return "released" + by;
    case EventKind::run_paused:
      return "paused" + by;
    case EventKind::run_unpaused:
      return "goes on after a pause" + by;
    case EventKind::step_approved:
      return "approved" + by;
    case EventKind::run_interrupted:
      return "run stopped";
    case EventKind::run_cancelled:
      return "run cancelled" + by;
    case EventKind::run_ended:
      return "run ended";
    default:
      return {};
  }
}

bool changes_course(const Event& event) {
  switch (event.kind) {
    case EventKind::step_ended:
      return text_in(event, "outcome") != "done";
    case EventKind::step_retried:
    case EventKind::step_overdue:
    case EventKind::run_halted:
    case EventKind::run_interrupted:
    case EventKind::run_cancelled:
      return true;
    default:
      return event.data.contains("refused");
  }
}

}  // namespace

bool names_step(const Event& event) {
  switch (event.kind) {
    case EventKind::step_ended:
    case EventKind::step_retried:
    case EventKind::step_skipped:
    case EventKind::step_overdue:
      return !event.data.contains("refused");
    default:
      return false;
  }
}

std::string words_of(const Event& event) {
  if (event.data.contains("refused"))
    return fmt::format("what {} asked for is refused: {}", text_in(event, "by"),
                       text_in(event, "refused"));
  switch (event.kind) {
    case EventKind::step_ended:
      return fmt::format("{}: {}", text_in(event, "outcome"), text_in(event, "detail"));
    case EventKind::step_retried:
      return fmt::format("tries again: {}", text_in(event, "why"));
    case EventKind::step_skipped:
      return fmt::format("skipped: {}", text_in(event, "why"));
    case EventKind::step_overdue:
      return "is overdue";
    case EventKind::run_started:
      return "run started";
    case EventKind::run_resumed:
      if (text_in(event, "why") == "terminal-lost")
        return "the controller goes on without its terminal";
      return text_in(event, "why") == kServiceRestarted ? "the restarted service resumes the run"
                                                        : "run resumed";
    default:
      return words_of_run(event);
  }
}

void log_event(engine::RunId run, const Event& event) {
  const auto words = words_of(event);
  if (words.empty()) return;
  const auto level = changes_course(event) ? log::Level::warning : log::Level::info;
  log::write(level, {.run = run, .node = event.node, .step = event.step}, to_string(event.kind),
             words);
}

}  // namespace cupel::controller
