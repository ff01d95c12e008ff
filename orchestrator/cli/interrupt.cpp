#include "orchestrator/cli/interrupt.h"

#include <cstdio>
#include <cstdlib>

#include "orchestrator/cli/command_rows.h"
#include "orchestrator/cli/say.h"
#include "orchestrator/cli/table_keys.h"

namespace cupel::cli {

void leave_unfinished(std::chrono::seconds after) {
  say(stderr, "cupel: interrupted; what was under way did not end within {} s\n", after.count());
  std::fflush(stdout);
  give_terminal_back();
  std::_Exit(static_cast<int>(Exit::unfinished));
}

}  // namespace cupel::cli
