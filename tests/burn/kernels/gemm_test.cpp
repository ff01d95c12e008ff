// The kernels around the matrix products, run on the host: checksums, samples, planted errors; and
// that what threads do together needs no luck with their order.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "burnin/agent/burn/arithmetic.h"
#include "burnin/agent/burn/cuda/gemm_kernels.h"
#include "tests/burn/kernels/grid.h"

namespace cupel::burn {
namespace {

using on_host::Backwards;
using on_host::FewBlocks;

constexpr std::uint64_t kChunkWords = kChunkBytes / 8;

struct Checked {
  std::vector<std::uint64_t> memory;
  std::vector<std::uint64_t> sums;
  std::vector<std::uint64_t> evidence = std::vector<std::uint64_t>(kMostEvidence * kChunkWords);

  explicit Checked(std::uint64_t chunks) : memory(chunks * kChunkWords), sums(chunks) {
    for (std::size_t at = 0; at < memory.size(); ++at) memory[at] = random_at(1, at);
    sum_chunks(memory.data(), chunks, sums.data(), nullptr);
  }
  WrongChunks check() {
    WrongChunks found{};
    check_chunks(memory.data(), sums.size(), sums.data(), 0, 7, &found, evidence.data(), nullptr);
    return found;
  }
  void flip(std::uint64_t bit) { flip_bit(memory.data(), bit, nullptr); }
};

TEST(GemmKernels, AChunksSumIsThatOfItsWordsAtTheirPlaces) {
  const Checked checked{3};

  for (std::uint64_t chunk = 0; chunk < 3; ++chunk) {
    std::uint64_t sum = 0;
    for (auto at = chunk * kChunkWords; at < (chunk + 1) * kChunkWords; ++at)
      sum += check_term(checked.memory[at], at);
    EXPECT_EQ(checked.sums[chunk], sum);
  }
}

TEST(GemmKernels, FindAThousandOfAThousandPlantedBitsEachInItsChunk) {
  constexpr std::uint64_t kChunks = 10;
  Checked checked{kChunks};
  EXPECT_EQ(checked.check().count, 0);
  int found_all = 0;
  for (std::uint64_t turn = 0; turn < 1'000 / kChunks; ++turn) {
    std::vector<std::uint64_t> bits;
    for (std::uint64_t chunk = 0; chunk < kChunks; ++chunk)
      bits.push_back((chunk * kChunkBytes * 8) + random_at(turn, chunk) % (kChunkBytes * 8));

    for (const auto bit : bits) checked.flip(bit);
    const auto found = checked.check();
    std::map<std::uint64_t, int> listed;
    for (unsigned at = 0; at < std::min(found.count, kMostEvidence + 0u); ++at)
      ++listed[found.list[at].chunk];
    for (const auto bit : bits) checked.flip(bit);

    EXPECT_EQ(found.count, kChunks);
    EXPECT_EQ(found.list[0].product, 7);
    for (std::uint64_t chunk = 0; chunk < kChunks; ++chunk) found_all += listed[chunk] == 1;
  }

  EXPECT_EQ(found_all, 1'000);
}

TEST(GemmKernels, PlantErrorsOfEachKindWhichTheChecksumsFind) {
  constexpr std::uint64_t kChunks = 3;
  Checked checked{kChunks};
  const auto sound = checked.memory;
  for (const std::uint64_t bytes : {2u, 4u, 8u})
    for (const auto kind :
         {PlantKind::kBit, PlantKind::kElement, PlantKind::kNan, PlantKind::kPattern})
      for (std::uint64_t turn = 0; turn < 10; ++turn) {
        const auto planting = planting_of(kind, random_at(4, turn), kChunks * kChunkBytes / bytes,
                                          kChunkBytes / bytes, bytes);

        plant_errors(checked.memory.data(), bytes, planting, nullptr);
        const auto found = checked.check();

        EXPECT_EQ(found.count, 1);
        EXPECT_EQ(found.list[0].chunk, planting.first * bytes / kChunkBytes);
        const auto apart = difference(std::as_bytes(std::span{sound}),
                                      std::as_bytes(std::span{checked.memory}), bytes);
        ASSERT_TRUE(apart);
        EXPECT_EQ(apart->elements, planting.count);
        EXPECT_EQ(apart->first, planting.first);
        checked.memory = sound;
      }
}

/// C as a GPU computes it whose unit for the second chunk always turns one bit over.
std::vector<std::uint64_t> computed(const std::vector<std::uint64_t>& right, std::uint64_t chunks,
                                    std::uint64_t rotation) {
  std::vector<std::uint64_t> memory(right.size());
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk)
    std::ranges::copy_n(
        right.begin() + static_cast<std::ptrdiff_t>((chunk + rotation) % chunks * kChunkWords),
        kChunkWords, memory.begin() + static_cast<std::ptrdiff_t>(chunk * kChunkWords));
  memory[kChunkWords + 5] ^= 1u << 9;
  return memory;
}

TEST(GemmKernels, AUnitThatIsAlwaysWrongDiffersOnceBIsRotated) {
  constexpr std::uint64_t kChunks = 8;
  Checked checked{kChunks};
  const auto right = checked.memory;
  checked.memory = computed(right, kChunks, 0);
  sum_chunks(checked.memory.data(), kChunks, checked.sums.data(), nullptr);
  for (std::uint64_t product = 1; product <= kChunks; ++product) {
    const auto rotation = rotation_of(product, kChunks);
    checked.memory = computed(right, kChunks, rotation);
    WrongChunks found{};

    check_chunks(checked.memory.data(), kChunks, checked.sums.data(), rotation, product, &found,
                 checked.evidence.data(), nullptr);

    if (rotation == 0) {
      EXPECT_EQ(found.count, 0);
      continue;
    }
    // What the first product got wrong is right now, and what this one got wrong was right.
    ASSERT_EQ(found.count, 2);
    const std::set<std::uint64_t> chunks{found.list[0].chunk, found.list[1].chunk};
    EXPECT_EQ(chunks, (std::set<std::uint64_t>{1, (1 + rotation) % kChunks}));
  }
}

TEST(GemmKernels, EvidenceIsTheChunkAsItWasAndNoMoreThanThereIsRoomFor) {
  Checked checked{kMostEvidence + 4};
  for (std::uint64_t chunk = 0; chunk < checked.sums.size(); ++chunk)
    checked.memory[chunk * kChunkWords + chunk] ^= 1;

  const auto found = checked.check();

  EXPECT_EQ(found.count, kMostEvidence + 4);
  for (std::uint64_t slot = 0; slot < kMostEvidence; ++slot)
    EXPECT_EQ(std::memcmp(&checked.evidence[slot * kChunkWords],
                          &checked.memory[found.list[slot].chunk * kChunkWords], kChunkBytes),
              0);
}

TEST(GemmKernels, TheOrderInWhichThreadsRunChangesNothing) {
  Checked checked{2};
  const auto sums = checked.sums;
  checked.flip(12'345);

  const Backwards backwards;
  const auto found = checked.check();
  checked.flip(12'345);
  sum_chunks(checked.memory.data(), 2, checked.sums.data(), nullptr);

  EXPECT_EQ(found.count, 1);
  EXPECT_EQ(found.list[0].chunk, 0);
  EXPECT_EQ(checked.sums, sums);
}

/// Values of a type that test and kernel read alike.
double value_of(Type type, bool of_result, const std::vector<std::byte>& memory, std::uint64_t at) {
  const ProductShape shape{.type = type};
  const auto size = of_result ? shape.result_bytes() : shape.operand_bytes();
  std::uint64_t bits = 0;
  std::memcpy(&bits, &memory[at * size], size);
  if (size == 8) return std::bit_cast<double>(bits);
  if (size == 4) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (size == 2 && type == Type::kFp16)
    return static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
  if (size == 2) return std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16));
  const int exponent = (bits >> 3) & 15;  // e4m3
  const double mantissa = static_cast<double>(bits & 7) / 8 + (exponent > 0 ? 1 : 0);
  return std::ldexp(bits & 128 ? -mantissa : mantissa, std::max(exponent, 1) - 7);
}

void put(Type type, std::vector<std::byte>& memory, std::uint64_t at, double value) {
  const auto size = ProductShape{.type = type}.result_bytes();
  std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  if (size == 4) bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (size == 2 && type == Type::kFp16)
    bits = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
  else if (size == 2)
    bits = (std::bit_cast<std::uint32_t>(static_cast<float>(value)) + 0x8000u) >> 16;
  std::memcpy(&memory[at * size], &bits, size);
}

class GemmSamples : public ::testing::TestWithParam<Type> {};

TEST_P(GemmSamples, AgreeWithAProductDoneByHandAndNotWithAWrongOne) {
  const FewBlocks few{24};  // samples
  const ProductShape shape{.type = GetParam(), .m = 16, .n = 8, .k = 600};
  std::vector<std::byte> a(shape.a_bytes());
  std::vector<std::byte> b(shape.b_bytes());
  std::vector<std::byte> c(shape.c_bytes());
  fill_normal(shape.type, a.data(), shape.m * shape.k, 1, nullptr);
  fill_normal(shape.type, b.data(), shape.n * shape.k, 2, nullptr);
  double squares = 0;
  for (std::uint64_t i = 0; i < shape.m; ++i)
    for (std::uint64_t j = 0; j < shape.n; ++j) {
      double sum = 0;
      for (std::uint64_t at = 0; at < shape.k; ++at)
        sum += value_of(shape.type, false, a, i * shape.k + at) *
               value_of(shape.type, false, b, j * shape.k + at);
      put(shape.type, c, i + j * shape.m, sum);
      squares += sum * sum;
    }
  WrongSamples sound{};
  WrongSamples wrong{};

  check_samples(shape, a.data(), b.data(), c.data(), 3, 24, &sound, nullptr);
  std::swap_ranges(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(c.size() / 2),
                   c.begin() + static_cast<std::ptrdiff_t>(c.size() / 2));
  check_samples(shape, a.data(), b.data(), c.data(), 3, 24, &wrong, nullptr);

  EXPECT_NEAR(std::sqrt(squares / 128 / 600), 1, 0.2);  // the operands have a deviation of one
  EXPECT_EQ(sound.checked, 24);
  EXPECT_EQ(sound.count, 0);
  EXPECT_GT(wrong.count, 18);
  EXPECT_NE(wrong.list[0].got, wrong.list[0].plain);
}

INSTANTIATE_TEST_SUITE_P(EachType, GemmSamples,
                         ::testing::Values(Type::kBf16, Type::kFp16, Type::kTf32, Type::kFp8,
                                           Type::kFp64),
                         [](const auto& type) { return std::string{name_of(type.param)}; });

TEST(GemmKernels, WhatIsFilledForTf32IsTf32AndForFp64IsMore) {
  const FewBlocks few{2};
  std::vector<std::uint32_t> single(1'000);
  std::vector<double> twofold(1'000);

  fill_normal(Type::kTf32, single.data(), 1'000, 4, nullptr);
  fill_normal(Type::kFp64, twofold.data(), 1'000, 4, nullptr);

  for (const auto bits : single) ASSERT_EQ(bits & 0x1fff, 0u);
  int beyond = 0;
  for (const double value : twofold)
    beyond += static_cast<double>(static_cast<float>(value)) != value;
  EXPECT_GT(beyond, 990);
}

}  // namespace
}  // namespace cupel::burn
