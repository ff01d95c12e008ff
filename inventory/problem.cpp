#include "inventory/problem.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kLongestProblem = 2000;  // bytes of one problem on a terminal

}  // namespace

std::string to_string(const Place& place) {
  if (place.line == 0) return place.file;
  return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::vector<Problem> reported_once(std::vector<Problem> problems) {
  std::set<Problem> reported;
  std::vector<Problem> once;
  for (auto& problem : problems) {
    if (!reported.insert(problem).second) continue;
    if (once.size() < kMostProblems) once.push_back(std::move(problem));
  }
  if (reported.size() > once.size())
    once.push_back({{once.front().where.file, 0, 0},
                    std::to_string(reported.size() - once.size()) + " more errors are not listed"});
  return once;
}

std::string to_string(const std::vector<Problem>& problems) {
  auto sorted = problems;
  // What is reported of the file as a whole comes last, behind what has a line.
  std::ranges::stable_sort(sorted, {}, [](const Problem& problem) {
    const auto& where = problem.where;
    return std::tuple{where.file, where.line == 0, where.line, where.column};
  });
  std::string text;
  for (const auto& problem : sorted)
    text += printable(to_string(problem.where)) + ": " +
            shortened(printable(problem.what), kLongestProblem) + "\n";
  return text;
}

}  // namespace cupel::inventory
