#pragma once
// A verdict's causes and criteria for programs: numbers as numbers, and beside them the words that
// people read ("measured", "expected").
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <span>

#include "burnin/criteria/causes.h"
#include "burnin/verdict.h"

namespace cupel::report {

/// "value", "unit", "at_least", "at_most" and "margin" where it is about a number.
boost::json::object to_json(const burnin::Cause& cause);
/// Those that need action also have what is likely behind them: "diagnosis". `findings`: of the
/// node's whole run, for the order of its events.
boost::json::array to_json(std::span<const burnin::Cause> causes,
                           const burnin::FindingsByStage& findings);

/// Suspects with their shares, the test that tells them apart, the remedy, what a vendor wants.
boost::json::object to_json(const burnin::Diagnosis& diagnosis);

/// One criterion: "met" is true or false, and false too where no number came.
boost::json::object to_json(const burnin::Checked& checked);

/// What is worse than its like and passed, the furthest behind first.
boost::json::array slow_json(std::span<const burnin::Compared> slow);

}  // namespace cupel::report
