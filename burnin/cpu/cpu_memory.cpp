#include "burnin/cpu/cpu_memory.h"

#include <fmt/format.h>

#include "base/text.h"
#include "burnin/parameters.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

using inventory::Profile;
using std::chrono::seconds;

constexpr std::array kParameters{
    ParameterRow{"duration", ParameterRow::Kind::duration, "how long it burns", "5m"},
    ParameterRow{"memory", ParameterRow::Kind::size_or_percent, "how much is written and compared",
                 "80%"},
};
constexpr std::array<std::string_view, 2> kMeasures{"stress.failures", "stress.bogo_ops"};
constexpr std::array<std::string_view, 2> kStressors{"cpu", "vm"};

constexpr seconds kLongest{168 * 3600};
constexpr double kMiB = 1024.0 * 1024;
constexpr double kTiB = kMiB * kMiB;
constexpr double kMostPercent = 95;  // the rest is for the kernel, sshd and the stage itself

// EXIT STATUS in stress-ng(1).
constexpr int kSomeFailed = 2;

/// A worker may see the end of its time a little early; one that ran for less than this share of
/// it was ended by something else.
constexpr double kEnough = 0.9;

/// As stress-ng takes it: "80%", or bytes.
Result<std::string> memory_of(const Parameters& parameters) {
  const auto written = text_parameter(parameters, "memory", "80%");
  if (!written.ends_with('%')) {
    TRY(const auto bytes, size_parameter(parameters, "memory", "80%", kMiB, 64 * kTiB));
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
  TRY(const auto duration, duration_parameter(parameters, "duration", "5m", seconds{1}, kLongest));
  TRY(const auto memory, memory_of(parameters));
  // Giving terabytes back to the kernel takes its time.
  return Job{script_of(duration, memory), duration + seconds{5},
             duration + duration / 4 + seconds{300}};
}

struct Row {
  double bogo_ops = 0;
  double real_seconds = 0;
};

struct Report {
  std::map<std::string, Row, std::less<>> rows{};
  std::size_t fail_lines = 0;
  std::string gave_up{};  // the first line that says that a stressor did not do its work
  std::vector<double> oom_kills{};
};

/// "stress-ng: metrc: [13290] cpu  3372  2.00 ..." without what is in front of the stressor.
std::string_view message_of(std::string_view line) {
  const auto bracket = line.find("] ");
  return bracket == line.npos ? std::string_view{} : trimmed(line.substr(bracket + 2));
}

bool says_gave_up(std::string_view message) {
  constexpr std::array<std::string_view, 6> kSigns{"skipping",           "not implemented",
                                                   "out of memory",      "no resource(s)",
                                                   "failed to allocate", "cannot allocate memory"};
  const auto text = lower_case(message);
  return std::ranges::any_of(kSigns, [&](auto sign) { return text.find(sign) != text.npos; });
}

/// Columns are found by the header: stressor, bogo ops, real time come first in every version.
void read_row(std::string_view message, bool headed, Report& report) {
  const auto cells = words(message);
  if (!headed || cells.size() < 3) return;
  if (std::ranges::find(kStressors, cells[0]) == kStressors.end()) return;
  const auto ops = script::finite(cells[1]), time = script::finite(cells[2]);
  if (ops && time) report.rows[std::string{cells[0]}] = {*ops, *time};
}

bool is_header(std::string_view message) {
  const auto cells = words(message);
  constexpr std::array<std::string_view, 5> kHeader{"stressor", "bogo", "ops", "real", "time"};
  return cells.size() >= kHeader.size() &&
         std::ranges::equal(kHeader, std::span{cells}.first(kHeader.size()));
}

Report read_report(std::string_view text) {
  Report report;
  bool headed = false;
  for (const auto line : lines(text)) {
    if (line.starts_with("oom_kill ")) {
      if (const auto count = script::finite(line.substr(9))) report.oom_kills.push_back(*count);
      continue;
    }
    if (!line.starts_with("stress-ng: ")) continue;
    const auto message = message_of(line);
    report.fail_lines += line.starts_with("stress-ng: fail:") ? 1 : 0;
    headed = headed || is_header(message);
    read_row(message, headed, report);
    if (report.gave_up.empty() && says_gave_up(message)) report.gave_up = script::clean(message);
  }
  return report;
}

Error nothing_proven(std::string why) { return {Code::kNoMeasurement, std::move(why)}; }

/// Both stressors worked, and for as long as they were told.
Result<void> check_worked(const Report& report, const Output& output) {
  const auto wanted = script::asked(output, "seconds");
  if (!wanted) return nothing_proven("stress-ng was not started: " + script::complaint(output));
  if (!report.gave_up.empty()) return nothing_proven("stress-ng: " + report.gave_up);
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
    const auto row = report.rows.find(stressor);
    if (row == report.rows.end() || row->second.bogo_ops <= 0)
      return nothing_proven(fmt::format("stressor {} did no work", stressor));
    if (row->second.real_seconds < kEnough * *wanted)
      return nothing_proven(fmt::format("stressor {} ran for {} of {} s", stressor,
                                        plain(row->second.real_seconds, 1), plain(*wanted)));
  }
  return ok();
}

Result<Findings> parse(const Profile&, const Output& output) {
  TRY(script::check_gave_up(output));
  const auto report = read_report(output.text);
  const bool failed = report.fail_lines > 0 || output.exit_status == kSomeFailed;
  // A wrong result is a finding whatever else went wrong.
  if (!failed) {
    TRY(check_worked(report, output));
  }
  Findings findings;
  const auto failures = std::max<std::size_t>(report.fail_lines, failed ? 1 : 0);
  findings.measurements.push_back({"stress.failures", "", static_cast<double>(failures), "errors"});
  for (const auto& [stressor, row] : report.rows)
    findings.measurements.push_back({"stress.bogo_ops", stressor, row.bogo_ops, "count"});
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
