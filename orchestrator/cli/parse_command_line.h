#pragma once
// Words of a command line, parsed by the rows of a program.
#include "orchestrator/cli/command_rows.h"

namespace cupel::cli {

/// Puts the values of the options into their places, and returns the command that was chosen, which
/// lives in `program`. Its run() was not called. Errors: Exit::passed where help or the version was
/// asked for, and printed; Exit::invalid, with a complaint on standard error, and with `json` as an
/// object on standard output too.
OrExit<const CommandRow*> parse_command_line(const CommandRow& program,
                                             std::vector<std::string> words, bool json);

}  // namespace cupel::cli
