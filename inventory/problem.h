#pragma once
// What is wrong in a file that a person wrote: one line each, all of them at once.
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
};

/// "site.yaml:12:7".
std::string to_string(const Place& place);

struct Problem {
  Place where;
  std::string what;  // "unknown key 'pasword' (did you mean 'password'?)"
  friend bool operator==(const Problem&, const Problem&) = default;
};

/// "site.yaml:12:7: unknown key ...", one a line, sorted by place.
std::string to_string(const std::vector<Problem>& problems);

}  // namespace cupel::inventory
