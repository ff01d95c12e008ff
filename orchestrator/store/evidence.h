#pragma once
// How evidence is kept, by the SHA-256 of its bytes and packed where that is smaller: a file
// (".gz") in the state folder, or a row of a table where the store is on a server. Kept and read by
// the Store; see store.h.
#include <boost/json/value.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace soci {
class session;
}

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

/// Where a file of it lies, packed or as it is; whether or not it is there.
std::filesystem::path evidence_file(const std::filesystem::path& state, std::string_view hash);

/// From the session's table, where it has one, else from a file. Errors: kNotFound; kMalformed if
/// what is kept no longer has its hash. Throws what SOCI throws.
Result<std::string> read_evidence(soci::session& sql, const std::filesystem::path& state,
                                  std::string_view hash);

/// Keeps it where the session's engine has it, durably. Returns the hash. Errors: kStorage. Throws
/// what SOCI throws.
Result<std::string> keep_evidence(soci::session& sql, const std::filesystem::path& state,
                                  std::string_view bytes);

/// One row of the table, and how many bytes it has as it is kept.
struct EvidenceRow {
  std::string hash{};
  std::int64_t bytes = 0;
};

/// Calls `visit` with each row of the session's table, by hash; with none where it has no table.
/// Throws what SOCI throws.
void each_evidence_row(soci::session& sql, const std::function<void(const EvidenceRow&)>& visit);

/// Whether the session's table has it, and it is what it is named by. Throws what SOCI throws.
bool has_whole_row(soci::session& sql, std::string_view hash);

void remove_evidence_row(soci::session& sql, const std::string& hash);

/// Calls `visit` with each file of evidence, and the hash that names it.
void each_evidence_file(
    const std::filesystem::path& state,
    const std::function<void(const std::filesystem::path&, const std::string& hash)>& visit);

}  // namespace cupel::store
