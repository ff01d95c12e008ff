#pragma once
// What a name stands for when somebody runs it: a tool of ours, a script on the virtual disk, or
// nothing.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rehearsal/shell/process.h"

namespace cupel::rehearsal {

using Arguments = std::vector<std::string>;  // with the program's name in front

struct Tool {
  std::string_view name;
  Task<int> (*run)(ProcessPtr process, Arguments arguments);
};

/// All there are, sorted by name.
std::span<const Tool> tools();
const Tool* find_tool(std::string_view name);

struct Program {
  const Tool* tool = nullptr;
  InodePtr script{};
  int status = 0;  // 126: may not be run; 127: there is none
};

/// Looks along PATH, on the virtual disk.
Program find_program(const Process& process, const std::string& name);

/// Runs it in this process, as execvp(3) would. `complainer` names itself where there is none:
/// "env".
Task<int> run_program(ProcessPtr process, Arguments arguments, std::string complainer);

/// What the disk holds for a program of ours.
inline constexpr std::string_view kProgramMark =
    "\x7f"
    "ELF cupel";

}  // namespace cupel::rehearsal
