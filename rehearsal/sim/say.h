#pragma once
// What cupel-sim prints: for people, and for `cupel`, which reads JSON, one object a line.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cstdio>

#include "base/result.h"
#include "base/text.h"
#include "inventory/problem.h"

namespace cupel::rehearsal {

/// As cupel's own: 0, then 2: the input is wrong and nothing was touched, 3: it could not finish.
enum class SimExit : int { done = 0, invalid = 2, unfinished = 3 };

inline void say_line(const boost::json::value& value) {
  std::printf("%s\n", boost::json::serialize(value).c_str());
  std::fflush(stdout);
}

inline boost::json::object to_json(const std::vector<inventory::Problem>& problems) {
  boost::json::array all;
  for (const auto& problem : problems)
    all.push_back({{"file", valid_utf8(problem.where.file)},
                   {"line", problem.where.line},
                   {"column", problem.where.column},
                   {"what", valid_utf8(problem.what)}});
  return {{"problems", std::move(all)}};
}

inline SimExit print_error(const Error& error, SimExit exit) {
  std::fprintf(stderr, "cupel: %s\n", printable(error.what).c_str());
  return exit;
}

inline SimExit print_error(const std::vector<inventory::Problem>& problems) {
  std::fputs(to_string(problems).c_str(), stderr);
  const bool more = problems.size() > inventory::kMostProblems;
  std::fprintf(stderr, "cupel: %s%zu error%s; nothing was touched\n", more ? "more than " : "",
               more ? inventory::kMostProblems : problems.size(), problems.size() == 1 ? "" : "s");
  return SimExit::invalid;
}

}  // namespace cupel::rehearsal
