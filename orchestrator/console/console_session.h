#pragma once
// A person, or a script, at a console: what is typed goes to the machine, what the machine writes
// goes to the screen, until one of them ends it. Knows file descriptors, not terminals: raw mode is
// cli/terminal.h's.
#include <functional>

#include "bmc/bmc.h"
#include "orchestrator/console/escape.h"

namespace cupel::console {

struct ConsoleSession {
  int in = 0;  // read without blocking the loop; neither is closed
  int out = 1;
  bool interactive = false;  // a person: the end of what is typed is the end
  std::optional<char> escape = '~';
  /// What a script waits for more after its input has ended.
  std::chrono::milliseconds quiet{2000};
  /// Every byte of the machine's, before it is shown; an error is reported once, and ends nothing.
  std::function<Result<void>(std::string_view)> record{};
};

enum class SessionEnd { escape, input_ended, output_gone };

/// Errors: kUnreachable (the console was lost); kCancelled; whatever the console ends with.
Task<Result<SessionEnd>> run_console_session(bmc::Console& console, ConsoleSession how);

}  // namespace cupel::console
