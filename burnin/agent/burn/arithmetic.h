#pragma once
// What GPU and host must compute alike: random numbers by position, checksums, memory patterns. All
// in whole numbers, or with a single rounding, so that both give the same bits. Compiled by both.
#include <cmath>
#include <cstdint>

#ifdef __CUDACC__
#define CUPEL_HD __host__ __device__
#else
#define CUPEL_HD
#endif

namespace cupel::burn {

/// A bijection of 64 bits in which each bit of the input moves half of the output's.
/// Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014), as
/// implemented in splitmix64.
CUPEL_HD constexpr std::uint64_t scrambled(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// The seed of one stream among many: of a round, a type, an operand.
CUPEL_HD constexpr std::uint64_t seed_of(std::uint64_t seed, std::uint64_t round,
                                         std::uint64_t stream) {
  return scrambled(scrambled(scrambled(seed) + round) ^ (stream * 0xd6e8feb86659fd93u));
}

/// 64 random bits that stand at `position`.
CUPEL_HD constexpr std::uint64_t random_at(std::uint64_t seed, std::uint64_t position) {
  return scrambled(seed ^ scrambled(position));
}

/// 64 random bits that stand at `position`, in a quarter of the instructions: what is written to
/// all memory must not take longer to compute than to write. Each shift is by a register, so that
/// it costs nothing on a chip of 32 bits. A bijection of the position.
CUPEL_HD constexpr std::uint64_t quick_at(std::uint64_t seed, std::uint64_t position) {
  const std::uint64_t x = seed + position * 0x9e3779b97f4a7c15u;
  const std::uint64_t y = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return y ^ (y >> 32);
}

/// As good as normal (mean 0, deviation 1, within 4.9): the sum of eight 16-bit numbers. The sum is
/// whole and below 2^20, so that the one multiplication is the only rounding.
CUPEL_HD constexpr float normal_at(std::uint64_t seed, std::uint64_t position) {
  const std::uint64_t first = random_at(seed, 2 * position);
  const std::uint64_t second = random_at(seed, 2 * position + 1);
  std::int32_t sum = -262'140;  // eight times the mean, 32767.5
  for (int at = 0; at < 64; at += 16)
    sum += static_cast<std::int32_t>((first >> at) & 0xffff) +
           static_cast<std::int32_t>((second >> at) & 0xffff);
  return static_cast<float>(sum) * (1.0f / 53'510.0f);  // sqrt(8 * 65536^2 / 12)
}

/// What the 64-bit word at `position` adds to a checksum. Three steps that can be undone, so that a
/// word that changed in whatever way adds something else. That several of them cancel out takes
/// chance, about 2^-32, also where each has the same bits wrong at the same places: the first
/// factor carries what changed into the upper half, of which the shift gives the lower half its
/// share, so that no two changed bits of a word take each other away, and none stands so high that
/// an even number of them adds up to nothing. The last factors of neighbours are no arithmetic
/// sequence, since faults come at regular distances.
CUPEL_HD constexpr std::uint64_t check_term(std::uint64_t word, std::uint64_t position) {
  const std::uint64_t spread = position * 0x9e3779b97f4a7c15u + 0xd1b54a32d192ed03u;
  const std::uint64_t mixed = word * 0xd6e8feb86659fd93u;
  return (mixed ^ (mixed >> 32)) * ((spread ^ (spread >> 32)) | 1);
}

/// A turn of the work that SMs do alike. The map stretches: what differs in one turn differs by
/// about twice as much in the next one, and the value stays within 1.966 for ever. Begun with
/// within_map().
CUPEL_HD inline float stretched(float x) { return ::fmaf(x, x, -1.9f); }
CUPEL_HD inline double stretched(double x) { return ::fma(x, x, -1.9); }
/// A value of normal_at() (within 4.9) made small enough for it.
template <class T>
CUPEL_HD constexpr T within_map(T normal) {
  return normal * static_cast<T>(0.375);
}

/// Takes the bits of a result into a fold of all results so far. It can be undone: a fold that
/// differs once differs after each further result that is the same.
CUPEL_HD constexpr std::uint32_t folded(std::uint32_t fold, std::uint32_t bits) {
  return fold * 0x9e3779b1u + bits;
}
CUPEL_HD constexpr std::uint64_t folded(std::uint64_t fold, std::uint64_t bits) {
  return fold * 0x9e3779b97f4a7c15u + bits;
}

/// Joins the sums of chunks into one fingerprint.
CUPEL_HD constexpr std::uint64_t joined(std::uint64_t fingerprint, std::uint64_t sum) {
  return scrambled(fingerprint ^ sum) + 0x632be59bd9b4e019u;
}

/// What is written to memory.
enum class Pattern : int {
  kAddress,       // each word its own address: finds address lines
  kAddressNot,    // its complement
  kWalkingOnes,   // one bit of 64, another in each word, moved by `turn`
  kWalkingZeros,  // its complement
  kRandom,
  kRandomNot,
};
inline constexpr int kPatterns = 6;

/// The word at `position` (in words from the start of the memory under test).
CUPEL_HD constexpr std::uint64_t pattern_at(Pattern pattern, std::uint64_t seed, std::uint64_t turn,
                                            std::uint64_t position) {
  switch (pattern) {
    case Pattern::kAddress:
      return position * 8;
    case Pattern::kAddressNot:
      return ~(position * 8);
    case Pattern::kWalkingOnes:
      return std::uint64_t{1} << ((position + turn) & 63);
    case Pattern::kWalkingZeros:
      return ~(std::uint64_t{1} << ((position + turn) & 63));
    case Pattern::kRandom:
      return quick_at(seed, position);
    case Pattern::kRandomNot:
      return ~quick_at(seed, position);
  }
  return 0;
}

}  // namespace cupel::burn
