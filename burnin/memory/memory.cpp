#include "burnin/memory/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/cpu/spare_cpus.h"
#include "burnin/cpu/stress_ng.h"
#include "burnin/node/counters.h"
#include "burnin/node/sysfs.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;

constexpr std::string_view kStage = "memory";
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};
constexpr std::array kParameters{
    ParameterRow{"duration",
                 ParameterRow::Kind::duration,
                 "how long it is written and compared",
                 "10m",
                 {},
                 1,
                 kWeek},
    ParameterRow{"memory", ParameterRow::Kind::text,
                 "how much of each NUMA node is written and compared, in per cent", "80%"},
    ParameterRow{"stream",
                 ParameterRow::Kind::duration,
                 "how long its bandwidth is measured",
                 "30s",
                 {},
                 5,
                 kHour},
    kSpareParameter,
};
constexpr std::array<std::string_view, 5> kMeasures{"memory.failures", "memory.tested",
                                                    "memory.bandwidth", "memory.uncorrected",
                                                    "memory.corrected"};

constexpr long kMostSamples = 400, kFewSamples = 100;
constexpr std::size_t kMostNodes = 256;
constexpr int kMostPercent = 95;  // the rest is for the kernel, sshd and the stage itself

/// Of what was asked for, this much must have been in memory at once.
constexpr double kEnough = 0.9;

Result<int> percent_of(const Parameters& parameters) {
  const auto written = text_parameter(kParameters, parameters, "memory");
  const auto percent =
      written.ends_with('%') ? number<int>(written.substr(0, written.size() - 1)) : std::nullopt;
  if (percent && *percent >= 1 && *percent <= kMostPercent) return *percent;
  return Error{Code::kInvalid, fmt::format("memory must be 1% to {}%, not '{}'", kMostPercent,
                                           shortened(printable(written), 80))};
}

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(auto work, memory_work(parameters));
  return agent_job(std::move(work));
}

Error nothing_proven(std::string why) { return {Code::kNoMeasurement, std::move(why)}; }

/// KiB of each NUMA node at each sample: "Node 0 AnonPages:  735684 kB".
std::map<std::string, double> resident(std::string_view text, bool highest) {
  std::map<std::string, double> kib;
  for (const auto line : lines(text)) {
    const auto colon = line.find(':');
    if (!line.starts_with("/sys/devices/system/node/") || colon == line.npos) continue;
    const auto cells = words(line.substr(colon + 1));
    if (cells.size() != 5 || cells[2] != "AnonPages:" || cells[4] != "kB") continue;
    const auto value = script::finite(cells[3]);
    if (!value || *value < 0 || kib.size() > 1024) continue;
    const auto [found, fresh] = kib.try_emplace(script::clean(cells[1]), *value);
    if (!fresh && highest) found->second = std::max(found->second, *value);
  }
  return kib;
}

struct NumaNode {
  std::string name{};  // "1"
  double asked_kib = 0;
  std::optional<StressReport> vm{}, stream{};
  int vm_status = 0, stream_status = 0;
  bool failed() const { return vm && (vm->fail_lines > 0 || vm_status == kStressFailed); }
};

struct Report {
  std::vector<NumaNode> nodes{};
  std::map<std::string, double> before{}, most{};
};

NumaNode* node_named(Report& report, std::string_view name) {
  const auto found = std::ranges::find(report.nodes, name, &NumaNode::name);
  return found == report.nodes.end() ? nullptr : &*found;
}

/// The first of each counts.
void add_stress(std::string_view what, NumaNode& node, StressReport report, int status) {
  auto& into = what == "vm" ? node.vm : node.stream;
  if (into) return;
  into = std::move(report);
  (what == "vm" ? node.vm_status : node.stream_status) = status;
}

