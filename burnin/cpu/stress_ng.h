#pragma once
// What stress-ng says in text, of any version since 0.13: the table of --metrics, failures, and
// what it left undone. Pure; stages decide what it proves.
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "burnin/measurement.h"

namespace cupel::burnin {

struct StressRow {
  double bogo_ops = 0;
  double real_seconds = 0;
};

struct StressReport {
  std::map<std::string, StressRow, std::less<>> rows{};  // by stressor
  std::size_t fail_lines = 0;
  std::string gave_up{};  // the first line that says that a stressor did not do its work
  /// MiB a second (which it calls MB) of one instance, as the stressor `stream` measured them;
  /// before 0.15 both in one.
  std::optional<double> stream_read{}, stream_write{}, stream_both{};
  std::optional<double> instances{};  // of which that rate is the mean
};

/// Lines that do not begin with "stress-ng: " are left aside.
StressReport read_stress_report(std::string_view text);

/// Why nothing is proven by a stressor that was to run so many seconds; empty: it worked all the
/// time.
std::string left_undone(const StressReport& report, std::string_view stressor, double seconds);

/// EXIT STATUS in stress-ng(1): a stressor failed.
inline constexpr int kStressFailed = 2;

}  // namespace cupel::burnin
