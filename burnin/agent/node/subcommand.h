#pragma once
// What cupel-node can be asked: one row each, in the table of main.cpp.
#include <span>
#include <string_view>

namespace cupel::agent {

using Arguments = std::span<const std::string_view>;  // without the program and the subcommand

struct Subcommand {
  std::string_view name;
  std::string_view usage;    // what stands behind the name
  std::string_view summary;  // one line for people
  int (*run)(Arguments arguments);
};

/// What a subcommand ends with: sysexits.h, so that scripts can tell them apart.
inline constexpr int kDone = 0;
inline constexpr int kFoundOutNothing = 2;
inline constexpr int kUsage = 64;
inline constexpr int kCannotWrite = 73;
inline constexpr int kCutInput = 74;  // standard input ended before its end
inline constexpr int kStillRunning = 75;

}  // namespace cupel::agent
