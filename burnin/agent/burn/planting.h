#pragma once
// Errors that a self-test plants: of the kinds that GPUs make. Most silent errors are of several
// bits, and many come at regular distances. Compiled for host and GPU.
#include <cstdint>
#include <string>

#include "burnin/agent/burn/arithmetic.h"

namespace cupel::burn {

enum class PlantKind : int {
  kBit,      // one bit of one element
  kElement,  // all bits of one element
  kNan,      // one element becomes all ones, which is NaN in each type of results
  kPattern,  // the same one or two bits of sixteen elements at a regular distance
};

/// Element `first` and each `stride`th after it, `count` of them.
struct Planting {
  std::uint64_t first = 0;
  std::uint64_t stride = 1;
  std::uint64_t count = 1;
  std::uint64_t flips = 0;  // bits of an element
  std::uint64_t sets = 0;

  CUPEL_HD constexpr std::uint64_t planted(std::uint64_t element) const {
    return (element ^ flips) | sets;
  }
};

/// Chosen by a random number, within one of the blocks of `block` elements, of which `elements` is
/// a multiple. A block holds 1,024 elements or more, an element 1 to 8 bytes.
Planting planting_of(PlantKind kind, std::uint64_t random, std::uint64_t elements,
                     std::uint64_t block, std::uint64_t element_bytes);

/// How often it is planted where single bits are `times`: the others a fourth of that, at least
/// once.
int times_of(PlantKind kind, int times);

/// "result-bit", "result-element", "result-nan", "result-pattern".
std::string planted_name(std::string_view where, PlantKind kind);

}  // namespace cupel::burn
