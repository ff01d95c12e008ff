#pragma once
// One short question to a node, in POSIX shell, and its bounded answer.
#include <string>

#include "orchestrator/ssh/ssh.h"

namespace cupel::ssh {

struct ScriptResult {
  int status = 0;
  std::string out;  // the first 16 KiB of each
  std::string err;
};

/// Keeps the beginning of both streams.
Sink into(ScriptResult& heard);

/// Runs `script` by sh, as root where `sudo` says so, with `input` as its standard input; no
/// command line on the node shows either. Errors: as Session::run(); a script that fails is none.
Task<Result<ScriptResult>> run_script(Session& session, std::string script, std::string input,
                                      bool sudo, Deadline deadline);

}  // namespace cupel::ssh
