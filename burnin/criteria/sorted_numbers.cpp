#include "burnin/criteria/sorted_numbers.h"

#include <algorithm>
#include <tuple>

namespace cupel::burnin {

SortedNumbers sorted_numbers(const Findings& findings) {
  SortedNumbers numbers;
  numbers.reserve(findings.measurements.size());
  for (const auto& each : findings.measurements) numbers.push_back(&each);
  std::ranges::stable_sort(numbers, {}, [](const Measurement* each) {
    return std::tuple<std::string_view, std::string_view>{each->name, each->part};
  });
  return numbers;
}

NumbersOfSome of_measure(NumbersOfSome numbers, std::string_view measure) {
  const auto found = std::ranges::equal_range(
      numbers, measure, {}, [](const Measurement* each) -> std::string_view { return each->name; });
  return {found.begin(), found.end()};
}

NumbersOfSome of_part(NumbersOfSome of_one_measure, std::string_view part) {
  const auto found = std::ranges::equal_range(
      of_one_measure, part, {},
      [](const Measurement* each) { return std::string_view{each->part}; });
  return {found.begin(), found.end()};
}

NumbersOfSome take_first_part(NumbersOfSome& numbers) {
  const auto& first = *numbers.front();
  std::size_t count = 1;
  while (count < numbers.size() && numbers[count]->name == first.name &&
         numbers[count]->part == first.part)
    ++count;
  const auto taken = numbers.first(count);
  numbers = numbers.subspan(count);
  return taken;
}

}  // namespace cupel::burnin
