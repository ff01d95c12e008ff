#pragma once
// Evidence, copied with the rows of a store from one place to another (table_copy.h).
#include <soci/soci.h>

#include <filesystem>

#include "base/result.h"
#include "orchestrator/store/table_copy.h"

namespace cupel::store {

struct EvidenceCopied {
  std::int64_t copied = 0, present = 0;  // pieces
  std::uintmax_t bytes = 0;              // that were written, where they are files
};

/// Each piece that is what it is named by and that `to` does not have yet: from the rows of `from`
/// and the files of its folder to rows, or files, of the other. What is damaged is not copied, and
/// is missed by who looks through the copy. Nothing is removed. Errors: kStorage.
/// Throws what SOCI throws.
Result<EvidenceCopied> copy_evidence(soci::session& from, soci::session& to,
                                     const std::filesystem::path& folder,
                                     const std::filesystem::path& to_folder,
                                     const CopyWatcher& watch);

}  // namespace cupel::store
