// The arithmetic of the work that every SM does: an error in any of its results is still there at
// the end.
#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "burnin/agent/burn/arithmetic.h"

namespace cupel::burn {
namespace {

/// What one lane comes to. After turn `wrong_turn` one bit of the result is flipped.
template <class Real, class Bits>
Bits lane(Real value, int turns, int wrong_turn = -1, int bit = 0) {
  Bits fold = 0;
  for (int turn = 0; turn < turns; ++turn) {
    value = stretched(value);
    if (turn == wrong_turn)
      value = std::bit_cast<Real>(std::bit_cast<Bits>(value) ^ (Bits{1} << bit));
    fold = folded(fold, std::bit_cast<Bits>(value));
  }
  return fold;
}

TEST(SmWork, AFlippedBitOfAnyResultIsSeenAtTheEnd) {
  constexpr int kTurns = 500;
  int single = 0;
  int twofold = 0;
  for (int time = 0; time < 4'000; ++time) {
    const auto chosen = random_at(7, static_cast<std::uint64_t>(time));
    const int turn = static_cast<int>(chosen % kTurns);
    const int bit = static_cast<int>(chosen >> 58);
    const float begun = within_map(normal_at(8, static_cast<std::uint64_t>(time)));
    single += lane<float, std::uint32_t>(begun, kTurns, turn, bit % 32) !=
              lane<float, std::uint32_t>(begun, kTurns);
    twofold += lane<double, std::uint64_t>(begun, kTurns, turn, bit) !=
               lane<double, std::uint64_t>(begun, kTurns);
  }

  EXPECT_EQ(single, 4'000);
  EXPECT_EQ(twofold, 4'000);
}

TEST(SmWork, ValuesStayBoundedAndDoNotRunIntoOne) {
  std::set<std::uint32_t> ends;
  for (std::uint64_t at = 0; at < 128; ++at) {
    float value = within_map(normal_at(9, at));
    for (int turn = 0; turn < 20'000; ++turn) {
      value = stretched(value);
      ASSERT_LT(std::abs(value), 1.97f);
    }
    ends.insert(std::bit_cast<std::uint32_t>(value));
  }

  EXPECT_GT(ends.size(), 64);
}

TEST(SmWork, ALargestStartStaysWithinTheMap) {
  for (const float begun : {within_map(4.9f), within_map(-4.9f), 0.0f}) {
    float value = begun;
    for (int turn = 0; turn < 1'000; ++turn) value = stretched(value);
    EXPECT_LT(std::abs(value), 1.97f);
  }
}

}  // namespace
}  // namespace cupel::burn
