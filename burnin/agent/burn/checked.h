#pragma once
// What the GPU writes down of wrong results, and how the host reads it: where, how many, which
// bits.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "burnin/agent/burn/shapes.h"

namespace cupel::burn {

inline constexpr int kMostEvidence = 16;

struct WrongChunks {
  unsigned count;  // all of them, also those beyond the list
  struct {
    std::uint64_t product;
    std::uint64_t chunk;
  } list[kMostEvidence];
};

struct WrongSamples {
  unsigned count;
  unsigned checked;
  struct {
    std::uint64_t i;
    std::uint64_t j;
    double got;
    double plain;
  } list[kMostEvidence];
};

/// Two readings of the same bytes, compared element by element.
struct Difference {
  std::uint64_t elements = 0;  // how many differ
  std::uint64_t first = 0;     // the first of them, counted from the start
  std::uint64_t expected = 0;  // its bits
  std::uint64_t actual = 0;

  int bits() const;
};

/// Elements of 1, 2, 4 or 8 bytes; as many as both hold. Bits are compared, so that NaN is a value.
/// Nothing: they are the same.
std::optional<Difference> difference(std::span<const std::byte> expected,
                                     std::span<const std::byte> actual,
                                     std::uint64_t element_bytes);

/// "C[17, 4096]: 0x3c01 instead of 0x3c00, 1 bit; 1 element of the chunk". Without a difference:
/// the chunk was right when it was read again.
std::string reported(const ProductShape& shape, std::uint64_t chunk,
                     const std::optional<Difference>& difference);

}  // namespace cupel::burn
