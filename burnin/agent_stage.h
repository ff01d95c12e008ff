#pragma once
// The controller's side of a stage that cupel-node does itself (burnin/agent/node/stages/): the job
// that starts it, and a reader of the JSON lines that it prints. What a node printed is hostile: a
// name that the stage does not measure is left out, and a number that is none is not read. The
// format: docs/build/decisions/agent-stages.md.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "burnin/stage.h"

namespace cupel::burnin {

/// What a stage tells cupel-node, and which tools of the node that one runs.
struct AgentOrder {
  std::string_view stage;
  json::object order{};
  std::vector<std::string> tools{};    // without which it proves nothing
  std::vector<std::string> helpful{};  // it goes on without them, and measures less
  std::string folder{};                // where one of them may lie, if PATH has it not
};

/// With the times of its job.
struct AgentWork {
  AgentOrder order{};
  std::chrono::seconds expected{}, limit{};
};

/// Reaches cupel-node on its standard input: every user of a node can read command lines.
Job agent_job(AgentOrder order, std::chrono::seconds expected, std::chrono::seconds limit);
Job agent_job(AgentWork work);

/// The raw output of one tool.
struct ToolOutput {
  std::string name;  // as the stage calls it: "mlnx_qos"
  std::string part;  // clean; empty: the node as a whole
  std::string out;
  std::string errors;
  int status = -1;   // also of one that still ran when the output was cut
  bool cut = false;  // there was more than the node kept
};

/// What became of one setting of the node (agent/node/stages/setting.h); every text is clean.
struct SettingLine {
  std::string did;  // "set", "held": found as it was set, or not; "restored"
  std::string key;  // "gpu.power"
  std::string part;
  std::string before;    // of "set" and "restored"
  std::string expected;  // of "set" and "held"
  std::string is;
  std::string why;  // it is not so
};

/// All that one run of cupel-node printed.
struct AgentOutput {
  std::map<std::string, double, std::less<>> asked{};
  std::vector<Measurement> measured{};
  std::vector<inventory::Unknown> unmeasured{};
  std::vector<ToolOutput> tools{};
  std::map<std::string, std::string, std::less<>> notes{};  // in words, clean
  std::optional<json::value> facts{};                       // the document that node-facts prints
  bool whole = false;                                       // it came to its end
  std::vector<SettingLine> settings{};

  /// What this run was to do; nothing where that was not reported.
  std::optional<double> amount(std::string_view name) const;
  /// The first of that name; nullptr where it was not run.
  const ToolOutput* tool(std::string_view name) const;
  /// The first of that name and part.
  const ToolOutput* tool(std::string_view name, std::string_view part) const;
  /// What all of that name printed on standard output, one after the other: samples.
  std::string text_of(std::string_view name) const;
};

/// Nothing where the output is none of cupel-node's: a run goes on after an upgrade, and its job
/// may be the shell script of the earlier version, whose output the stage reads as before. Errors:
/// kNoMeasurement in the node's words where it gave up, where cupel-node did not begin, and where
/// the end is missing: half an output proves nothing.
Result<std::optional<AgentOutput>> read_agent_output(std::string_view stage, const Output& output,
                                                     std::span<const std::string_view> measures);

/// The same where half an output counts: of a tool that found a fault the fault, however it ended.
/// Errors: kNoMeasurement in the node's words where it gave up, and where cupel-node did not begin.
Result<std::optional<AgentOutput>> read_agent_so_far(std::string_view stage, const Output& output,
                                                     std::span<const std::string_view> measures);

/// Which companion printed a line ("cpu": it ends with "of"), and the line as that one wrote it;
/// nothing of the stage's own. Source: agent/node/stages/together.h.
struct CompanionLine {
  std::string_view name;
  std::string line;
};
std::optional<CompanionLine> companion_line(std::string_view line);
/// Why cupel-node gave up, whatever the stage, clean; nothing where it did not.
std::optional<std::string> gave_up_in(const Output& output);

/// The phase that a line of a running stage reports: cupel-node's, or "cupel-phase: idle 3" of the
/// script of an earlier version; clean.
std::optional<std::string> phase_in(std::string_view line);

/// As script::complaint(), of a tool.
std::string complaint_of(const ToolOutput& tool);

/// What a tool printed, as the parsers of tools take it: standard error goes before the rest.
Output printed_by(const ToolOutput& tool);

}  // namespace cupel::burnin
