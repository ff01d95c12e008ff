#include "burnin/cpu/cpu_memory.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/text.h"
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

constexpr double kMostPercent = 95;  // the rest is for the kernel, sshd and the stage itself

/// As stress-ng takes it: "80%", or bytes.
Result<std::string> memory_of(const Parameters& parameters) {
  const auto written = text_parameter(kParameters, parameters, "memory");
  if (!written.ends_with('%')) {
    TRY(const auto bytes, size_parameter(kParameters, parameters, "memory"));
    return fmt::format("{:.0f}", bytes);
  }
  const auto percent = number<int>(written.substr(0, written.size() - 1));
  if (percent && *percent >= 1 && *percent <= kMostPercent) return fmt::format("{}%", *percent);
  return Error{Code::kInvalid, fmt::format("memory must be 1% to {:.0f}%, or a size, not '{}'",
                                           kMostPercent, shortened(printable(written), 80))};
}

/// The kernel's count of processes it killed for memory goes before and after: stress-ng starts a
/// killed worker again and calls the run a success.
std::string script_of(seconds duration, const std::string& memory) {
  return script::head() + script::needs("stress-ng") +
         script::asks("seconds", static_cast<double>(duration.count())) +
         fmt::format(
             "grep '^oom_kill ' /proc/vmstat\n"
             "stress-ng --cpu 0 --cpu-method all --vm 0 --vm-bytes {} --vm-method all --verify "
             "--metrics --timeout {}s 2>&1\n"
             "status=$?\n"
             "grep '^oom_kill ' /proc/vmstat\n"
             "exit $status\n",
             memory, duration.count());
}

Result<Job> prepare(const Profile&, const Parameters& parameters) {
  TRY(const auto duration, duration_parameter(kParameters, parameters, "duration"));
  TRY(const auto memory, memory_of(parameters));
  // Giving terabytes back to the kernel takes its time.
  return Job{script_of(duration, memory), duration + seconds{5},
             duration + duration / 4 + seconds{300}};
}

struct Report {
  StressReport stress{};
  std::vector<double> oom_kills{};
};

Report read_report(std::string_view text) {
  Report report{.stress = read_stress_report(text)};
  for (const auto line : lines(text)) {
    if (!line.starts_with("oom_kill ")) continue;
    if (const auto count = script::finite(line.substr(9))) report.oom_kills.push_back(*count);
  }
  return report;
}

Error nothing_proven(std::string why) { return {Code::kNoMeasurement, std::move(why)}; }

/// Both stressors worked, and for as long as they were told.
Result<void> check_worked(const Report& report, const Output& output) {
  const auto wanted = script::asked(output, "seconds");
  if (!wanted) return nothing_proven("stress-ng was not started: " + script::complaint(output));
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
  for (const auto stressor : kStressors) {
    auto why = left_undone(report.stress, stressor, *wanted);
    if (!why.empty()) return nothing_proven(std::move(why));
  }
  return ok();
}

Result<Findings> parse(const Profile&, const Output& output) {
  TRY(script::check_gave_up(output));
  const auto report = read_report(output.text);
  const bool failed = report.stress.fail_lines > 0 || output.exit_status == kStressFailed;
  // A wrong result is a finding whatever else went wrong.
  if (!failed) {
    TRY(check_worked(report, output));
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
           "power and are idle"}};
}

}  // namespace cupel::burnin
