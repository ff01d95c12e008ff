#pragma once
// What a stage needs before it can measure anything: programs of ours, tools on the node, root.
// Read from the stage's own script (script::needs), so that it cannot be forgotten, or from its job
// where cupel-node does the stage; which package brings a tool is a table. Pure.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/stage.h"

namespace cupel::burnin {

/// Which package brings a tool.
struct ToolPackage {
  std::string_view tool;
  std::string_view debian;  // as apt-get install says it; empty: no package has it
  std::string_view rhel;    // as dnf install says it
  std::string_view source;  // where it comes from, where no distribution has it
};

std::span<const ToolPackage> tool_packages();
/// nullptr for a tool that is not in the table.
const ToolPackage* package_of(std::string_view tool);

enum class Root { no, needed };

struct Requirements {
  std::vector<std::string> programs;  // of ours: "cupel-burn"
  std::vector<std::string> tools;     // of the node, without which it proves nothing
  std::vector<std::string> helpful;   // it goes on without them, and tells less
  Root root = Root::no;
  std::string_view why_root{};
};

Requirements requirements_of(const Stage& stage, const Job& job);

/// A POSIX script that prints "cupel-lacks: TOOL" for each tool that one of the jobs needs and the
/// node has not, "cupel-no-root" where it does not run as root, and "cupel-looked" in the end.
/// Takes a moment, and changes nothing.
std::string look_script(std::span<const Job* const> jobs);

struct Look {
  bool whole = false;  // it came to its end
  bool root = false;
  std::vector<std::string> lacking{};
};
Look read_look(std::string_view text);

/// What a person types for these: "apt-get install fio stress-ng (RHEL: dnf install fio
/// stress-ng)"; for what no distribution has, where it comes from.
std::string how_to_install(std::span<const std::string> tools);

}  // namespace cupel::burnin
