#include "orchestrator/store/backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/file.h"
#include "base/ownership.h"
#include "base/paths.h"
#include "orchestrator/store/certificate_note.h"
#include "orchestrator/store/chain_heads.h"
#include "orchestrator/store/controller_lock.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/dialect.h"
#include "orchestrator/store/evidence_copy.h"
#include "orchestrator/store/modes.h"
#include "orchestrator/store/postgresql.h"
#include "orchestrator/store/purpose.h"
#include "orchestrator/store/server_schema.h"
#include "orchestrator/store/store_move.h"
#include "orchestrator/store/table_copy.h"

namespace cupel::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDatabase = "cupel.db";
constexpr const char* kEvidence = "evidence";
constexpr const char* kConsoles = "evidence/console";
constexpr std::string_view kBackupMark = "BACKUP";
constexpr std::string_view kBackupNote =
    "This folder is a backup of a Cupel state folder: bring it back with cupel restore FOLDER\n";

Error not_copied(const fs::path& file, const std::error_code& why) {
  return Error{Code::kStorage, fmt::format("cannot copy {}: {}", file.string(), why.message())};
}

bool lies_in(const fs::path& inner, const fs::path& outer) {
  const auto relative = inner.lexically_relative(outer);
  return !relative.empty() && *relative.begin() != "..";
}

/// Neither folder may be the other, or lie in it. Errors: kInvalid.
Result<void> apart(const fs::path& one, const fs::path& other) {
  std::error_code failure;
  const auto first = fs::weakly_canonical(absolute_path(one), failure);
  const auto second = fs::weakly_canonical(absolute_path(other), failure);
  if (!lies_in(first, second) && !lies_in(second, first)) return ok();
  return Error{Code::kInvalid,
               fmt::format("{} and {} are not two folders apart: a copy belongs on another disk",
                           one.string(), other.string())};
}

/// Made where it is missing. Errors: kInvalid: it holds something that is no backup; kStorage.
Result<void> prepare_backup(const fs::path& to) {
  std::error_code failure;
  make_private_folder(to);
  TRY(within("the backup's folder", check_ownership(to)));
  const bool empty = fs::is_empty(to, failure);
  if (failure)
    return Error{Code::kStorage,
                 fmt::format("cannot use {} for a backup: {}", to.string(), failure.message())};
  if (!empty && !fs::exists(to / kBackupMark, failure))
    return Error{Code::kInvalid, fmt::format("{} holds something that is no backup of Cupel: name "
                                             "an empty folder, or one that a backup was made to",
                                             to.string())};
  return write_file(to / kBackupMark, kBackupNote, 0600);
}

