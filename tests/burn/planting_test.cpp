// What a self-test plants, and that the checksums of gemm and train find each of it.
#include "burnin/agent/burn/planting.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "burnin/agent/burn/shapes.h"

namespace cupel::burn {
namespace {

constexpr std::uint64_t kChunks = 4;
constexpr std::array kKinds{PlantKind::kBit, PlantKind::kElement, PlantKind::kNan,
                            PlantKind::kPattern};

template <class Element>
void plant(std::vector<std::uint64_t>& words, const Planting& planting) {
  for (std::uint64_t at = 0; at < planting.count; ++at) {
    const auto offset = (planting.first + at * planting.stride) * sizeof(Element);
    Element element{};
    std::memcpy(&element, reinterpret_cast<std::byte*>(words.data()) + offset, sizeof element);
    element = static_cast<Element>(planting.planted(element));
    std::memcpy(reinterpret_cast<std::byte*>(words.data()) + offset, &element, sizeof element);
  }
}

/// Chunks whose checksum is another one.
std::set<std::uint64_t> changed(const std::vector<std::uint64_t>& before,
                                const std::vector<std::uint64_t>& after) {
  std::set<std::uint64_t> chunks;
  constexpr std::uint64_t kWords = kChunkBytes / 8;
  for (std::uint64_t chunk = 0; chunk < kChunks; ++chunk) {
    std::uint64_t apart = 0;
    for (std::uint64_t at = chunk * kWords; at < (chunk + 1) * kWords; ++at)
      if (before[at] != after[at]) apart += check_term(after[at], at) - check_term(before[at], at);
    if (apart != 0) chunks.insert(chunk);
  }
  return chunks;
}

template <class Element>
int found_of(PlantKind kind, int times) {
  std::vector<std::uint64_t> before(kChunks * kChunkBytes / 8);
  for (std::uint64_t at = 0; at < before.size(); ++at) before[at] = random_at(1, at) & ~0x4000u;
  int found = 0;
  for (int time = 0; time < times; ++time) {
    const auto planting = planting_of(kind, random_at(2, static_cast<std::uint64_t>(time)),
                                      kChunks * kChunkBytes / sizeof(Element),
                                      kChunkBytes / sizeof(Element), sizeof(Element));
    auto after = before;
    plant<Element>(after, planting);
    const auto chunks = changed(before, after);
    found +=
        chunks.size() == 1 && *chunks.begin() == planting.first * sizeof(Element) / kChunkBytes;
  }
  return found;
}

TEST(BurnPlanting, EachKindIsFoundInItsChunkWhateverTheElements) {
  for (const auto kind : kKinds) {
    EXPECT_EQ(found_of<std::uint16_t>(kind, 100), 100) << planted_name("result", kind);
    EXPECT_EQ(found_of<std::uint32_t>(kind, 100), 100) << planted_name("result", kind);
    EXPECT_EQ(found_of<std::uint64_t>(kind, 100), 100) << planted_name("result", kind);
  }
}

TEST(BurnPlanting, APatternLiesAtRegularDistancesWithinOneBlock) {
  std::set<std::uint64_t> strides;
  for (std::uint64_t time = 0; time < 1'000; ++time) {
    const auto planting =
        planting_of(PlantKind::kPattern, random_at(3, time), 64 * 1'024, 1'024, 2);
    const auto last = planting.first + (planting.count - 1) * planting.stride;

    EXPECT_EQ(planting.count, 16);
    EXPECT_EQ(planting.first / 1'024, last / 1'024);
    EXPECT_LE(std::popcount(planting.flips), 2);
    EXPECT_LT(planting.flips, 65'536);
    strides.insert(planting.stride);
  }

  EXPECT_EQ(strides, (std::set<std::uint64_t>{1, 2, 4, 8, 16, 32, 64}));
}

TEST(BurnPlanting, NanIsNoNumberInAnyResult) {
  const auto planting = planting_of(PlantKind::kNan, 5, 1'024, 1'024, 8);
  const auto single = planting_of(PlantKind::kNan, 5, 1'024, 1'024, 4);

  EXPECT_TRUE(std::isnan(std::bit_cast<double>(planting.planted(0x3ff0000000000000))));
  EXPECT_TRUE(
      std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(single.planted(0x3f800000)))));
}

TEST(BurnPlanting, ThoseOfSeveralBitsArePlantedAFourthAsOften) {
  EXPECT_EQ(times_of(PlantKind::kBit, 1'000), 1'000);
  EXPECT_EQ(times_of(PlantKind::kNan, 1'000), 250);
  EXPECT_EQ(times_of(PlantKind::kPattern, 1), 1);
}

}  // namespace
}  // namespace cupel::burn
