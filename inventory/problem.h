#pragma once
// What is wrong in a file that a person wrote: one line each, all of them at once.
#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::inventory {

/// A place in a file, counted from 1. Line 0: the file as a whole.
struct Place {
  std::string file{};
  int line = 0;
  int column = 0;
  friend bool operator==(const Place&, const Place&) = default;
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// "site.yaml:12:7".
std::string to_string(const Place& place);

struct Problem {
  Place where;
  std::string what;  // "unknown key 'pasword' (did you mean 'password'?)"
  friend bool operator==(const Problem&, const Problem&) = default;
  friend auto operator<=>(const Problem&, const Problem&) = default;
};

/// What is reported of one file at most: nobody reads more, and one wrong default is wrong for each
/// node.
inline constexpr std::size_t kMostProblems = 1'000;

/// Each once and in their order, the first kMostProblems of them and a last one that counts the
/// rest.
std::vector<Problem> reported_once(std::vector<Problem> problems);

/// "site.yaml:12:7: unknown key ...", one a line, sorted by place.
std::string to_string(const std::vector<Problem>& problems);

}  // namespace cupel::inventory
