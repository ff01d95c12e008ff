#include "orchestrator/store/evidence_copy.h"

#include <set>

#include "orchestrator/store/evidence.h"
#include "orchestrator/store/postgresql.h"

namespace cupel::store {
namespace {

namespace fs = std::filesystem;
using Hashes = std::set<std::string, std::less<>>;

/// Of a server, its rows; beside them, what files there are.
Hashes all_evidence(soci::session& sql, const fs::path& folder) {
  Hashes found;
  each_evidence_row(sql, [&](const EvidenceRow& row) { found.insert(row.hash); });
  each_evidence_file(folder, [&](const fs::path&, const std::string& hash) { found.insert(hash); });
  return found;
}

/// What is there, whatever it holds. Files of the same folder count only
/// where the other end keeps files.
Hashes present(soci::session& sql, const fs::path& folder) {
  Hashes found;
  each_evidence_row(sql, [&](const EvidenceRow& row) { found.insert(row.hash); });
  if (!is_postgresql(sql))
    each_evidence_file(folder,
                       [&](const fs::path&, const std::string& hash) { found.insert(hash); });
  return found;
}

}  // namespace

Result<EvidenceCopied> copy_evidence(soci::session& from, soci::session& to, const fs::path& folder,
                                     const fs::path& to_folder, const CopyWatcher& watch) {
  const auto all = all_evidence(from, folder);
  const auto there = present(to, to_folder);
  EvidenceCopied found;
  std::int64_t looked = 0;
  for (const auto& hash : all) {
    if (watch) watch({"evidence", ++looked, static_cast<std::int64_t>(all.size())});
    // One that is damaged there is written anew: this end may have the only whole copy.
    if (there.contains(hash) && read_evidence(to, to_folder, hash)) {
      ++found.present;
      continue;
    }
    const auto bytes = read_evidence(from, folder, hash);
    const bool is_damaged =
        !bytes && (bytes.error().code == Code::kMalformed || bytes.error().code == Code::kNotFound);
    if (is_damaged) continue;
    if (!bytes) return bytes.error();
    TRY(keep_evidence(to, to_folder, *bytes));
    ++found.copied;
    std::error_code in_table;
    const auto written = fs::file_size(evidence_file(to_folder, hash), in_table);
    if (!in_table && !is_postgresql(to)) found.bytes += written;
  }
  return found;
}

}  // namespace cupel::store
