// The arithmetic that GPU and host share: what the GPU is to find is found here on the host's data.
#include "burnin/agent/burn/arithmetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "burnin/agent/burn/checked.h"
#include "burnin/agent/burn/load_pattern.h"
#include "burnin/agent/burn/shapes.h"
#include "burnin/agent/burn/sm_said.h"
#include "burnin/agent/burn/statistics.h"
#include "burnin/agent/burn/wrong_words.h"

namespace cupel::burn {
namespace {

constexpr std::size_t kWords = kChunkBytes / 8;
using Chunk = std::vector<std::uint64_t>;

/// As the GPU sums a chunk, in whatever order.
std::uint64_t sum_of(const Chunk& chunk, std::uint64_t first = 0) {
  std::uint64_t sum = 0;
  for (std::size_t at = chunk.size(); at-- > 0;) sum += check_term(chunk[at], first + at);
  return sum;
}

Chunk random_chunk(std::uint64_t seed) {
  Chunk chunk(kWords);
  for (std::size_t at = 0; at < kWords; ++at) chunk[at] = random_at(seed, at);
  return chunk;
}

TEST(BurnChecksum, FindsAThousandOfAThousandPlantedBits) {
  auto chunk = random_chunk(1);
  const auto sound = sum_of(chunk);

  int found = 0;
  for (std::uint64_t turn = 0; turn < 1'000; ++turn) {
    const auto bit = random_at(99, turn) % (64 * kWords);
    chunk[bit / 64] ^= std::uint64_t{1} << (bit % 64);
    found += sum_of(chunk) != sound;
    chunk[bit / 64] ^= std::uint64_t{1} << (bit % 64);
  }

  EXPECT_EQ(found, 1'000);
  EXPECT_EQ(sum_of(chunk), sound);
}

TEST(BurnChecksum, FindsEachBitOfAWordWhateverTheWord) {
  for (const std::uint64_t word : {0ull, ~0ull, 0x8000000000000000ull, 0x7ff8000000000000ull})
    for (int bit = 0; bit < 64; ++bit)
      for (std::uint64_t position : {0ull, 1ull, 8191ull, 1ull << 33})
        EXPECT_NE(check_term(word, position),
                  check_term(word ^ (std::uint64_t{1} << bit), position));
}

/// What the sum of these words changes by when `bit` is flipped in all of them.
std::uint64_t change(const Chunk& chunk, std::initializer_list<std::size_t> places, int bit) {
  std::uint64_t sum = 0;
  for (const auto at : places)
    sum += check_term(chunk[at] ^ (std::uint64_t{1} << bit), at) - check_term(chunk[at], at);
  return sum;
}

TEST(BurnChecksum, TheSameBitOfSeveralWordsDoesNotCancelOutAtWhateverDistance) {
  // So a broken lane errs: the same bit again and again, at the distances of a tile.
  auto chunk = random_chunk(4);
  for (int bit = 0; bit < 64; ++bit)
    for (const std::size_t apart : {1, 2, 3, 8, 16, 64, 128, 512, 1'024, 2'048})
      for (std::size_t first = 0; first < 40; ++first) {
        const auto second = first + apart;
        const auto third = second + apart;
        const auto fourth = third + apart;
        // As many upwards as downwards, which is where sums cancel out.
        const auto mask = std::uint64_t{1} << bit;
        chunk[first] |= mask;
        chunk[second] &= ~mask;
        chunk[third] &= ~mask;
        chunk[fourth] |= mask;
        ASSERT_NE(change(chunk, {first, second}, bit), 0) << "bit " << bit << ", " << apart;
        ASSERT_NE(change(chunk, {first, third, second, fourth}, bit), 0) << bit << ", " << apart;
      }
}

/// What the sum changes by when `flips` is flipped in sixteen elements of a chunk.
std::uint64_t change(const Chunk& chunk, std::uint64_t element_bits, std::uint64_t first,
                     std::uint64_t stride, std::uint64_t flips) {
  std::map<std::uint64_t, std::uint64_t> of_words;
  for (std::uint64_t at = 0; at < 16; ++at) {
    const auto bit = (first + at * stride) * element_bits;
    of_words[bit / 64] ^= flips << (bit % 64);
  }
  std::uint64_t sum = 0;
  for (const auto& [word, bits] : of_words)
    sum += check_term(chunk[word] ^ bits, word) - check_term(chunk[word], word);
  return sum;
}

TEST(BurnChecksum, NoOneOrTwoBitsOfElementsAtARegularDistanceCancelOut) {
  // Also where both halves of a word have the same bits wrong, the top one among them: the signs of
  // every other bf16.
  const auto chunk = random_chunk(5);
  for (const std::uint64_t bits : {16u, 32u, 64u})
    for (std::uint64_t stride = 1; stride <= 64; stride *= 2)
      for (std::uint64_t first = 0; first < 64 / bits; ++first)
        for (std::uint64_t one = 0; one < bits; ++one)
          for (std::uint64_t other = one; other < bits; ++other) {
            const auto flips = std::uint64_t{1} << one | std::uint64_t{1} << other;
            ASSERT_NE(change(chunk, bits, first, stride, flips), 0)
                << bits << " bits, " << one << " and " << other << " of each " << stride
                << "th from " << first;
          }
}

TEST(BurnChecksum, FindsWordsThatChangedPlacesAndWordsThatAreMissing) {
  const auto chunk = random_chunk(2);
  auto swapped = chunk;
  std::swap(swapped[5], swapped[4'000]);
  auto zeroed = chunk;
  std::fill(zeroed.begin() + 16, zeroed.begin() + 32, 0);
  auto doubled = chunk;
  std::copy_n(doubled.begin(), 512, doubled.begin() + 512);

  for (const auto& wrong : {swapped, zeroed, doubled}) EXPECT_NE(sum_of(wrong), sum_of(chunk));
}

TEST(BurnChecksum, TheSameBytesElsewhereSumToSomethingElse) {
  const auto chunk = random_chunk(3);

  EXPECT_NE(sum_of(chunk, 0), sum_of(chunk, kWords));
}

TEST(BurnChecksum, OrderMattersInAFingerprint) {
  EXPECT_NE(joined(joined(0, 1), 2), joined(joined(0, 2), 1));
}

TEST(BurnRandom, SeedsOfRoundsAndStreamsAreAllDifferent) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    for (std::uint64_t round = 0; round < 100; ++round)
      for (std::uint64_t stream = 0; stream < 80; ++stream)
        seeds.insert(seed_of(seed, round, stream));

  EXPECT_EQ(seeds.size(), 4 * 100 * 80);
}

TEST(BurnRandom, TheNormalOnesAreNormal) {
  constexpr int kMany = 200'000;
  double sum = 0;
  double squares = 0;
  int within_one = 0;
  for (std::uint64_t at = 0; at < kMany; ++at) {
    const double value = normal_at(7, at);
    sum += value;
    squares += value * value;
    within_one += std::abs(value) < 1;
    ASSERT_LT(std::abs(value), 5);
  }

  EXPECT_NEAR(sum / kMany, 0, 0.01);
  EXPECT_NEAR(squares / kMany, 1, 0.02);
  EXPECT_NEAR(within_one / static_cast<double>(kMany), 0.6827, 0.01);
}

TEST(BurnRandom, IsTheSameOnEveryMachine) {
  // By splitmix64's reference implementation, and by hand.
  EXPECT_EQ(scrambled(0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(scrambled(0x9e3779b97f4a7c15u), 0x6e789e6aa1b965f4u);
}

TEST(BurnPattern, EveryPatternHasAnOppositeOrWalks) {
  for (std::uint64_t position : {0ull, 63ull, 64ull, 1ull << 34}) {
    EXPECT_EQ(pattern_at(Pattern::kAddress, 0, 0, position), position * 8);
    EXPECT_EQ(pattern_at(Pattern::kAddressNot, 0, 0, position), ~(position * 8));
    EXPECT_EQ(pattern_at(Pattern::kRandom, 5, 0, position),
              ~pattern_at(Pattern::kRandomNot, 5, 0, position));
    EXPECT_EQ(pattern_at(Pattern::kWalkingOnes, 0, 3, position),
              ~pattern_at(Pattern::kWalkingZeros, 0, 3, position));
  }
  std::uint64_t walked = 0;
  for (std::uint64_t turn = 0; turn < 64; ++turn)
    walked |= pattern_at(Pattern::kWalkingOnes, 0, turn, 12'345);
  EXPECT_EQ(walked, ~std::uint64_t{0});
}

TEST(BurnPatterns, RandomWordsAreEachTheirOwnAndHalfOnesWithoutLikeNeighbours) {
  constexpr std::uint64_t kCount = 1 << 16;
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{1} << 33}) {
    std::set<std::uint64_t> words;
    std::array<int, 64> ones{};
    std::array<int, 64> changes{};
    std::uint64_t before = pattern_at(Pattern::kRandom, 5, 0, first + kCount);
    for (std::uint64_t at = first; at < first + kCount; ++at) {
      const auto word = pattern_at(Pattern::kRandom, 5, 0, at);
      words.insert(word);
      EXPECT_NE(word, pattern_at(Pattern::kRandom, 6, 0, at));
      for (std::size_t bit = 0; bit < 64; ++bit) {
        ones[bit] += static_cast<int>(word >> bit & 1);
        changes[bit] += static_cast<int>((word ^ before) >> bit & 1);
      }
      before = word;
    }

    EXPECT_EQ(words.size(), kCount);
    for (std::size_t bit = 0; bit < 64; ++bit) {  // within six deviations, which are 128
      EXPECT_NEAR(ones[bit], kCount / 2, 768) << bit;
      EXPECT_NEAR(changes[bit], kCount / 2, 768) << bit;
    }
  }
}

TEST(BurnPattern, AThousandOfAThousandPlantedBitsDifferInEveryPattern) {
  int found = 0;
  for (std::uint64_t turn = 0; turn < 1'000; ++turn) {
    const auto pattern = static_cast<Pattern>(turn % kPatterns);
    const auto position = random_at(4, turn) >> 30;
    const auto word = pattern_at(pattern, 9, turn, position);
    const auto flipped = word ^ (std::uint64_t{1} << (random_at(5, turn) % 64));
    found += flipped != pattern_at(pattern, 9, turn, position);
  }

  EXPECT_EQ(found, 1'000);
}

TEST(BurnChecked, NamesTheElementAndItsBitsAndTakesNanForAValue) {
  std::vector<std::uint16_t> should(kChunkBytes / 2, 0x3c00);
  auto is = should;
  is[4'100] = 0x7fff;  // NaN
  is[4'101] = 0x3c01;
  const ProductShape shape{.type = Type::kBf16, .m = 8'192, .n = 8'192, .k = 16'384};

  const auto apart = difference(std::as_bytes(std::span{should}), std::as_bytes(std::span{is}), 2);

  ASSERT_TRUE(apart);
  EXPECT_EQ(apart->elements, 2);
  EXPECT_EQ(apart->first, 4'100);
  EXPECT_EQ(reported(shape, 1, apart),
            "C[4100, 4]: 0x7fff instead of 0x3c00, 11 bits; 2 elements of the chunk");
  EXPECT_FALSE(difference(std::as_bytes(std::span{is}), std::as_bytes(std::span{is}), 2));
  EXPECT_THAT(reported(shape, 1, std::nullopt), ::testing::HasSubstr("read again it is right"));
}

TEST(BurnChecked, ReportsAWordOfMemoryWithItsOffsetAndPersistence) {
  EXPECT_EQ(reported(WrongWord{2, 3, 1, 1}),
            "offset 0x10: 0x1 instead of 0x3, xor 0x2 (1 bits), the same when read again");
  EXPECT_THAT(reported(WrongWord{2, 3, 1, 3}), ::testing::HasSubstr("right when read again"));
}

std::vector<SmReport> alike(int blocks) {
  std::vector<SmReport> results;
  for (int block = 0; block < blocks; ++block) {
    SmReport one{.sm = static_cast<std::uint32_t>(block % 132), .written = 1, .sums = {}};
    for (auto& unit : one.sums) std::ranges::fill(unit, 77);
    results.push_back(one);
  }
  return results;
}

TEST(BurnSms, TheOddOneIsNamedWithItsUnitAndPartition) {
  auto results = alike(528);
  results[17].sums[2][5] = 78;

  const auto judgement = judge_sms(results);

  ASSERT_EQ(judgement.odd.size(), 1);
  EXPECT_EQ(judgement.odd[0].sm, 17);
  EXPECT_EQ(kSmUnitNames[judgement.odd[0].unit], "fp64");
  EXPECT_EQ(judgement.odd[0].warp % 4, 1);
  EXPECT_EQ(judgement.sms.size(), 132);
}

TEST(BurnSms, NameNoSmWithoutAMajority) {
  auto results = alike(4);
  for (std::uint64_t block = 0; block < 4; ++block)
    for (std::uint64_t warp = 0; warp < kSmWarps; ++warp) results[block].sums[0][warp] = block;

  EXPECT_FALSE(judge_sms(results).decided);
}

TEST(BurnSms, CountABlockThatNeverRanAsSilent) {
  auto results = alike(2);
  results[1] = {};

  EXPECT_EQ(judge_sms(results).sms.size(), 1);
  EXPECT_EQ(judge_sms(results).silent, 1);
  EXPECT_TRUE(judge_sms(results).odd.empty());
}

TEST(LoadPattern, SquareWavesAreIdleHalfOfTheTimeInPhaseWithTheClock) {
  const LoadPattern pattern{LoadPattern::Form::kSquare, 10};

  EXPECT_TRUE(pattern.burns(1'000.01));
  EXPECT_FALSE(pattern.burns(1'000.06));
  EXPECT_NEAR(pattern.changes(1'000.06), 1'000.1, 1e-6);
  EXPECT_TRUE(pattern.burns(pattern.changes(1'000.06) + 1e-6));
}

TEST(LoadPattern, ARampLoadsAGrowingShareOfItsTime) {
  const LoadPattern pattern{LoadPattern::Form::kRamp, 0.1};
  std::vector<int> burnt;
  for (int part = 0; part < 5; ++part) {
    burnt.push_back(0);
    for (double at = 2.0 * part; at < 2.0 * part + 2; at += 0.001)
      burnt.back() += pattern.burns(at);
  }

  EXPECT_TRUE(std::ranges::is_sorted(burnt)) << ::testing::PrintToString(burnt);
  EXPECT_NEAR(burnt.front(), 200, 60);
  EXPECT_NEAR(burnt.back(), 1'800, 60);
  EXPECT_GT(pattern.changes(3.0), 3.0);
}

TEST(BurnShapes, VerifyingReadsSoLittleThatItStaysBelowThreePercent) {
  // By the data sheets of H100 and B200: TFLOP/s of a type, and GB/s of memory.
  struct Chip {
    double bandwidth;
    std::map<Type, double> tflops;
  };
  const std::vector<Chip> chips{{3'350,
                                 {{Type::kBf16, 989},
                                  {Type::kFp16, 989},
                                  {Type::kTf32, 494},
                                  {Type::kFp8, 1979},
                                  {Type::kFp64, 67}}},
                                {8'000,
                                 {{Type::kBf16, 2250},
                                  {Type::kFp16, 2250},
                                  {Type::kTf32, 1125},
                                  {Type::kFp8, 4500},
                                  {Type::kFp64, 40}}}};
  for (const auto& chip : chips)
    for (const auto& [type, tflops] : chip.tflops) {
      const auto shape = shape_for(type, std::uint64_t{60} << 30);
      ASSERT_TRUE(shape);
      const double multiplying = shape->operations() / (tflops * 1e12);
      const double reading = static_cast<double>(shape->c_bytes()) / (chip.bandwidth * 0.85 * 1e9);
      EXPECT_LT(reading / multiplying, 0.03) << name_of(type);
      EXPECT_EQ(shape->c_bytes() % kChunkBytes, 0);
      EXPECT_EQ(shape->a_bytes() % kChunkBytes, 0);
    }
}

TEST(BurnShapes, SmallerWhereLittleIsFreeAndNoneWhereNothingIs) {
  EXPECT_EQ(shape_for(Type::kBf16, std::uint64_t{60} << 30)->m, 8'192);
  EXPECT_EQ(shape_for(Type::kBf16, std::uint64_t{520} << 20)->m, 4'096);
  EXPECT_EQ(shape_for(Type::kBf16, std::uint64_t{60} << 30, 4'096)->m, 4'096);
  EXPECT_FALSE(shape_for(Type::kBf16, 1'000));
}

TEST(BurnShapes, AToleranceIsBelowWhatAWrongUnitDoesAndAboveRounding) {
  const auto shape = *shape_for(Type::kBf16, std::uint64_t{60} << 30);
  const double deviation = std::sqrt(static_cast<double>(shape.k));

  EXPECT_GT(shape.tolerance(deviation), deviation * 0x1p-8);
  EXPECT_LT(shape.tolerance(deviation), deviation * 0x1p-5);
  EXPECT_FALSE(std::abs(std::nan("") - deviation) <= shape.tolerance(deviation));
}

TEST(BurnShapes, Fp8IsOnlyWhereTheChipHasIt) {
  EXPECT_FALSE(runs_on(Type::kFp8, 8, 0));
  EXPECT_TRUE(runs_on(Type::kFp8, 8, 9));
  EXPECT_TRUE(runs_on(Type::kFp8, 9, 0));
  EXPECT_TRUE(runs_on(Type::kFp64, 8, 0));
  for (const auto* name : {"bf16", "fp16", "tf32", "fp8", "fp64"})
    EXPECT_EQ(name_of(type_of(name).value()), name);
}

TEST(BurnShapes, PeaksAreOfTheNamesThatDriversGive) {
  EXPECT_EQ(peak_bf16("NVIDIA H100 80GB HBM3"), 989.4);
  EXPECT_EQ(peak_bf16("NVIDIA H100 PCIe"), 756.5);
  EXPECT_EQ(peak_bf16("NVIDIA A100-SXM4-80GB"), 312);
  EXPECT_EQ(peak_bf16("NVIDIA GB200"), 2500);
  EXPECT_EQ(peak_bf16("NVIDIA B200"), 2250);
  EXPECT_EQ(peak_bf16("NVIDIA GH200 480GB"), 989.4);
  EXPECT_EQ(peak_bf16("NVIDIA H200 NVL"), 835.5);
  EXPECT_EQ(peak_bf16("NVIDIA A40"), 149.7);
  for (const auto* unknown : {"Tesla K80", "NVIDIA RTX A4000", "NVIDIA RTX A1000", "NVIDIA H20",
                              "NVIDIA A100X", "NVIDIA L40", ""})
    EXPECT_FALSE(peak_bf16(unknown)) << unknown;
}

TEST(BurnStatistics, MedianAndSpreadOfWhatIsKnown) {
  const Samples samples{{5, 1, 4, 2, 3}};

  EXPECT_EQ(samples.median(), 3);
  EXPECT_NEAR(samples.quantile(0.05), 1.2, 1e-12);
  EXPECT_NEAR(samples.spread(), 100 * (4.8 - 1.2) / 3, 1e-9);
  EXPECT_EQ(Samples{{7}}.spread(), 0);
  EXPECT_TRUE(std::isnan(Samples{}.median()));
  EXPECT_TRUE(std::isnan((Samples{{1, std::nan(""), 2}}.median())));
}

TEST(BurnStatistics, AWeekOfSamplesTakesLittleRoomAndKeepsItsMedian) {
  Samples samples;
  for (int at = 0; at <= 1'000'000; ++at) samples.add(at);

  EXPECT_EQ(samples.count(), 1'000'001);
  EXPECT_NEAR(samples.median(), 500'000, 1'000);
}

}  // namespace
}  // namespace cupel::burn
