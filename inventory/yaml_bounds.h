#pragma once
// How large a YAML document may become once its aliases stand for what they name: a file of some
// kilobytes can ask for gigabytes. yaml.cpp keeps these bounds while it reads, so that no more than
// they allow is ever held.
#include <cstddef>

#include "inventory/yaml.h"

namespace cupel::inventory {

/// How much a document is: its maps, lists and texts, and the bytes of the texts, keys included.
struct YamlCost {
  std::size_t values = 0;
  std::size_t bytes = 0;
  friend bool operator==(const YamlCost&, const YamlCost&) = default;
};

inline constexpr std::size_t kMostYamlValues = 2'000'000;
inline constexpr std::size_t kMostYamlBytes = 16u << 20;
/// Of all values, those that stand again where an alias stands, or are kept for one.
inline constexpr std::size_t kMostYamlCopies = 250'000;
inline constexpr std::size_t kLongestYamlText = 64u << 10;

/// Of the whole tree. A map's key counts as a value.
YamlCost cost_of(const YamlValue& value);

}  // namespace cupel::inventory
