#pragma once
// All tables of a store, copied from one session to another, whatever engine each is of. Rows go in
// the order of their keys, some hundred a transaction: a copy that was cut off goes on behind the
// last row that is there.
#include <soci/soci.h>

#include <functional>
#include <string_view>

#include "base/result.h"

namespace cupel::store {

std::int64_t rows_of(soci::session& sql, std::string_view table);
std::int64_t rows_of_tables(soci::session& sql);

struct CopyProgress {
  std::string_view what;  // "event", "compared event", "evidence"
  std::int64_t done = 0, of = 0;
};
using CopyWatcher = std::function<void(const CopyProgress&)>;

/// Both of the newest version. `from` stays as it is meanwhile: it is in a transaction that sees
/// one state. `to` was empty, or has what an earlier copy of the same rows left. A text with a NUL,
/// or of no UTF-8, is packed for PostgreSQL where its column may be; else that is an error.
/// Errors: kInvalid, naming the row. Throws what SOCI throws.
Result<void> copy_tables(soci::session& from, soci::session& to, const CopyWatcher& watch);

/// Reads both, row beside row. Errors: kMalformed, naming the first row that is not the same.
/// Throws what SOCI throws.
Result<void> compare_tables(soci::session& from, soci::session& to, const CopyWatcher& watch);

/// Removes every row, that of evidence included. Throws what SOCI throws.
void clear_tables(soci::session& sql);

}  // namespace cupel::store
