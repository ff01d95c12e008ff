#pragma once
// What is sent over a link, and what must arrive: the same arithmetic on the host and on the GPU,
// so that either side knows every word without the other's word for it. Random to the eye: data
// that repeat cost less power and hide what arrived in the wrong place.
#include <bit>
#include <cstdint>

#if defined(__CUDACC__)
#define CUPEL_BOTH __host__ __device__
#else
#define CUPEL_BOTH
#endif

namespace cupel::burn {

/// Source: splitmix64, Vigna, https://prng.di.unimi.it/splitmix64.c (its finaliser).
CUPEL_BOTH constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// The seed of one transfer: of the run's seed, the round, and who sends.
CUPEL_BOTH constexpr std::uint64_t transfer_seed(std::uint64_t seed, std::uint64_t round,
                                                 std::uint64_t who) {
  return mixed(mixed(seed + 0x9e3779b97f4a7c15ULL * (round + 1)) + who);
}

/// Word `index` of a transfer: no two transfers agree in more words than chance has it, so what is
/// left over from an earlier one is found.
CUPEL_BOTH constexpr std::uint64_t pattern_word(std::uint64_t seed, std::uint64_t index) {
  return mixed(seed + 0x9e3779b97f4a7c15ULL * (index + 1));
}

/// What is reduced over ranks. Numbers are chosen so that every partial sum is exact: whatever the
/// order in which a library or a switch adds, the sum has one right value, to the bit.
enum class Scalar { kInt32, kFloat32, kBfloat16 };

CUPEL_BOTH constexpr std::uint64_t bytes_of(Scalar scalar) {
  return scalar == Scalar::kBfloat16 ? 2 : 4;
}

/// The largest magnitude of one rank's number: integers up to 2^24 are exact in float, up to 2^8 in
/// bfloat16 (the significand's bits). 0 for kInt32, whose sums are exact modulo 2^32 whatever is
/// added.
CUPEL_BOTH constexpr std::uint32_t bound_of(Scalar scalar, int ranks) {
  if (scalar == Scalar::kInt32) return 0;
  const auto exact = scalar == Scalar::kFloat32 ? 1U << 24 : 1U << 8;
  return exact / static_cast<std::uint32_t>(ranks);
}

/// Rank `rank`'s number at `index`: the low 32 bits for kInt32, else a whole number within the
/// bound.
CUPEL_BOTH constexpr std::int64_t number_of(Scalar scalar, std::uint64_t seed, int rank, int ranks,
                                            std::uint64_t index) {
  const auto random = static_cast<std::uint32_t>(
      pattern_word(mixed(seed + static_cast<std::uint64_t>(rank)), index) >> 32);
  if (scalar == Scalar::kInt32) return random;
  const std::uint64_t bound = bound_of(scalar, ranks);
  return static_cast<std::int64_t>((random * (2 * bound + 1)) >> 32) -
         static_cast<std::int64_t>(bound);
}

/// The element that holds `number`, which must be exact in it; bfloat16 in the low 16 bits.
CUPEL_BOTH inline std::uint32_t bits_of(Scalar scalar, std::int64_t number) {
  if (scalar == Scalar::kInt32) return static_cast<std::uint32_t>(number);
#if defined(__CUDA_ARCH__)
  const std::uint32_t bits = __float_as_uint(static_cast<float>(number));
#else
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(number));
#endif
  return scalar == Scalar::kFloat32 ? bits : bits >> 16;
}

/// The bits of the sum over all ranks.
CUPEL_BOTH inline std::uint32_t sum_bits(Scalar scalar, std::uint64_t seed, int ranks,
                                         std::uint64_t index) {
  std::int64_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += number_of(scalar, seed, rank, ranks, index);
  return bits_of(scalar, sum);
}

}  // namespace cupel::burn
