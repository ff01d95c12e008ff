#pragma once
// How evidence is named: by the SHA-256 of its bytes. Kept and read by the Store; see store.h.
#include <string_view>

namespace cupel::store {

inline constexpr std::size_t kEvidenceLimit = 256u << 20;  // bytes

inline bool is_evidence_name(std::string_view name) {
  constexpr std::size_t kDigits = 64;
  return name.size() == kDigits && name.find_first_not_of("0123456789abcdef") == name.npos;
}

}  // namespace cupel::store
