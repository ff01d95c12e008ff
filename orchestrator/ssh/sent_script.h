#pragma once
// How a script comes to a node: over standard input, behind a command line that is the same for all
// of them. Other users of a node can read every command line there (/proc/PID/cmdline), so nothing
// that is worth knowing may stand in one. Pure text.
#include <string>
#include <string_view>

namespace cupel::ssh {

struct SentScript {
  std::string command;  // for a POSIX login shell
  std::string input;    // the script on one line, and `payload`
};

/// Runs `script` by sh, as root where `sudo` says so, with `payload` as its standard input. The
/// shell takes the script by its own `read`, which takes no byte beyond the line's end (POSIX XCU
/// read): what follows is left for the script.
SentScript sent_script(std::string_view script, std::string_view payload, bool sudo);

}  // namespace cupel::ssh
