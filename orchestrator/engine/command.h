#pragma once
// What a person asks of a run that works. Durable: it is written to the store, and taken from there
// by the run's controller, which says so in the journal.
#include <optional>
#include <string>

#include "orchestrator/engine/event.h"

namespace cupel::engine {

struct Command {
  enum class Kind {
    cancel,
    pause,  // nothing new begins; what runs goes on
    unpause,
    approve,  // `node` (empty: every node) may go on behind its approval step `step` (empty: any)
    retry,    // `node` again, from its failed step on; from `step`, where an earlier one is named,
              // or where none has failed
    skip,     // `step` of `node` is not done; `text` says why
    release,  // the halt of `step` (empty: of every step)
  };
  std::int64_t id = 0;  // given by the store
  RunId run = 0;
  Kind kind{};
  std::string node{};
  std::string step{};
  std::string text{};  // the reason, as it was reported
  std::string by{};    // who asked: the login's name
  WallTime at{};       // given by the store
};

std::string_view to_string(Command::Kind kind);
std::optional<Command::Kind> command_kind(std::string_view word);

}  // namespace cupel::engine
