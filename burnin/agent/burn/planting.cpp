#include "burnin/agent/burn/planting.h"

#include <algorithm>

namespace cupel::burn {

Planting planting_of(PlantKind kind, std::uint64_t random, std::uint64_t elements,
                     std::uint64_t block, std::uint64_t element_bytes) {
  const auto bits = 8 * element_bytes;
  const auto whole = ~std::uint64_t{0} >> (64 - bits);
  const auto at = scrambled(random);
  const auto bit = std::uint64_t{1} << (random % bits);
  switch (kind) {
    case PlantKind::kBit:
      return {.first = at % elements, .flips = bit};
    case PlantKind::kElement:
      return {.first = at % elements, .flips = whole};
    case PlantKind::kNan:
      return {.first = at % elements, .sets = whole};
    case PlantKind::kPattern:
      break;
  }
  constexpr std::uint64_t kCount = 16;
  const auto stride = std::uint64_t{1} << (random >> 32) % 7;
  const auto other = std::uint64_t{1} << (random >> 40) % bits;
  const auto room = block - (kCount - 1) * stride;
  return {.first = at % (elements / block) * block + (at >> 32) % room,
          .stride = stride,
          .count = kCount,
          .flips = bit | other};
}

int times_of(PlantKind kind, int times) {
  return kind == PlantKind::kBit ? times : std::max(1, times / 4);
}

std::string planted_name(std::string_view where, PlantKind kind) {
  constexpr std::string_view kNames[] = {"bit", "element", "nan", "pattern"};
  return std::string{where} + "-" + std::string{kNames[static_cast<int>(kind)]};
}

}  // namespace cupel::burn
