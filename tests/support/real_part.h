#pragma once
// What a test does where a real part (a daemon, a captured output) is not there: skip and say so,
// or, where CUPEL_REQUIRE_REAL_PARTS=1 says that everything is installed, fail.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace cupel::test {

inline bool real_parts_are_required() {
  const char* reported = std::getenv("CUPEL_REQUIRE_REAL_PARTS");
  return reported != nullptr && std::string_view{reported} == "1";
}

}  // namespace cupel::test

/// In a test's body or in SetUp(). `why` names the part.
#define CUPEL_NEEDS_REAL_PART(there, why)                        \
  if (!(there)) {                                                \
    if (::cupel::test::real_parts_are_required()) FAIL() << why; \
    GTEST_SKIP() << why;                                         \
  }                                                              \
  static_assert(true)
