#include "orchestrator/store/purpose.h"

#include <fmt/format.h>
#include <soci/soci.h>

#include "base/file.h"
#include "base/paths.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/dialect.h"
#include "orchestrator/store/postgresql.h"
#include "orchestrator/store/server.h"

namespace cupel::store {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRehearsalMark = "REHEARSAL";
constexpr std::string_view kRehearsalNote =
    "This folder holds the records of rehearsals on virtual racks.\n"
    "Nothing in it is proof of a real machine. Do not remove this file.\n";

/// Repairs of cables stand in the audit log alone, which older stores do not have.
bool has_links(soci::session& sql) {
  if (!has_table(sql, "audit")) return false;
  int count = 0;
  sql << "SELECT COUNT(*) FROM audit WHERE what LIKE 'link-%'", soci::into(count);
  return count != 0;
}

/// A store that a command made which only looked: no run, no pin, nothing of any BMC or link. One
/// that cannot be read holds something.
bool holds_nothing(const fs::path& folder) {
  try {
    soci::session sql;
    open_session(sql, folder, Access::read_only);
    if (is_postgresql(sql) && version_of(sql) == 0) return true;
    int rows = 0;
    sql << "SELECT (SELECT COUNT(*) FROM run) + (SELECT COUNT(*) FROM known_key) + (SELECT "
           "COUNT(*) "
           "FROM bmc_refusal) + (SELECT COUNT(*) FROM known_bmc) + (SELECT COUNT(*) FROM "
           "bmc_budget)",
        soci::into(rows);
    return rows == 0 && !has_links(sql);
  } catch (const std::exception&) {
    return false;
  }
}

/// With links resolved as far as the path exists.
fs::path resolved(const fs::path& folder) {
  std::error_code failure;
  auto path = fs::weakly_canonical(absolute_path(folder), failure);
  return failure ? absolute_path(folder) : path;
}

}  // namespace

bool has_store(const fs::path& folder) {
  return is_there(folder / "cupel.db") || is_there(folder / "cupel.db-wal") ||
         is_there(server_file(folder));
}

Purpose purpose_of(const fs::path& folder) {
  if (is_there(folder / kRehearsalMark)) return Purpose::rehearsal;
  return has_store(folder) && !holds_nothing(folder) ? Purpose::site : Purpose::none;
}

std::optional<fs::path> site_store_at(const fs::path& folder) {
  const auto path = resolved(folder);
  for (auto each = path;; each = each.parent_path()) {
    if (purpose_of(each) == Purpose::site) return each;
    if (each == each.parent_path()) break;
  }
  std::error_code failure;
  for (fs::directory_iterator entry{path, failure}, end; !failure && entry != end;
       entry.increment(failure))
    if (purpose_of(entry->path()) == Purpose::site) return entry->path();
  return std::nullopt;
}

Result<void> keep_for_rehearsals(const fs::path& folder) {
  if (purpose_of(folder) == Purpose::rehearsal) return ok();
  if (const auto site = site_store_at(folder))
    return Error{Code::kConflict,
                 fmt::format("{} holds the records and pins of real machines: a rehearsal writes "
                             "nothing there. Name another folder, or none",
                             site->string())};
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (!failure) fs::permissions(folder, fs::perms::owner_all, failure);
  if (failure)
    return Error{Code::kStorage, fmt::format("cannot make the state folder {}: {}", folder.string(),
                                             failure.message())};
  return write_file(folder / kRehearsalMark, kRehearsalNote);
}

}  // namespace cupel::store
