#pragma once
// The numbers of one stage by measure and part, so that each is found without reading all. Pure.
#include <span>
#include <string_view>
#include <vector>

#include "burnin/measurement.h"

namespace cupel::burnin {

/// By measure, then part; several of one part in the order in which they came. They point into the
/// findings that they were made of.
using SortedNumbers = std::vector<const Measurement*>;
using NumbersOfSome = std::span<const Measurement* const>;

SortedNumbers sorted_numbers(const Findings& findings);

NumbersOfSome of_measure(NumbersOfSome numbers, std::string_view measure);
NumbersOfSome of_part(NumbersOfSome of_one_measure, std::string_view part);

/// Those of the first measure and part, which are cut off of `numbers`. Never of none.
NumbersOfSome take_first_part(NumbersOfSome& numbers);

}  // namespace cupel::burnin
