#pragma once
// What a test does where a real part (a daemon, a captured output) is not there: skip and say so,
// or, where CUPEL_REQUIRE_REAL_PARTS=1 says that everything is installed, fail.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace cupel::testing {

inline bool real_parts_are_required() {
  const char* told = std::getenv("CUPEL_REQUIRE_REAL_PARTS");
  return told != nullptr && std::string_view{told} == "1";
}

}  // namespace cupel::testing

/// In a test's body or in SetUp(). `why` names the part.
#define CUPEL_NEEDS_REAL_PART(there, why)                           \
  if (!(there)) {                                                   \
    if (::cupel::testing::real_parts_are_required()) FAIL() << why; \
    GTEST_SKIP() << why;                                            \
  }                                                                 \
  static_assert(true)
