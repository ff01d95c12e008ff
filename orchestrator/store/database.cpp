#include "orchestrator/store/database.h"

#include <soci/sqlite3/soci-sqlite3.h>

#include <array>

#include "orchestrator/store/dialect.h"
#include "orchestrator/store/postgresql.h"
#include "orchestrator/store/server.h"
#include "orchestrator/store/store_move.h"

namespace cupel::store {
namespace {

constexpr const char* kDatabase = "cupel.db";

struct Advice {
  std::string_view message;  // a part of what SQLite says
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
std::string_view sqlite_message(std::string_view fault) {
  constexpr std::string_view kBackend = "_backend::";
  if (const auto at = fault.find(kBackend); at != fault.npos)
    if (const auto end = fault.find(": ", at + kBackend.size()); end != fault.npos)
      fault.remove_prefix(end + 2);
  for (const auto* tail : {" while preparing", " while executing"})
    fault = fault.substr(0, fault.find(tail));
  return fault;
}

/// Knows its state folder. SQLite's own name of the file would not do: it follows links.
struct FileSession final : soci::sqlite3_session_backend {
  using sqlite3_session_backend::sqlite3_session_backend;
  std::filesystem::path folder{};
};

struct FileFactory final : soci::backend_factory {
  soci::details::session_backend* make_session(
      const soci::connection_parameters& parameters) const override {
    return new FileSession{parameters};  // SOCI's to delete
  }
};

FileSession& own(soci::session& sql) { return *static_cast<FileSession*>(sql.get_backend()); }

/// The state folder of a session that open_session() opened; empty: a copy's.
const std::filesystem::path& folder_of(soci::session& sql) {
  return is_postgresql(sql) ? folder_of_server(sql) : own(sql).folder;
}

}  // namespace

void open_session(soci::session& sql, const std::filesystem::path& folder, Access access) {
  const bool read_only = access == Access::read_only;
  if (const auto unmoved = is_not_moved(folder); !read_only && !unmoved)
    throw std::runtime_error{unmoved.error().what};
  const auto server = server_of(folder);
  if (!server) throw std::runtime_error{server.error().what};
  if (*server) return open_postgresql(sql, **server, read_only, folder);
  open_file_session(sql, folder / kDatabase, access);
  own(sql).folder = folder;
}

void open_file_session(soci::session& sql, const std::filesystem::path& file, Access access) {
  static const FileFactory kFactory{};
  sql.open(kFactory, "db=\"" + file.string() + "\" timeout=10" +
                         (access == Access::read_only ? " readonly=1" : ""));
}

Error storage_error(std::string_view what, std::string_view thrown) {
  const auto fault = sqlite_message(thrown);
  for (const auto& each : kAdvice)
    if (fault.find(each.message) != fault.npos)
      return Error{Code::kStorage, fmt::format("{}: {}: {}", what, fault, each.advice)};
  return Error{Code::kStorage, fmt::format("{}: {}", what, fault)};
}

Error storage_error(std::string_view what, const std::exception& fault) {
  if (const auto message = postgresql_message(fault))
    return Error{Code::kStorage, fmt::format("{}: {}", what, *message)};
  return storage_error(what, std::string_view{fault.what()});
}

Writing::Writing(soci::session& sql) : sql_{sql} {
  if (is_postgresql(sql_))
    begin_writing(sql_);
  else
    sql_ << "BEGIN IMMEDIATE";
  const auto folder = folder_of(sql_);
  if (folder.empty()) return;
  if (const auto there = is_still_there(folder, is_postgresql(sql_)); !there) {
    end();
    throw std::runtime_error{there.error().what};
  }
}

void Writing::commit() {
  if (is_postgresql(sql_))
    commit_writing(sql_);
  else
    sql_ << "COMMIT";
  open_ = false;
}

std::int64_t Writing::cache_version() {
  return is_postgresql(sql_) ? store::cache_version(sql_) : data_version(sql_);
}

Writing::~Writing() {
  if (open_) end();
}

void Writing::end() {
  try {
    if (is_postgresql(sql_))
      roll_back(sql_);
    else
      sql_ << "ROLLBACK";
  } catch (const std::exception&) {  // SQLite has rolled back by itself, as after a full disk
    open_ = false;
  }
}

}  // namespace cupel::store
