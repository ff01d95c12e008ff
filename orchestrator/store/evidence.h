#pragma once
// How evidence lies on the disk: a file named by the SHA-256 of its bytes, packed (".gz") where
// that is smaller. Kept and read by the Store; see store.h.
#include <boost/json/value.hpp>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupel::store {

inline constexpr std::size_t kEvidenceLimit = 256u << 20;  // bytes, unpacked
inline constexpr std::string_view kPacked = ".gz";

inline bool is_evidence_name(std::string_view name) {
  constexpr std::size_t kDigits = 64;
  return name.size() == kDigits && name.find_first_not_of("0123456789abcdef") == name.npos;
}

/// Every name of evidence under "evidence", at any depth that events have.
void note_evidence(const boost::json::value& value, std::set<std::string>& into);

/// The hash of a file that holds evidence; empty: it holds none.
std::string_view hash_of_file(std::string_view file_name);

/// Where it lies, packed or as it is; whether or not it is there.
std::filesystem::path evidence_file(const std::filesystem::path& state, std::string_view hash);

/// Errors: kNotFound; kMalformed if the file no longer has its hash.
Result<std::string> read_evidence(const std::filesystem::path& state, std::string_view hash);

}  // namespace cupel::store