/// A descriptor of its own, closed at the end.
class Opened {
 public:
  Opened(const fs::path& file, int flags) : fd_{::open(file.c_str(), flags | O_CLOEXEC, 0600)} {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

/// Into a new file, never into one that somebody has put there, nor through a link.
Result<std::uintmax_t> copy_bytes(const fs::path& from, const fs::path& to) {
  constexpr std::size_t kPiece = 1u << 20;
  const auto failed = [&] { return not_copied(from, {errno, std::generic_category()}); };
  const Opened in{from, O_RDONLY | O_NOFOLLOW};
  const Opened out{to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW};
  if (in.fd() < 0 || out.fd() < 0) return failed();
  std::uintmax_t all = 0;
  for (std::vector<char> piece(kPiece);;) {
    const auto have = ::read(in.fd(), piece.data(), piece.size());
    if (have < 0) return failed();
    if (have == 0) return all;
    for (ssize_t done = 0; done < have;) {
      const auto written =
          ::write(out.fd(), piece.data() + done, static_cast<std::size_t>(have - done));
      if (written < 0) return failed();
      done += written;
    }
    all += static_cast<std::uintmax_t>(have);
  }
}

/// Whole or not at all: a reader of the copy never sees half a file.
Result<void> copy_whole(const fs::path& from, const fs::path& to, Copied& copied) {
  auto half = to;
  half += ".new";
  std::error_code failure;
  fs::remove(half, failure);
  auto bytes = copy_bytes(from, half);
  if (bytes) fs::rename(half, to, failure);
  if (!bytes || failure) fs::remove(half, failure);
  if (!bytes) return std::move(bytes).error();
  if (failure) return not_copied(from, failure);
  copied.bytes += *bytes;
  return ok();
}

bool same_size(const fs::path& one, const fs::path& other) {
  std::error_code failure;
  const auto first = fs::file_size(one, failure);
  if (failure) return false;
  const auto second = fs::file_size(other, failure);
  return !failure && first == second;
}

/// One file of evidence, or a console's record, which grows.
Result<void> copy_kept_file(const fs::path& from, const fs::path& to, Copied& copied) {
  if (same_size(from, to)) {
    ++copied.present;
    return ok();
  }
  TRY(copy_whole(from, to, copied));
  ++copied.files;
  return ok();
}

/// Made, or there before, and no link to elsewhere.
Result<void> own_folder(const fs::path& folder) {
  std::error_code failure;
  make_private_folder(folder);
  const auto found = fs::symlink_status(folder, failure);
  if (found.type() == fs::file_type::directory) return ok();
  return Error{Code::kStorage, folder.string() + " is no folder of the backup: move it aside"};
}

/// A file that another process has removed meanwhile is not missed here: check_store() misses it.
Result<void> copy_folder(const fs::path& state, const fs::path& to, const char* folder,
                         Copied& copied) {
  const auto root = state / folder;
  std::error_code gone;
  TRY(own_folder(to / folder));
  Result<void> whole;
  const auto copy = [&](const fs::directory_entry& entry) {
    const auto target = to / folder / entry.path().lexically_relative(root);
    if (!whole || entry.is_symlink(gone)) return;
    if (entry.is_directory(gone)) {
      whole = own_folder(target);
      return;
    }
    const bool half_written = entry.path().filename().string().find(".new") != std::string::npos;
    if (half_written || !entry.is_regular_file(gone)) return;
    auto done = copy_kept_file(entry.path(), target, copied);
    if (!done && is_there(entry.path())) whole = std::move(done);
  };
  const auto failure = each_entry_below(root, copy);
  if (whole && failure && is_there(root)) return not_copied(root, failure);
  return whole;
}

/// Whole, in the place of an earlier one.
Result<void> put_database(const fs::path& half, const fs::path& to) {
  std::error_code failure;
  fs::permissions(half, fs::perms::owner_read | fs::perms::owner_write, failure);
  for (const auto* beside : {"cupel.db-wal", "cupel.db-shm"}) fs::remove(to / beside, failure);
  fs::rename(half, to / kDatabase, failure);
  if (failure) return not_copied(half, failure);
  return ok();
}

/// One snapshot of the database, whatever a controller writes meanwhile. Source: SQLite, "VACUUM",
/// "VACUUM with an INTO clause": the output is a consistent copy.
Result<void> copy_file_of_database(const fs::path& state, const fs::path& half) {
  std::error_code failure;
  fs::remove(half, failure);
  const auto done = guarded("cannot copy the database", [&]() -> Result<void> {
    soci::session sql;
    open_session(sql, state, Access::read_only);
    TRY(not_newer(version_of(sql)));
    const auto name = half.string();
    sql << "VACUUM INTO :name", soci::use(name);
    return ok();
  });
  if (!done) fs::remove(half, failure);
  return done;
}

Result<void> copy_database(const fs::path& state, const fs::path& to, Copied& copied) {
  const auto half = to / "cupel.db.new";
  TRY(copy_file_of_database(state, half));
  std::error_code failure;
  copied.bytes += fs::file_size(half, failure);
  return put_database(half, to);
}

void add(const EvidenceCopied& pieces, Copied& copied) {
  copied.files += pieces.copied;
  copied.present += pieces.present;
  copied.bytes += pieces.bytes;
}

/// The rows of one snapshot of a server's tables, as a file of SQLite's.
Result<void> copy_tables_to_file(soci::session& from, const fs::path& file) {
  soci::session to;
  open_file_session(to, file, Access::read_write);
  to << "PRAGMA synchronous = OFF";  // all of it is synced in the end
  TRY(migrate(to, file.parent_path()));
  TRY(copy_tables(from, to, {}));
  return compare_tables(from, to, {});
}

/// The same of a store on a server, and its evidence as files.
Result<void> copy_from_server(const fs::path& state, const fs::path& to, Copied& copied) {
  // Of a version that we know, and brought up to ours.
  {
    TRY(const auto store, Store::open(state));
  }
  const auto half = to / "cupel.db.new";
  std::error_code failure;
  for (const auto* part : {"-journal", ""}) fs::remove(half.string() + part, failure);
  TRY(guarded("cannot copy the database", [&]() -> Result<void> {
    soci::session from;
    open_session(from, state, Access::read_only);
    begin_snapshot(from);
    TRY(copy_tables_to_file(from, half));
    soci::session files;  // SQLite's way of evidence
    open_file_session(files, half, Access::read_only);
    TRY(own_folder(to / kEvidence));
    TRY(const auto pieces, copy_evidence(from, files, state, to, {}));
    add(pieces, copied);
    return ok();
  }));
  copied.bytes += fs::file_size(half, failure);
  return put_database(half, to);
}

/// The rows of a backup's database in a server's schema, which must be empty, and its evidence.
Result<void> copy_to_server(const Server& server, const fs::path& from, const fs::path& state,
                            Copied& copied) {
  const auto file = state / "cupel.db.new";
  TRY(copy_file_of_database(from, file));
  const auto done = guarded("cannot copy the database", [&]() -> Result<void> {
    soci::session rows, to;
    open_file_session(rows, file, Access::read_write);
    TRY(migrate(rows, from));
    open_postgresql(to, server, false);
    TRY(const auto ground, claim_for_copy(to, server, state));
    if (ground == Ground::whole)
      return Error{Code::kConflict,
                   fmt::format("the schema {0} of the database {1} holds records already: name "
                               "another one in {2}, or remove this one, if it is not needed: {3}",
                               server.schema, server.database, server_file(state).string(),
                               drop_schema_command(server))};
    if (ground == Ground::begun) clear_tables(to);
    TRY(migrate(to, from));
    TRY(copy_tables(rows, to, {}));
    TRY(compare_tables(rows, to, {}));
    TRY(const auto pieces, copy_evidence(rows, to, from, state, {}));
    add(pieces, copied);
    return end_copy(to, state);
  });
  std::error_code failure;
  copied.bytes += fs::file_size(file, failure);
  for (const auto* part : {"", "-journal", "-wal", "-shm"})
    fs::remove(file.string() + part, failure);
  return done;
}

/// By these notes the runs that a certificate refers to are not pruned.
Result<void> copy_certificate_notes(const fs::path& state, const fs::path& to, Copied& copied) {
  std::error_code failure;
  if (!fs::exists(state / kCertificateFolder, failure)) return ok();
  Copied notes;
  TRY(copy_folder(state, to, kCertificateFolder, notes));
  copied.bytes += notes.bytes;
  return ok();
}

/// Of evidence; of consoles alone where the pieces are in a table, or came from one.
Result<void> copy_files(const fs::path& state, const fs::path& to, bool consoles_alone,
                        Copied& copied) {
  if (!consoles_alone) return copy_folder(state, to, kEvidence, copied);
  TRY(own_folder(to / kEvidence));
  if (!is_there(state / kConsoles)) return ok();
  return copy_folder(state, to, kConsoles, copied);
}

/// All that was written to the folder's file system is on its disk. Errors: kStorage.
Result<void> make_durable(const fs::path& folder) {
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = opened >= 0 && ::syncfs(opened) == 0;
  if (opened >= 0) ::close(opened);
  if (synced) return ok();
  return not_copied(folder, std::error_code{errno, std::generic_category()});
}

/// The mark of a rehearsal goes first: its records never look like those of real machines. `kept`
/// are the heads that an earlier backup had.
Result<Copied> copy_store(const fs::path& state, const fs::path& to,
                          const std::optional<ChainHeads>& kept) {
  Copied copied{.compared = kept.has_value()};
  if (purpose_of(state) == Purpose::rehearsal) {
    TRY(keep_for_rehearsals(to));
  }
  TRY(const auto from, server_of(state));
  TRY(const auto server, server_of(to));
  if (from) {
    TRY(copy_from_server(state, to, copied));
  } else if (server) {
    TRY(copy_to_server(*server, state, to, copied));
  } else {
    TRY(copy_database(state, to, copied));
  }
  TRY(copy_files(state, to, from || server, copied));
  TRY(copy_certificate_notes(state, to, copied));
  TRY(make_durable(to));
  TRY(copied.checked, check_store(to, {}, kept.value_or(ChainHeads{})));
  return copied;
}

/// Heads of a broken copy do not replace those of an intact one, which show what was cut off.
Result<void> keep_heads(const fs::path& to, const Copied& copied) {
  if (copied.compared && !copied.checked.faults.empty()) return ok();
  TRY(write_file(to / kHeadsFile, heads_text({copied.checked.audit, copied.checked.journals}),
                 0600));
  return sync_folder(to);
}

}  // namespace

Result<Copied> back_up(const fs::path& state, const fs::path& to) {
  if (!has_store(state))
    return Error{Code::kNotFound,
                 fmt::format("there is no store in {}: name one with --state", state.string())};
  TRY(apart(state, to));
  TRY(prepare_backup(to));
  TRY(const auto earlier, heads_in(to));
  TRY(auto copied, copy_store(state, to, earlier));
  TRY(keep_heads(to, copied));
  return copied;
}

Result<Copied> restore(const fs::path& from, const fs::path& state) {
  std::error_code failure;
  const bool is_backup =
      fs::exists(from / kBackupMark, failure) && fs::exists(from / kDatabase, failure);
  if (failure)
    return Error{Code::kInvalid, fmt::format("{} cannot be read as {}: {}", from.string(),
                                             name_of_user(::geteuid()), failure.message())};
  if (!is_backup)
    return Error{Code::kNotFound,
                 fmt::format("{} is no backup; make one with cupel backup FOLDER", from.string())};
  TRY(apart(from, state));
  for (const auto* part : {"", kDatabase, kEvidence, kCertificateFolder, kHeadsFile.data()}) {
    TRY(within("the backup", check_ownership(from / part)));
  }
  TRY(const auto kept, within("the backup", heads_in(from)));
  fs::create_directories(state.parent_path(), failure);
  make_private_folder(state);
  TRY(const auto lock, ControllerLock::take(state));
  TRY(is_not_moved(state));
  TRY(const auto server, server_of(state));
  if (server) return copy_store(from, state, kept);  // which takes an empty schema alone
  const bool holds_store = fs::exists(state / kDatabase, failure);
  if (purpose_of(state) == Purpose::site ||
      (holds_store && purpose_of(state) == Purpose::rehearsal))
    return Error{Code::kConflict,
                 fmt::format("{} holds records already: move it aside (mv {} {}.before), or name "
                             "another folder with --state",
                             state.string(), state.string(), state.string())};
  return copy_store(from, state, kept);
}

}  // namespace cupel::store
