#pragma once
// What a stage prints: JSON lines, each whole by itself. burnin/agent_stage.h reads them; the
// format is docs/build/decisions/agent-stages.md.
#include <string>
#include <string_view>

#include "burnin/agent/common/json_line.h"
#include "burnin/agent/node/stages/programs.h"

namespace cupel::agent {

class StageLines {
 public:
  StageLines() = default;
  StageLines(const StageLines&) = delete;
  StageLines& operator=(const StageLines&) = delete;
  virtual ~StageLines() = default;

  /// An amount that this run was to do, for the reader to hold the tools' output against.
  void asked(std::string_view name, double value);
  /// A number that the stage read itself. The measure's table has its unit.
  void measured(std::string_view name, std::string_view part, double value);
  /// What the stage looked for and did not find, and why.
  void unmeasured(std::string_view name, std::string_view part, std::string_view why);
  /// What the stage did or found, in words: "NUMA node 1, CPUs 28-55".
  void note(std::string_view name, std::string_view text);
  /// Which part of its work it does now, for whoever reads meanwhile; `seconds`: for how long.
  void phase(std::string_view name, double seconds);
  /// What a tool that still runs has printed since the last piece of it, for the evidence of that
  /// name.
  void piece(std::string_view name, std::string_view out);
  /// A tool's raw output, for the controller to parse. `name`: what the reader looks for.
  void evidence(std::string_view name, std::string_view part, const Command& command,
                const Ran& ran);

  virtual void write(const JsonLine& line) = 0;
};

}  // namespace cupel::agent
