#include "burnin/measures/measure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "burnin/measures/tables.h"

namespace cupel::burnin {
namespace {

struct UnitRow {
  std::string_view unit;
  double least, most;
};
constexpr std::array kUnits{
    UnitRow{"C", -60, 250},       UnitRow{"GB/s", 0, 1e5},    UnitRow{"TFLOP/s", 0, 1e5},
    UnitRow{"GiB", 0, 1e6},       UnitRow{"W", 0, 1e6},       UnitRow{"V", -1000, 1000},
    UnitRow{"MHz", 0, 1e5},       UnitRow{"Gb/s", 0, 1e5},    UnitRow{"lanes", 0, 64},
    UnitRow{"links", 0, 1000},    UnitRow{"GPUs", 0, 1000},   UnitRow{"errors", 0, 1e19},
    UnitRow{"count", 0, 1e19},    UnitRow{"tests", 0, 1e6},   UnitRow{"%", -1e6, 1e6},
    UnitRow{"tokens/s", 0, 1e12}, UnitRow{"us", -1e15, 1e15}, UnitRow{"s", -1e15, 1e15},
    UnitRow{"rpm", 0, 1e6},       UnitRow{"IOPS", 0, 1e9},    UnitRow{"MT/s", 0, 1e6},
    UnitRow{"GB", 0, 1e12},       UnitRow{"", -1e15, 1e15},
};

/// The first word of a dotted name, which is cut off of it.
std::string_view next_word(std::string_view& name) {
  const auto word = name.substr(0, name.find('.'));
  name.remove_prefix(std::min(word.size() + 1, name.size()));
  return word;
}

bool matches(std::string_view pattern, std::string_view name) {
  if (std::ranges::count(pattern, '.') != std::ranges::count(name, '.')) return false;
  while (!pattern.empty() && !name.empty()) {
    const auto expected = next_word(pattern), word = next_word(name);
    if (expected != "*" && expected != word) return false;
  }
  return pattern.empty() == name.empty();
}

const UnitRow* unit_row(std::string_view unit) {
  const auto* row = std::ranges::find(kUnits, unit, &UnitRow::unit);
  return row == kUnits.end() ? nullptr : row;
}

/// All rows, for looking them up.
struct Rows {
  Rows() {
    for (const auto& table : measure_rows())
      for (const auto& row : table) {
        by_name.emplace(row.name, &row);
        if (row.name.contains('*')) families.push_back(&row);
      }
  }

  std::unordered_map<std::string_view, const MeasureRow*> by_name{};
  std::vector<const MeasureRow*> families{};
};

}  // namespace

std::span<const std::span<const MeasureRow>> measure_rows() {
  static const std::array kAll{host_measure_rows(),   gpu_measure_rows(), burn_measure_rows(),
                               tool_measure_rows(),   log_measure_rows(), board_measure_rows(),
                               network_measure_rows()};
  return kAll;
}

const MeasureRow* measure_row(std::string_view name) {
  static const Rows rows;
  const auto found = rows.by_name.find(name);
  if (found != rows.by_name.end()) return found->second;
  for (const auto* family : rows.families)
    if (matches(family->name, name)) return family;
  return nullptr;
}

bool is_precondition(std::string_view measure) {
  const auto* row = measure_row(measure);
  return row != nullptr && row->precondition;
}

bool is_plausible(double value, std::string_view unit) {
  if (!std::isfinite(value)) return false;
  const auto* row = unit_row(unit);
  return row == nullptr || (value >= row->least && value <= row->most);
}

bool is_known_unit(std::string_view unit) { return unit_row(unit) != nullptr; }

}  // namespace cupel::burnin
