#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "burnin/agent/burn/transformer.h"

namespace cupel::burn {
namespace {

TEST(BurnTransformer, CountsTheArithmeticOfAStep) {
  const Transformer shape{.layers = 2, .width = 2048, .sequence = 2048, .batch = 1};

  // Each token: six operations for each parameter, and twelve for each pair of tokens and feature.
  const double parameters = 2 * 12.0 * 2048 * 2048;
  EXPECT_EQ(shape.parameters(), static_cast<std::uint64_t>(parameters));
  EXPECT_EQ(shape.heads(), 16);
  EXPECT_DOUBLE_EQ(shape.operations(), 2048 * (6 * parameters + 12.0 * 2 * 2048 * 2048));
}

TEST(BurnTransformer, UtilisationIsWhatWasDoneOfWhatCouldBe) {
  EXPECT_DOUBLE_EQ(utilisation(989.4e12, 1, 989.4), 100);
  EXPECT_DOUBLE_EQ(utilisation(989.4e12, 2, 989.4), 50);
}

TEST(BurnTransformer, HasAsManyLayersAsFit) {
  const std::uint64_t gib = std::uint64_t{1} << 30;

  EXPECT_EQ(fitting({}, 80 * gib)->layers, 8);
  const auto smaller = fitting({}, 38 * gib);
  ASSERT_TRUE(smaller);
  EXPECT_LT(smaller->layers, 8);
  EXPECT_LE(smaller->bytes(), 38 * gib);
  EXPECT_FALSE(fitting({}, gib));
}

TEST(BurnStep, IsTheSameOnlyBitForBit) {
  const StepResult one{.loss = 0.5, .gradients = 1, .summed = 2};
  auto other = one;
  EXPECT_TRUE(one.same_as(other));

  other.loss = std::nextafter(0.5, 1.0);
  EXPECT_FALSE(one.same_as(other));
  other = one;
  other.gradients ^= 1;
  EXPECT_FALSE(one.same_as(other));
  other = one;
  other.summed ^= 1;
  EXPECT_FALSE(one.same_as(other));
}

TEST(BurnStep, ALossThatIsNoNumberIsLikeItselfAndUnlikeANumber) {
  const StepResult none{.loss = std::nan(""), .gradients = 1, .summed = 2};
  const StepResult some{.loss = 0.5, .gradients = 1, .summed = 2};

  EXPECT_TRUE(none.same_as(none));
  EXPECT_FALSE(none.same_as(some));
}

}  // namespace
}  // namespace cupel::burn
