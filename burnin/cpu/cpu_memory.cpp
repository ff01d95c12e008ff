#include "burnin/cpu/cpu_memory.h"

#include <fmt/format.h>

#include <cmath>

#include "base/bytes.h"
#include "base/text.h"
#include "burnin/agent_stage.h"
#include "burnin/cpu/stress_ng.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;

constexpr std::array kParameters{
    ParameterRow{"duration", ParameterRow::Kind::duration, "how long it burns", "5m", {}, 1, kWeek},
    ParameterRow{"memory",
                 ParameterRow::Kind::size_or_percent,
                 "how much is written and compared",
                 "80%",
                 {},
                 kMiB,
                 64 * kTiB},
};
constexpr std::array<std::string_view, 2> kMeasures{"stress.failures", "stress.bogo_ops"};
constexpr std::array<std::string_view, 2> kStressors{"cpu", "vm"};
constexpr std::string_view kStage = "cpu-memory", kTool = "stress-ng";
constexpr std::array<std::string_view, 1> kPrograms{"cupel-node"};

constexpr double kMostPercent = 95;  // the rest is for the kernel, sshd and the stage itself

/// Puts it into the order as "percent" or "bytes".
Result<void> ask_memory(const Parameters& parameters, json::object& order) {
  const auto written = text_parameter(kParameters, parameters, "memory");
  if (!written.ends_with('%')) {
    TRY(const auto bytes, size_parameter(kParameters, parameters, "memory"));
    order["bytes"] = std::llround(bytes);
    return ok();
  }
  const auto percent = number<int>(written.substr(0, written.size() - 1));
  if (!percent || *percent < 1 || *percent > kMostPercent)
    return Error{Code::kInvalid, fmt::format("memory must be 1% to {:.0f}%, or a size, not '{}'",
                                             kMostPercent, shortened(printable(written), 80))};
  order["percent"] = *percent;
  return ok();
}

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(const auto duration, duration_parameter(kParameters, parameters, "duration"));
  // Giving terabytes back to the kernel takes its time.
  const auto limit = duration + duration / 4 + seconds{300};
  json::object order{{"seconds", duration.count()}, {"limit", limit.count()}};
  TRY(ask_memory(parameters, order));
  return agent_job({.stage = kStage, .order = std::move(order), .tools = {std::string{kTool}}},
                   duration + seconds{5}, limit);
}

struct Report {
  Output output{};  // of stress-ng
  bool cut = false;
  StressReport stress{};
  std::optional<double> asked{};  // seconds
  std::vector<double> oom_kills{};
};

/// Of the shell script of a job that an earlier version started: all in one.
Report read_script_output(const Output& output) {
  Report report{.output = output, .asked = script::asked(output, "seconds")};
  for (const auto line : lines(output.text)) {
    if (!line.starts_with("oom_kill ")) continue;
    if (const auto count = script::finite(line.substr(9))) report.oom_kills.push_back(*count);
  }
  return report;
}

Report read_agent(const AgentOutput& read) {
  Report report{.asked = read.amount("seconds")};
  if (const auto* tool = read.tool(kTool)) {
    report.output = printed_by(*tool);
    report.cut = tool->cut;
  }
  for (const auto* note : {"oom-kills-before", "oom-kills-after"}) {
    const auto found = read.notes.find(note);
    const auto count = found == read.notes.end() ? std::nullopt : script::finite(found->second);
    if (count) report.oom_kills.push_back(*count);
  }
  return report;
}

Error nothing_proven(std::string why) { return {Code::kNoMeasurement, std::move(why)}; }

/// Both stressors worked, and for as long as they were to.
Result<void> check_worked(const Report& report) {
  const auto& output = report.output;
  if (!report.asked)
    return nothing_proven("stress-ng was not started: " + script::complaint(output));
  if (!report.stress.gave_up.empty()) return nothing_proven("stress-ng: " + report.stress.gave_up);
  if (output.exit_status != 0)
    return nothing_proven(fmt::format("stress-ng ended with exit status {}: {}", output.exit_status,
                                      script::complaint(output)));
  if (report.oom_kills.size() != 2)
    return nothing_proven(
        "the kernel does not tell whether it killed for memory: no oom_kill in "
        "/proc/vmstat");
  if (report.oom_kills[0] != report.oom_kills[1])
    return nothing_proven("the kernel killed for memory during the test: give it less memory");
  if (report.cut) return nothing_proven("stress-ng printed more than cupel-node keeps");
  for (const auto stressor : kStressors) {
    auto why = left_undone(report.stress, stressor, *report.asked);
    if (!why.empty()) return nothing_proven(std::move(why));
  }
  return ok();
}

Result<Findings> parse(const Profile&, const Output& output) {
  TRY(const auto read, read_agent_output(kStage, output, kMeasures));
  auto report = read ? read_agent(*read) : read_script_output(output);
  report.stress = read_stress_report(report.output.text);
  const bool failed = report.stress.fail_lines > 0 || report.output.exit_status == kStressFailed;
  // A wrong result is a finding whatever else went wrong.
  if (!failed) {
    TRY(check_worked(report));
  }
  Findings findings;
  const auto failures = std::max<std::size_t>(report.stress.fail_lines, failed ? 1 : 0);
  findings.measurements.push_back({"stress.failures", "", static_cast<double>(failures), "errors"});
  for (const auto stressor : kStressors) {
    const auto row = report.stress.rows.find(stressor);
    if (row == report.stress.rows.end()) continue;
    findings.measurements.push_back(
        {"stress.bogo_ops", std::string{stressor}, row->second.bogo_ops, "count"});
  }
  return findings;
}

}  // namespace

Stage cpu_memory() {
  return {"cpu-memory",
          "load CPUs and memory, and compare every result (stress-ng --verify)",
          kParameters,
          prepare,
          parse,
          kMeasures,
          {0.25, 1,
           "all cores and the memory are busy; where there are GPUs, they take most of the "
           "power and are idle"},
          kPrograms};
}

}  // namespace cupel::burnin
