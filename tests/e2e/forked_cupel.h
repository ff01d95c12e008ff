#pragma once
// A command line of cupel in a copy of the test's own process: for tests of many command lines,
// where starting a program that a sanitizer has made large would cost more than all that it does.
#include <string>
#include <vector>

#include "tests/support/child.h"

namespace cupel::testing {

/// Runs it to its end; one that takes two minutes is killed. For command lines that are refused, or
/// find nothing to act on: a command that starts cupel anew would start this test.
Ran run_forked_cupel(std::vector<std::string> words);

}  // namespace cupel::testing
