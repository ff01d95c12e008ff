#include "inventory/problem.h"

#include <algorithm>
#include <tuple>

namespace cupel::inventory {

std::string to_string(const Place& place) {
  if (place.line == 0) return place.file;
  return place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::string to_string(const std::vector<Problem>& problems) {
  auto sorted = problems;
  std::ranges::stable_sort(sorted, {}, [](const Problem& problem) {
    return std::tie(problem.where.file, problem.where.line, problem.where.column);
  });
  std::string text;
  for (const auto& problem : sorted) text += to_string(problem.where) + ": " + problem.what + "\n";
  return text;
}

}  // namespace cupel::inventory
