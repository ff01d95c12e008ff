#pragma once
// A command line of cupel, from its words to its exit code.

namespace cupel::cli {

/// Parses the words and runs the command that they name. What is set for a whole process (its
/// limits, its signals) is main()'s. Returns the exit code.
int run_command_line(int argc, char** argv);

}  // namespace cupel::cli
