#include "base/result.h"

#include <gtest/gtest.h>

namespace cupel {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return Error{Code::kInvalid, "odd"};
  return number / 2;
}

Result<int> quarter(int number) {
  TRY(const auto once, half(number));
  TRY(const auto twice, within("the second time", half(once)));
  return twice;
}

TEST(Result, PassesValuesAndTheFirstErrorOn) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(3).error().what, "odd");
}

TEST(Result, PutsWhatWasTriedInFrontAndKeepsTheCode) {
  const auto error = quarter(6).error();

  EXPECT_EQ(error.what, "the second time: odd");
  EXPECT_EQ(error.code, Code::kInvalid);
}

TEST(Result, OnlyWhatMayDifferInAMomentIsTransient) {
  EXPECT_TRUE(is_transient(Code::kTimeout));
  EXPECT_TRUE(is_transient(Code::kUnreachable));
  EXPECT_TRUE(is_transient(Code::kBusy));
  EXPECT_FALSE(is_transient(Code::kRefused)) << "a second wrong password locks the account";
  EXPECT_FALSE(is_transient(Code::kUntrusted));
}

}  // namespace
}  // namespace cupel
