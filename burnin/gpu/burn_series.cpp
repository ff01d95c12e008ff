#include "burnin/gpu/burn_series.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "burnin/gpu/burn_rows.h"
#include "burnin/measures/measure.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

/// A column of the script's query, and what it is.
struct Column {
  std::size_t place;
  std::string_view name, unit;
};
constexpr std::array kColumns{
    Column{1, "gpu.temperature", "C"},
    Column{2, "gpu.temperature.memory", "C"},
    Column{4, "gpu.power", "W"},
    Column{6, "gpu.clock.sm", "MHz"},
};
constexpr std::size_t kReasons = 3, kFewestColumns = 5;
constexpr double kLongestBurn = 7 * 86'400.0;  // seconds

void add_row(const std::vector<std::string>& row, const std::string& gpu, double seconds,
             SeriesRecorder& into) {
  for (const auto& column : kColumns) {
    if (column.place >= row.size()) continue;
    const auto value = script::finite(row[column.place]);
    if (value && is_plausible(*value, column.unit))
      into.add({gpu, std::string{column.name}, std::string{column.unit}}, seconds, *value);
  }
}

}  // namespace

void burn_series(const inventory::Profile& profile, const Output& output, SeriesRecorder& into) {
  const auto read = read_burn_output(output);
  if (!read || !read->seconds || *read->seconds < 1 || *read->seconds > kLongestBurn) return;
  const auto& burn = *read;
  const auto period =
      sampling_period(std::chrono::seconds{static_cast<std::int64_t>(*burn.seconds)});
  const auto names = names_of(profile, burn, read_burn(burn.text_of("run")));
  std::set<std::string> seen, held;
  double seconds = 0;
  for (const auto& row : rows_of(burn, "samples", kFewestColumns)) {
    const auto gpu = names.name_at(row[0]);
    if (!seen.insert(gpu).second) {  // the next round
      seconds += static_cast<double>(period.count());
      seen = {gpu};
    }
    add_row(row, gpu, seconds, into);
    const bool is_held = (bits_of(row[kReasons]).value_or(0) & kHeldBack) != 0;
    if (is_held && held.insert(gpu).second)
      into.fault(seconds, fmt::format("{}: its clock is held back", gpu));
    if (!is_held) held.erase(gpu);
  }
}

}  // namespace cupel::burnin
