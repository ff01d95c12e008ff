#pragma once
// What each measure is: its unit, what it counts, which way is better, and which numbers are
// plausible. One row for each name, whichever stages give it; where it passes is for the profile's
// criteria. Pure.
#include <optional>
#include <span>
#include <string_view>

namespace cupel::burnin {

enum class Better { neither, more, less };

struct MeasureRow {
  std::string_view name;     // "gpu.temperature"; a '*' between dots stands for any one word
  std::string_view unit;     // empty: a number without one, or yes (1) and no (0)
  std::string_view meaning;  // for people
  Better better = Better::neither;
  /// Of the test and not of the machine: that nobody else's program was on the GPU, that the run
  /// came to its end, that the kernel's log could be read. Where its criterion is not met, the
  /// stage has proven nothing.
  bool precondition = false;
  /// Of the node itself: what it was traced to is a time or a reason, and never a part.
  bool of_node = false;
};

/// All of them, in groups of one subject.
std::span<const std::span<const MeasureRow>> measure_rows();

/// nullptr where there is none. A row of this very name comes before a family's.
const MeasureRow* measure_row(std::string_view name);

bool is_precondition(std::string_view measure);

/// What no machine reaches is no reading: a unit that was mistaken, a counter that overflowed, a
/// sensor that is not there. By the unit, generously: ten times what the best parts of today do.
bool is_plausible(double value, std::string_view unit);

/// Whether that unit is known here.
bool is_known_unit(std::string_view unit);

}  // namespace cupel::burnin
