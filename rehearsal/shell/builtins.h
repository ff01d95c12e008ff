#pragma once
// Commands that must be part of the shell because they change it, and those that every shell has
// built in for speed.
#include "rehearsal/shell/shell.h"

namespace cupel::rehearsal {

struct Builtin {
  std::string_view name;
  bool special;  // POSIX XCU 2.14: assignments in front of it stay
  Task<int> (*run)(Shell& shell, const std::vector<std::string>& words);
};

/// nullptr if it is none.
const Builtin* find_builtin(std::string_view name);

/// `[` and `test`: 0, 1, or 2 with what was wrong.
int test_command(const Process& process, const std::vector<std::string>& words,
                 std::string& complaint);
/// What `echo` prints: escapes are interpreted, as dash does.
std::string echo_text(const std::vector<std::string>& words);
/// What `printf` prints. False where a number was none or the format is wrong.
bool printf_text(const std::vector<std::string>& words, std::string& text, std::string& complaint);

}  // namespace cupel::rehearsal
