#pragma once
// A number beside those of like parts, or beside what its own machine reached before. Data: made by
// criteria/fleet_reference.cpp and criteria/own_history.cpp, read by verdicts and reports.
#include <string>
#include <string_view>
#include <vector>

namespace cupel::burnin {

/// What a number was compared with: the fleet's like parts; the machine's own earlier runs; these
/// in their order.
enum class Against { fleet, history, trend };
std::string_view to_string(Against against);

enum class Likeness {
  alike,     // as healthy ones are
  slow,      // worse than its like, and not so far that it must be bad: reported, and passes
  outlier,   // so far off that the spread of healthy ones does not explain it
  doubtful,  // in the worse of two large groups: nothing says which is right
};
std::string_view to_string(Likeness likeness);

struct Compared {
  std::string stage{};
  std::string part{};  // empty: the node as a whole
  std::string measure{};
  std::string unit{};
  Against against{};
  Likeness found{};
  double value = 0;
  double expected = 0;  // of a healthy one there
  double limit = 0;     // the worst value that is not slow; of an outlier, that is none
  double spread = 0;    // of healthy ones: a share of the value, as a standard deviation
  int others = 0;       // nodes, or earlier runs, that it was compared with
  bool less_is_better = false;
  std::string again{};  // of an outlier: where it stood out before, "run 12"; empty: seen once

  friend bool operator==(const Compared&, const Compared&) = default;
};

/// How many spreads it is inside of its limit; negative outside.
double margin(const Compared& compared);

/// By which share of what is expected it is worse; negative where it is better.
double behind(const Compared& compared);

/// Those that are slow, the furthest behind first.
std::vector<Compared> slow_ones(std::vector<Compared> compared);

/// "gpu3: hbm.copy 3201 GB/s, 4.1 % behind what 63 other nodes have".
std::string slow_text(const Compared& compared);

/// "3201 GB/s": "expected at least 3280 GB/s: 63 other nodes have 3310 there, give or take 0.4 %".
std::string expected_text(const Compared& compared);

}  // namespace cupel::burnin
