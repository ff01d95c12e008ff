#pragma once
// Short marks of bytes for whoever has to know, and nobody else, whether others are the same.
#include <array>
#include <cstdint>
#include <string_view>

namespace cupel {

/// Whether bytes are the same as others that were here before, for a fraction of what SHA-256
/// costs. By a key of this object's own that nobody sees, so that nobody can make other bytes with
/// the same tag. Source: GMAC, NIST SP 800-38D, 3.
class KeyedTags {
 public:
  using Tag = std::array<unsigned char, 16>;
  KeyedTags();
  /// Of the piece with this number. From any thread.
  Tag of(std::uint64_t number, std::string_view bytes) const;

 private:
  std::array<unsigned char, 16> key_{};
};

}  // namespace cupel
