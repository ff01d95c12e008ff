#include "orchestrator/store/database.h"

#include <soci/sqlite3/soci-sqlite3.h>

#include <array>

namespace cupel::store {
namespace {

struct Advice {
  std::string_view said;  // a part of what SQLite says
  std::string_view advice;
};

// Source: sqlite3ErrStr() of SQLite, whose texts sqlite3_errmsg() documents.
constexpr std::array kAdvice{
    Advice{"disk is full", "nothing of it was written; make room, then go on"},
    Advice{"readonly database",
           "the folder, a file in it or the file system is read-only: nothing was written"},
    Advice{
        "unable to open database file",
        "the folder is missing, on a read-only file system, or not this user's to write: see its "
        "owner and mount"},
    Advice{"malformed", "the database is damaged and was left as it is: see cupel store verify"},
    Advice{"not a database",
           "the file is something else, or damaged; it was left as it is: see cupel store verify"},
    Advice{"disk I/O error",
           "the disk did not do it: see the kernel's log; what was acknowledged before is kept"},
    Advice{"is locked", "another process is writing for longer than is right: see who has it open"},
};

/// What SQLite said, without SOCI's own words around it:
/// "sqlite3_statement_backend::prepare: ... while preparing "SELECT ..."".
std::string_view said_by_sqlite(std::string_view fault) {
  constexpr std::string_view kBackend = "_backend::";
  if (const auto at = fault.find(kBackend); at != fault.npos)
    if (const auto end = fault.find(": ", at + kBackend.size()); end != fault.npos)
      fault.remove_prefix(end + 2);
  for (const auto* tail : {" while preparing", " while executing"})
    fault = fault.substr(0, fault.find(tail));
  return fault;
}

}  // namespace

void open_session(soci::session& sql, const std::filesystem::path& file, Access access) {
  sql.open(soci::sqlite3, "db=\"" + file.string() + "\" timeout=10" +
                              (access == Access::read_only ? " readonly=1" : ""));
}

Error storage_error(std::string_view what, std::string_view thrown) {
  const auto fault = said_by_sqlite(thrown);
  for (const auto& each : kAdvice)
    if (fault.find(each.said) != fault.npos)
      return Error{Code::kStorage, fmt::format("{}: {}: {}", what, fault, each.advice)};
  return Error{Code::kStorage, fmt::format("{}: {}", what, fault)};
}

Writing::Writing(soci::session& sql) : sql_{sql} { sql_ << "BEGIN IMMEDIATE"; }

void Writing::commit() {
  sql_ << "COMMIT";
  open_ = false;
}

Writing::~Writing() {
  if (!open_) return;
  try {
    sql_ << "ROLLBACK";
  } catch (const std::exception&) {  // SQLite has rolled back by itself, as after a full disk
    open_ = false;
  }
}

}  // namespace cupel::store
