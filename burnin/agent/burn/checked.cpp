#include "burnin/agent/burn/checked.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace cupel::burn {
namespace {

std::uint64_t element(std::span<const std::byte> bytes, std::uint64_t at, std::uint64_t size) {
  std::uint64_t value = 0;  // little-endian, as GPU and host are
  std::memcpy(&value, bytes.data() + at * size, size);
  return value;
}

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

int Difference::bits() const { return std::popcount(expected ^ actual); }

std::optional<Difference> difference(std::span<const std::byte> expected,
                                     std::span<const std::byte> actual,
                                     std::uint64_t element_bytes) {
  const auto count = std::min(expected.size(), actual.size()) / element_bytes;
  std::optional<Difference> found;
  for (std::uint64_t at = 0; at < count; ++at) {
    const auto should = element(expected, at, element_bytes);
    const auto is = element(actual, at, element_bytes);
    if (should == is) continue;
    if (!found) found = Difference{.elements = 0, .first = at, .expected = should, .actual = is};
    ++found->elements;
  }
  return found;
}

std::string reported(const ProductShape& shape, std::uint64_t chunk,
                     const std::optional<Difference>& difference) {
  const auto first = chunk * kChunkBytes / shape.result_bytes();
  if (!difference)
    return "C from element " + std::to_string(first) +
           ": the checksum differs, but read again it is right: memory or cache was read wrongly";
  const auto at = first + difference->first;
  return "C[" + std::to_string(at % shape.m) + ", " + std::to_string(at / shape.m) +
         "]: " + hex(difference->actual) + " instead of " + hex(difference->expected) + ", " +
         std::to_string(difference->bits()) + " bits; " + std::to_string(difference->elements) +
         " elements of the chunk";
}

}  // namespace cupel::burn
