// The kernels of `hbm` and of the links, run on the host: every word of the memory, none beyond it,
// whatever the grid; and every single-bit error that is planted.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "burnin/agent/burn/cuda/hbm_kernels.h"
#include "burnin/agent/burn/cuda/link_kernels.h"
#include "burnin/agent/burn/links/mismatch.h"
#include "burnin/agent/burn/links/operation.h"
#include "tests/burn/kernels/grid.h"

namespace cupel::burn {

namespace {

using on_host::FewBlocks;
using Words = std::vector<std::uint64_t>;

// Neither of the grid's size nor of a thread's loads under way a multiple: some loops end early.
constexpr std::uint64_t kWords = 2 * (3 * 256 * 4 + 301);

Written written(int pattern, std::uint64_t turn = 3) {
  return {static_cast<Pattern>(pattern), 0x5eed, turn};
}

std::uint64_t should(const Written& what, std::uint64_t at) {
  return pattern_at(what.pattern, what.seed, what.turn, at);
}

TEST(HbmKernels, WriteAndCheckEveryWordWhateverTheGrid) {
  for (const unsigned blocks : {1u, 3u, 16u})
    for (int pattern = 0; pattern < kPatterns; ++pattern) {
      const FewBlocks few{blocks};
      Words memory(kWords);
      WrongWords found{};

      write_words(memory.data(), kWords, written(pattern), nullptr);
      check_words(memory.data(), kWords, written(pattern), &found, nullptr);

      for (std::uint64_t at = 0; at < kWords; ++at)
        ASSERT_EQ(memory[at], should(written(pattern), at)) << pattern << " at " << at;
      EXPECT_EQ(found.count, 0);
    }
}

TEST(HbmKernels, FindAThousandOfAThousandPlantedBitsEachAtItsPlace) {
  const FewBlocks few{1};
  Words memory(kWords);
  int found_all = 0;
  for (int pattern = 0; pattern < kPatterns; ++pattern) {
    write_words(memory.data(), kWords, written(pattern), nullptr);
    for (std::uint64_t turn = 0; turn < (pattern == 0 ? 170 : 166); ++turn) {
      const auto chosen = random_at(static_cast<std::uint64_t>(pattern), turn);
      const auto position = chosen % kWords;
      const auto mask = std::uint64_t{1} << (chosen >> 58);
      WrongWords found{};

      flip_word(memory.data(), position, mask, nullptr);
      check_words(memory.data(), kWords, written(pattern), &found, nullptr);
      flip_word(memory.data(), position, mask, nullptr);

      const auto& word = found.list[0];
      found_all += found.count == 1 && word.position == position &&
                   (word.expected ^ word.actual) == mask && word.again == word.actual;
    }
  }

  EXPECT_EQ(found_all, 1'000);
}

TEST(HbmKernels, AnInversionFindsWhatIsWrongAndLeavesTheComplement) {
  const FewBlocks few{3};
  for (const bool downwards : {false, true}) {
    Words memory(kWords);
    WrongWords found{};
    const Written plain{Pattern::kRandom, 9, 0};
    const Written inverse{Pattern::kRandomNot, 9, 0};
    write_words(memory.data(), kWords, plain, nullptr);
    memory[kWords - 1] ^= 1;

    invert_words(memory.data(), kWords, plain, downwards, &found, nullptr);

    EXPECT_EQ(found.count, 1);
    EXPECT_EQ(found.list[0].position, kWords - 1);
    for (std::uint64_t at = 0; at < kWords; ++at) ASSERT_EQ(memory[at], should(inverse, at));
  }
}

TEST(HbmKernels, MoreWrongWordsThanAreListedAreCounted) {
  const FewBlocks few{3};
  Words memory(kWords, 0);
  WrongWords found{};

  check_words(memory.data(), kWords, {Pattern::kWalkingOnes, 0, 0}, &found, nullptr);

  EXPECT_EQ(found.count, kWords);
  for (const auto& word : found.list) EXPECT_EQ(std::popcount(word.expected ^ word.actual), 1);
}

TEST(HbmKernels, CopySetReadAndHammerTouchWhatTheyShallAndNothingElse) {
  const FewBlocks few{3};
  Words from(kWords);
  write_words(from.data(), kWords, written(4), nullptr);
  Words to(kWords);
  Words set(kWords);
  std::uint64_t sink = 0;

  copy_words(to.data(), from.data(), kWords, nullptr);
  set_words(set.data(), kWords, 0x5555, nullptr);
  read_words(from.data(), kWords, &sink, nullptr);
  hammer_words(from.data(), (kWords + 1023) / 1024, 1024, 2, &sink, nullptr);

  EXPECT_EQ(to, from);
  EXPECT_EQ(set, Words(kWords, 0x5555));
}

TEST(LinkKernels, FindAThousandOfAThousandPlantedBits) {
  const FewBlocks few{2};
  Words memory(1'501);
  fill_words(memory.data(), memory.size(), 77, nullptr);
  Words copy(1'502);
  copy_by_sm(copy.data(), memory.data(), 1'500 * 8, 2, nullptr);
  EXPECT_TRUE(std::equal(copy.begin(), copy.begin() + 1'500, memory.begin()));
  EXPECT_EQ(copy[1'500], 0);

  int found_all = 0;
  for (std::uint64_t turn = 0; turn < 1'000; ++turn) {
    const auto bit = random_at(3, turn) % (64 * memory.size());
    Mismatches found;
    flip_bit(memory.data(), bit / 32, static_cast<int>(bit % 32), nullptr);
    check_words(memory.data(), memory.size(), 77, &found, nullptr);
    flip_bit(memory.data(), bit / 32, static_cast<int>(bit % 32), nullptr);
    found_all += found.count == 1 && found.index[0] == bit / 64;
  }

  EXPECT_EQ(found_all, 1'000);
}

/// What a sound library does: each rank's receive buffer, from all ranks' send buffers.
std::vector<std::byte> received(const Shape& shape, int rank, int root,
                                const std::vector<std::vector<std::byte>>& sent) {
  const auto size = bytes_of(shape.scalar);
  std::vector<std::byte> buffer(shape.received * size);
  for (std::uint64_t at = 0; at < shape.received; ++at) {
    const auto origin = origin_of(shape.operation, rank, shape.ranks, root, shape.count, at);
    std::uint32_t bits = 0;
    if (!reduces(shape.operation)) {
      std::memcpy(&bits, &sent[static_cast<std::size_t>(origin.rank)][origin.index * size], size);
    } else {
      float sum = 0;
      std::uint32_t whole = 0;
      for (const auto& each : sent) {
        std::uint32_t one = 0;
        std::memcpy(&one, &each[origin.index * size], size);
        whole += one;
        sum += std::bit_cast<float>(size == 2 ? one << 16 : one);
      }
      bits = std::bit_cast<std::uint32_t>(sum);
      if (shape.scalar == Scalar::kBfloat16) bits >>= 16;
      if (shape.scalar == Scalar::kInt32) bits = whole;
    }
    std::memcpy(&buffer[at * size], &bits, size);
  }
  return buffer;
}

TEST(LinkKernels, KnowWhatEachOperationBringsAndFindOneBitOfIt) {
  const FewBlocks few{2};
  constexpr int kRanks = 3;
  for (const auto operation : all_operations())
    for (const auto scalar : {Scalar::kInt32, Scalar::kFloat32, Scalar::kBfloat16}) {
      const auto shape = *shape_of(operation, kRanks, scalar, 3 * 4 * 700);
      std::vector<std::vector<std::byte>> sent;
      for (int rank = 0; rank < kRanks; ++rank) {
        sent.emplace_back(shape.sent * bytes_of(scalar));
        fill_numbers(sent.back().data(), shape, 5, rank, nullptr);
      }
      for (int rank = 0; rank < kRanks; ++rank) {
        auto buffer = received(shape, rank, 1, sent);
        Mismatches sound;
        Mismatches wrong;

        check_numbers(buffer.data(), shape, 5, rank, 1, &sound, nullptr);
        buffer.back() ^= std::byte{0x40};
        check_numbers(buffer.data(), shape, 5, rank, 1, &wrong, nullptr);

        EXPECT_EQ(sound.count, 0) << name_of(operation) << " rank " << rank;
        EXPECT_EQ(wrong.count, 1) << name_of(operation) << " rank " << rank;
        EXPECT_EQ(wrong.index[0], shape.received - 1);
      }
    }
}

TEST(LinkKernels, PassAnOpenGate) {
  const std::uint64_t gate = 1;

  hold(&gate, nullptr);

  SUCCEED();
}

}  // namespace
}  // namespace cupel::burn
