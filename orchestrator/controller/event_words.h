#pragma once
// What an event says to people, in one line: for plain lines on a terminal and for the log. Without
// the node and the step, which come in front.
#include <string>

#include "orchestrator/engine/event.h"

namespace cupel::controller {

/// Empty for events that say nothing of their own, such as that a step began.
std::string words_of(const engine::Event& event);

/// Whether node and step belong in front of the words.
bool names_step(const engine::Event& event);

/// Logs it: as a warning where it changes the run's course.
void log_event(engine::RunId run, const engine::Event& event);

}  // namespace cupel::controller
