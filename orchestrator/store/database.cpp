#include "orchestrator/store/database.h"

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
    Advice{"unable to open database file",
           "the folder is missing or may not be written by this user: see its owner and mount"},
    Advice{"malformed", "the database is damaged and was left as it is: see cupel store check"},
    Advice{"not a database",
           "the file is something else, or damaged; it was left as it is: see cupel store check"},
    Advice{"disk I/O error",
           "the disk did not do it: see the kernel's log; what was acknowledged before is kept"},
    Advice{"is locked", "another process is writing for longer than is right: see who has it open"},
};

}  // namespace

Error storage_error(std::string_view what, std::string_view fault) {
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
