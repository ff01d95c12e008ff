#pragma once
// A command line of cupel in a copy of the test's own process. To start the program takes a second
// under a sanitizer, and a test of many command lines asks only what each is answered.
#include <string>
#include <vector>

#include "tests/support/child.h"

namespace cupel::testing {

/// Runs it to its end; one that takes two minutes is killed. For command lines that are refused, or
/// find nothing to act on: a command that starts cupel anew would start this test.
Ran run_forked_cupel(std::vector<std::string> words);

}  // namespace cupel::testing