/// In the order in which they come: what was asked of a NUMA node stands before what was done.
Report report_of(const AgentOutput& output) {
  Report report;
  std::string samples;
  for (const auto& tool : output.tools) {
    // What stress-ng printed first tells of wrong bits, however much more there was.
    if (tool.cut && (tool.name == "resident" || tool.name == "asked")) continue;
    if (tool.name == "resident" && tool.part == "before")
      report.before = resident(tool.out, false);
    else if (tool.name == "resident")
      samples += tool.out;
    if (tool.name == "asked" && report.nodes.size() < kMostNodes)
      report.nodes.push_back(
          {.name = tool.part, .asked_kib = script::finite(tool.out).value_or(0)});
    auto* node = node_named(report, tool.part);
    if (node != nullptr && (tool.name == "vm" || tool.name == "stream"))
      add_stress(tool.name, *node, read_stress_report(printed_by(tool).text), tool.status);
  }
  report.most = resident(samples, true);
  return report;
}

/// Of an earlier version's script: "cupel-status: 0" in front of what stress-ng said.
int status_of(std::string_view text) {
  const auto status = script::after_mark_in(text, "cupel-status: ");
  return status ? number<int>(*status).value_or(-1) : -1;
}

Report read_report(std::string_view text) {
  Report report;
  for (const auto& section : script::sections(text)) {
    if (!section.whole) continue;
    const auto space = section.name.find(' ');
    const auto what = section.name.substr(0, space);
    const auto which = space == std::string::npos ? std::string{} : section.name.substr(space + 1);
    if (section.name == "resident before") report.before = resident(section.text, false);
    if (section.name == "resident") report.most = resident(section.text, true);
    if (what == "asked")
      report.nodes.push_back(
          {.name = which, .asked_kib = script::finite(section.text).value_or(0)});
    auto* node = node_named(report, which);
    if (node == nullptr) continue;
    if (what == "vm" || what == "stream")
      add_stress(what, *node, read_stress_report(section.text), status_of(section.text));
  }
  return report;
}

/// What of its memory was in use by the test; nothing where that was not reported.
std::optional<double> tested_kib(const Report& report, const NumaNode& node) {
  const auto before = report.before.find(node.name), most = report.most.find(node.name);
  if (before == report.before.end() || most == report.most.end()) return std::nullopt;
  return std::max(most->second - before->second, 0.0);
}

/// Empty: all that was asked for was in memory, written and compared to the end.
std::string why_unproven(const Report& report, const NumaNode& node, double expected) {
  if (!node.vm) return "stress-ng did not come to its end";
  auto why = left_undone(*node.vm, "vm", expected);
  if (!why.empty()) return why;
  if (node.vm_status != 0) return fmt::format("stress-ng ended with status {}", node.vm_status);
  const auto tested = tested_kib(report, node);
  if (!tested || node.asked_kib <= 0) return "the kernel does not tell how much of it was in use";
  if (*tested < kEnough * node.asked_kib)
    return fmt::format("{} of {} were in use at once", size_text(*tested * kKiB),
                       size_text(node.asked_kib * kKiB));
  return {};
}

Result<void> check_worked(const Report& report, const CountersOf& counters, double expected) {
  if (report.nodes.empty()) return nothing_proven("the kernel tells of no NUMA node");
  for (const auto& node : report.nodes) {
    const auto why = why_unproven(report, node, expected);
    if (!why.empty()) return nothing_proven(fmt::format("numa{}: {}", node.name, why));
  }
  if (!counters.whole()) return nothing_proven("the node's answer is cut short");
  const auto killed = counters.oom_kills();
  if (!killed)
    return nothing_proven(
        "the kernel does not tell whether it killed for memory: no oom_kill in /proc/vmstat");
  if (*killed > 0)
    return nothing_proven("the kernel killed for memory during the test: give it less memory");
  return ok();
}

