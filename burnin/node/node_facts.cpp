#include "burnin/node/node_facts.h"

#include <algorithm>
#include <array>
#include <set>

#include "burnin/agent/node/facts/host_parts.h"
#include "burnin/agent_stage.h"
#include "burnin/node/dimms.h"
#include "burnin/node/drive_health.h"
#include "burnin/node/printed_tree.h"
#include "burnin/node/rdma_counters.h"
#include "burnin/node/watch_report.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::PartKind;
using inventory::Profile;

constexpr auto kMeasures = std::to_array<std::string_view>(
    {"nvme.used", "nvme.spare", "nvme.warnings", "nvme.media_errors", "cpu.throttled",
     "memory.total", "edac.uncorrected", "edac.corrected", "cpu.count", "cpu.threads", "dimm.speed",
     "ib.port.rate", "ib.port.active", "ib.port.downed", "ib.port.symbol_errors", "hca.pcie.width",
     "nvme.pcie.width", "nic.rate", "nic.slow", "nvme.health_read", "dimm.speed.below_fastest",
     "ib.port.receive_errors", "ib.port.recovered", "rdma.*",
     // Of a later reading: burnin/gains.h.
     "ib.port.downed.new", "ib.port.receive_errors.new", "ib.port.recovered.new", "rdma.*.new"});

constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::string_view kStage = "node-facts", kSource = "cupel-node stage node-facts";

Result<Job> prepare(const Profile&, const Parameters&) {
  return agent_job({.stage = kStage, .helpful = {"smartctl", "dmidecode"}}, std::chrono::seconds{2},
                   std::chrono::seconds{120});
}

/// "rdma.*" stands for all that begin so.
bool is_measure(std::string_view name) {
  return std::ranges::any_of(kMeasures, [&](std::string_view each) {
    return each.ends_with('*') ? name.starts_with(each.substr(0, each.size() - 1)) : each == name;
  });
}

/// What cupel-node looks for besides, for its subcommand `facts`.
bool is_of_facts_alone(const inventory::Unknown& unknown) {
  constexpr auto kFacts = std::to_array<std::string_view>(
      {"board_serial", "chassis_serial", "NUMA nodes", "kernel command line"});
  return std::ranges::find(kFacts, unknown.fact) != kFacts.end();
}

bool says_unknown(const Findings& findings, std::string_view fact) {
  return std::ranges::find(findings.unknown, fact, &inventory::Unknown::fact) !=
         findings.unknown.end();
}

bool has(const Findings& findings, PartKind kind) {
  return std::ranges::find(findings.parts, kind, &inventory::Part::kind) != findings.parts.end();
}

void keep_measures(Findings& findings) {
  std::erase_if(findings.measurements,
                [](const Measurement& each) { return !is_measure(each.name); });
}

/// Of the document, what this stage reports.
Findings findings_of(const Profile& profile, const json::value& facts) {
  auto findings = findings_of_facts(profile, facts);
  keep_measures(findings);
  // Another tool reports the health of the drives.
  std::erase_if(findings.measurements,
                [](const Measurement& each) { return each.name == "nvme.health_read"; });
  std::erase_if(findings.unknown, is_of_facts_alone);
  std::erase_if(findings.facts, [](const auto& each) { return each.first != "node.hostname"; });
  // A record finds the output behind a part by its source: `facts` reads the same parts.
  for (auto& part : findings.parts) part.source = kSource;
  for (auto& each : findings.partial) each.source = kSource;
  if (!has(findings, PartKind::system) && !says_unknown(findings, "system"))
    findings.unknown.push_back({"system", "/sys/class/dmi/id", "absent"});
  return findings;
}

/// A drive whose health nobody could read, for want of smartctl or of an answer, has proven
/// nothing.
void note_unread_drives(Findings& findings) {
  std::set<std::string> read;
  for (const auto& each : findings.measurements)
    if (each.name == "nvme.used") read.insert(each.part);
  for (const auto& part : findings.parts)
    if (part.kind == PartKind::nvme)
      findings.measurements.push_back(
          {"nvme.health_read", part.name, read.contains(part.name) ? 1.0 : 0.0, ""});
}

/// A tool that cannot read the table says why last.
std::string dimms_by(const ToolOutput& dmidecode) {
  return dmidecode.out + "\n" + dmidecode.errors +
         (dmidecode.status != 0 ? "\ncupel-dimms: not readable\n" : "\n");
}

void add_tool(const ToolOutput& tool, Findings& findings) {
  if (tool.name == "dmidecode") add_dimms(dimms_by(tool), findings);
  if (tool.name == "smartctl") add_drive_health(tool.part, tool.out, findings);
  if (tool.name == "ethtool") add_pauses(tool.part, tool.out, findings);
  if (tool.name == "date" && tool.status == 0)
    findings.facts["node.epoch"] = script::clean(tool.out);
}

Result<Findings> read_agent(const Profile& profile, const AgentOutput& read) {
  if (!read.facts) return Error{Code::kNoMeasurement, "cupel-node reported no facts"};
  auto findings = findings_of(profile, *read.facts);
  for (const auto& tool : read.tools) add_tool(tool, findings);
  if (read.tool("dmidecode") != nullptr)
    compare_dimm_speeds(findings);
  else if (find(*read.facts, "dimms") == nullptr)
    findings.unknown.push_back(
        {"DIMMs", "/sys/firmware/dmi/tables/DMI", "not readable, and dmidecode is not installed"});
  if (read.tool("smartctl") == nullptr)
    findings.unknown.push_back({"health of the drives", "smartctl -j -A",
                                "smartctl is not installed, or there is no NVMe drive"});
  keep_measures(findings);
  note_unread_drives(findings);
  return findings;
}

/// Of a job that an earlier version started: a shell script, which printed the files with their
/// paths.
Result<Findings> read_script_output(const Profile& profile, const Output& output) {
  const PrintedTree tree{output.text};
  if (tree.empty())
    return Error{Code::kNoMeasurement,
                 "the node reported nothing of /proc and /sys: " + script::complaint(output)};
  // Half of the error counters would add up to too little.
  if (!script::after_mark(output, "cupel-all-told"))
    return Error{Code::kMalformed, "the node's answer is cut short"};
  // The node's own program would have read its files the same way.
  TRY(const auto facts, parse_json(agent::host_parts(tree).object_text()));
  auto findings = findings_of(profile, facts);
  add_dimms(output.text, findings);
  compare_dimm_speeds(findings);
  add_drive_health(output.text, findings);
  add_pauses(output.text, findings);
  note_unread_drives(findings);
  if (const auto epoch = script::after_mark(output, "cupel-epoch: "))
    findings.facts["node.epoch"] = script::clean(*epoch);
  return findings;
}

Result<Findings> parse(const Profile& profile, const Output& output) {
  TRY(const auto read, read_agent_output(kStage, output, kMeasures));
  return read ? read_agent(profile, *read) : read_script_output(profile, output);
}

}  // namespace

Stage node_facts() {
  Stage row{"node-facts",
            "read what the node is made of from its kernel (/proc, /sys, dmidecode)",
            {},
            prepare,
            parse,
            kMeasures,
            {0, 0, "reads files for a few seconds"},
            kPrograms};
  row.lists = Lists::parts;
  return row;
}

}  // namespace cupel::burnin
