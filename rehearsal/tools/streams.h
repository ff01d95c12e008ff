#pragma once
// What nearly every text tool does first: open what it was given, or standard input.
#include "rehearsal/tools/sets.h"

namespace cupel::rehearsal {

struct Source {
  std::string name;
  std::string bytes;
};

/// The operands' contents, standard input for "-" and for none. What cannot be read is complained
/// about as "tool: name: No such file or directory"; `good` says whether all could be.
struct Sources {
  std::vector<Source> all{};
  bool good = true;
};
Task<Sources> read_sources(ProcessPtr process, std::string tool, Arguments operands,
                           bool quiet = false);

/// "tool: what" on standard error; returns `status`.
Task<int> print_error(ProcessPtr process, std::string tool, std::string what, int status = 1);

std::string_view error_text(int error);

/// A file with that content, in place of what was there. False where it cannot be.
bool save_text(Process& process, const std::string& path, std::string_view text);

}  // namespace cupel::rehearsal