/// GB/s (1e9) of all its instances together; nothing where they did not all work to the end.
std::optional<double> bandwidth_of(const NumaNode& node) {
  if (!node.stream || node.stream_status != 0 || !node.stream->gave_up.empty()) return std::nullopt;
  const auto& reported = *node.stream;
  const auto row = reported.rows.find("stream");
  if (row == reported.rows.end() || row->second.bogo_ops <= 0) return std::nullopt;
  constexpr double kGiga = 1e9;
  auto rate = reported.stream_both;
  if (reported.stream_read && reported.stream_write)
    rate = *reported.stream_read + *reported.stream_write;
  if (!reported.instances || !rate) return std::nullopt;
  return *rate * *reported.instances * kMiB / kGiga;
}

void add_bandwidth(const NumaNode& node, const std::string& part, Findings& findings) {
  if (const auto speed = bandwidth_of(node))
    findings.measurements.push_back({"memory.bandwidth", part, *speed, "GB/s"});
  else
    findings.unknown.push_back({"memory.bandwidth of " + part, "stress-ng --stream",
                                "it reported no rate: the time was too short, or it did not work"});
}

Result<Findings> parse(const Profile&, const Output& output) {
  TRY(const auto agent, read_agent_output(kStage, output, kMeasures));
  const auto expected = agent ? agent->amount("seconds") : script::asked(output, "seconds");
  if (!expected) return nothing_proven("stress-ng was not started: " + script::complaint(output));
  const auto report = agent ? report_of(*agent) : read_report(output.text);
  const auto counters = agent ? CountersOf{*agent} : CountersOf{output.text};
  // A wrong bit is a finding whatever else went wrong.
  if (std::ranges::none_of(report.nodes, &NumaNode::failed)) {
    TRY(check_worked(report, counters, *expected));
  }
  Findings findings;
  for (const auto& node : report.nodes) {
    const auto part = "numa" + node.name;
    if (node.vm) {
      const auto lines = std::max<std::size_t>(node.vm->fail_lines, node.failed() ? 1 : 0);
      if (node.failed() || why_unproven(report, node, *expected).empty())
        findings.measurements.push_back(
            {"memory.failures", part, static_cast<double>(lines), "errors"});
    }
    if (const auto tested = tested_kib(report, node))
      findings.measurements.push_back({"memory.tested", part, *tested * kKiB / kGiB, "GiB"});
    add_bandwidth(node, part, findings);
  }
  if (counters.whole()) counters.add_memory_errors(findings);
  std::string binding{script::after_mark(output, "cupel-binding: ").value_or("")};
  if (agent && agent->notes.contains("binding")) binding = agent->notes.at("binding");
  if (!binding.empty()) findings.facts["memory.binding"] = script::clean(binding);
  return findings;
}

}  // namespace

Result<AgentWork> memory_work(const Parameters& parameters) {
  TRY(const auto duration, duration_parameter(kParameters, parameters, "duration"));
  TRY(const auto stream, duration_parameter(kParameters, parameters, "stream"));
  TRY(const auto percent, percent_of(parameters));
  TRY(const auto spare, spare_parameter(kParameters, parameters));
  const auto samples = spare > 0 ? kFewSamples : kMostSamples;
  const auto interval =
      std::max<long>(duration.count() < 60 ? 1 : 15, duration.count() / samples + 1);
  const auto work = duration + stream;
  // Giving terabytes to a program and back to the kernel takes its time.
  const auto limit = work + work / 4 + seconds{600};
  return AgentWork{.order = {.stage = kStage,
                             .order = {{"seconds", duration.count()},
                                       {"stream", stream.count()},
                                       {"percent", percent},
                                       {"interval", interval},
                                       {"samples", samples},
                                       {"spare", spare},
                                       {"limit", limit.count()}},
                             .tools = {"stress-ng"},
                             .helpful = {"numactl"}},
                   .expected = work + seconds{15},
                   .limit = limit};
}

Stage memory() {
  return {"memory",
          "most of the memory written and compared, and its bandwidth, NUMA node by NUMA node",
          kParameters,
          prepare,
          parse,
          kMeasures,
          {0.2, 0.8, "all DIMMs and cores are busy; GPUs idle"},
          kPrograms};
}

}  // namespace cupel::burnin
