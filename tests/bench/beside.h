#pragma once
// What scripts/bench reads of a benchmark: a line for each figure that has a peer or a bound.
#include <fmt/format.h>

#include <cstdio>
#include <string_view>

namespace cupel::bench {

/// Cupel's figure and its peer's of the same run.
struct Beside {
  std::string_view what;  // "power status, first contact"
  std::string_view peer;  // "curl --parallel"
  std::string_view unit;  // of both figures: "us of CPU a BMC"
  double ours = 0, theirs = 0;
  std::string_view asked{};  // of ours divided by theirs: "<= 0.7", ">= 0.9", or nothing
};

/// Prints one line; parts are divided by "|", which none of them has.
inline void print_beside(const Beside& one) {
  fmt::print("beside|{}|{}|{}|{:.6g}|{:.6g}|{}\n", one.what, one.peer, one.unit, one.ours,
             one.theirs, one.asked);
  std::fflush(stdout);
}

}  // namespace cupel::bench
