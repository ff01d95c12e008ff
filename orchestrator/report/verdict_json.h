#pragma once
// A verdict's causes and criteria for programs: numbers as numbers, and beside them the words that
// people read ("measured", "expected").
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <span>

#include "burnin/verdict.h"

namespace cupel::report {

/// "value", "unit", "at_least", "at_most" and "margin" where it is about a number.
boost::json::object to_json(const burnin::Cause& cause);
boost::json::array to_json(std::span<const burnin::Cause> causes);

/// One criterion: "met" is true or false, and false too where no number came.
boost::json::object to_json(const burnin::Checked& checked);

}  // namespace cupel::report
