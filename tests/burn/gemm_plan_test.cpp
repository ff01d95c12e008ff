#include "burnin/agent/burn/gemm_plan.h"

#include <gtest/gtest.h>

#include <future>
#include <set>

#include "burnin/agent/burn/power_sampler.h"

namespace cupel::burn {
namespace {

TEST(BurnPlan, LeavesFp64OutOfChipsWithFewUnitsForItUnlessAsked) {
  const std::vector<std::string> all{"bf16", "fp16", "tf32", "fp8", "fp64"};
  const std::vector<Type> four{Type::kBf16, Type::kFp16, Type::kTf32, Type::kFp8};
  const auto five = [&] {
    auto types = four;
    types.push_back(Type::kFp64);
    return types;
  }();
  for (const auto& [major, minor] : {std::pair{8, 9}, {10, 3}, {12, 0}, {12, 1}})
    EXPECT_EQ(types_for(all, true, major, minor), four) << major << "." << minor;
  for (const auto& [major, minor] : {std::pair{9, 0}, {10, 0}})
    EXPECT_EQ(types_for(all, true, major, minor), five) << major << "." << minor;
  EXPECT_EQ(types_for(all, false, 10, 3), five);
  EXPECT_EQ(types_for(all, true, 8, 6), (std::vector{Type::kBf16, Type::kFp16, Type::kTf32}));
  EXPECT_EQ(types_for(all, true, 8, 0),
            (std::vector{Type::kBf16, Type::kFp16, Type::kTf32, Type::kFp64}));
}

TEST(BurnPlan, GivesEachTypeItsTurnAFewTimesWithinARunHoweverSlowItIs) {
  using Seconds = std::chrono::duration<double>;

  EXPECT_EQ(time_of_type(Seconds{72 * 3600}, 5, false), Seconds{4});
  EXPECT_EQ(time_of_type(Seconds{30}, 5, false), Seconds{2});
  EXPECT_EQ(time_of_type(Seconds{1}, 5, false), Seconds{0.1});
  EXPECT_EQ(time_of_type(Seconds{3600}, 1, true), Seconds{30});
}

TEST(BurnPlan, QueuesProductsForTwentyMillisecondsAndTwoAtLeast) {
  EXPECT_EQ(products_queued(0), 2);
  EXPECT_EQ(products_queued(0.9), 2);
  EXPECT_EQ(products_queued(0.0028), 9);
  EXPECT_EQ(products_queued(1e-6), kMostQueued);
}

TEST(BurnRotation, GoesThroughAllChunksAndBeginsAtARowOfBWithinItsFirstCopy) {
  for (const auto type : {Type::kBf16, Type::kTf32, Type::kFp8, Type::kFp64})
    for (const std::uint64_t side : {8'192u, 4'096u, 2'048u}) {
      const auto shape = *shape_for(type, std::uint64_t{60} << 30, side);
      const auto chunks = shape.c_bytes() / kChunkBytes;
      std::set<std::uint64_t> rotations;
      for (std::uint64_t product = 1; product <= chunks; ++product)
        rotations.insert(rotation_of(product, chunks));

      EXPECT_EQ(rotations.size(), chunks);
      EXPECT_EQ(rotated_by(shape, chunks), shape.b_bytes());
      EXPECT_EQ(rotated_by(shape, 1) % (shape.k * shape.operand_bytes()), 0);
      EXPECT_GT(rotated_by(shape, 1), 0);
    }
}

TEST(BurnPower, IsSampledBesideTheThreadThatLoadsTheGpu) {
  std::promise<void> third;
  int readings = 0;
  PowerSampler sampler{[&]() -> std::optional<double> {
                         if (++readings == 3) third.set_value();
                         if (readings == 2) return std::nullopt;
                         return 700;
                       },
                       std::chrono::milliseconds{1}};
  ASSERT_EQ(third.get_future().wait_for(std::chrono::minutes{1}), std::future_status::ready);

  EXPECT_GE(sampler.samples().count(), 1);
  EXPECT_EQ(sampler.samples().quantile(1), 700);
}

}  // namespace
}  // namespace cupel::burn
