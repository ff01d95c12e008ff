#include "orchestrator/store/store_move.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "orchestrator/store/controller_lock.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/dialect.h"
#include "orchestrator/store/evidence.h"
#include "orchestrator/store/evidence_copy.h"
#include "orchestrator/store/postgresql.h"
#include "orchestrator/store/purpose.h"
#include "orchestrator/store/server_schema.h"

namespace cupel::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNote = "store.moving";
constexpr std::string_view kToFolder = "sqlite\n";
constexpr const char* kDatabase = "cupel.db";
constexpr const char* kHalf = "cupel.db.new";

/// What the note of a move says: where to.
std::string note_of(const std::optional<Server>& to) {
  return to ? to_yaml(*to) : std::string{kToFolder};
}

/// Empty: no move was begun.
Result<std::string> read_note(const fs::path& folder) {
  constexpr std::size_t kLargest = 16u << 10;
  if (!is_there(folder / kNote)) return std::string{};
  return read_file(folder / kNote, kLargest);
}

/// For a command line.
std::string in_words(const std::string& note) {
  if (note == kToFolder) return "sqlite";
  std::vector<inventory::Problem> problems;
  const auto server = parse_server(note, kNote, "/", problems);
  return server ? to_url(*server) : "a server that its note does not name";
}

Error being_moved(const fs::path& folder, const std::string& note) {
  return Error{
      Code::kConflict,
      fmt::format(
          "the store in {0} is being moved, and no command writes to it until that is done: go "
          "on with cupel --state {0} store migrate --to '{1}', or leave it where it is "
          "with cupel --state {0} store migrate --give-up",
          folder.string(), printable(in_words(note)))};
}

Result<void> move_file(const fs::path& from, const fs::path& to) {
  std::error_code failure;
  fs::rename(from, to, failure);
  if (!failure) return ok();
  return Error{Code::kStorage, fmt::format("cannot rename {} to {}: {}", from.string(), to.string(),
                                           failure.message())};
}

/// Where it is to be kept: a name that nothing has yet.
fs::path kept_name(const fs::path& file) {
  auto name = file;
  name += ".moved";
  for (int i = 2; is_there(name); ++i) name = fmt::format("{}.moved-{}", file.string(), i);
  return name;
}

/// Errors: kConflict: it goes elsewhere.
Result<void> same_target(const fs::path& folder, const std::string& note,
                         const std::optional<Server>& to) {
  if (note.empty() || note == note_of(to)) return ok();
  return being_moved(folder, note);
}

struct Sides {
  soci::session from{}, to{};
};

/// Copies the rows and the evidence, reads all of it back, and looks through it.
Result<Moved> copy_all(Sides& sides, const fs::path& folder, const CopyWatcher& watch) {
  Moved moved;
  TRY(migrate(sides.to, folder));
  TRY(copy_tables(sides.from, sides.to, watch));
  TRY(const auto pieces, copy_evidence(sides.from, sides.to, folder, folder, watch));
  moved.evidence = pieces.copied;
  TRY(compare_tables(sides.from, sides.to, watch));
  moved.rows = rows_of_tables(sides.to);
  TRY(moved.checked, check_tables(sides.to, folder));
  return moved;
}

/// What was copied before the note was written may be old.
Result<void> begin_at_server(Sides& sides, const Server& to, const fs::path& folder,
                             const std::string& note, bool& whole) {
  TRY(const auto ground, claim_for_copy(sides.to, to, folder));
  whole = ground == Ground::whole && !note.empty();
  if (ground == Ground::whole && note.empty())
    return Error{Code::kConflict,
                 fmt::format("the schema {0} of the database {1} has a store of this state folder, "
                             "from before: nothing was written; name another schema, or remove "
                             "this one, if it is not needed: {2}",
                             to.schema, to.database, drop_schema_command(to))};
  if (ground == Ground::begun && note.empty()) clear_tables(sides.to);
  if (note.empty()) {
    TRY(write_file(folder / kNote, note_of(to)));
  }
  return ok();
}

Result<Moved> copy_to_server(const Server& to, const fs::path& folder, const std::string& note,
                             const CopyWatcher& watch) {
  Sides sides;
  bool whole = false;
  open_postgresql(sides.to, to, false);
  open_file_session(sides.from, folder / kDatabase, Access::read_write);
  begin_alone(sides.from);
  TRY(begin_at_server(sides, to, folder, note, whole));
  Moved moved;
  if (whole) {
    moved.rows = rows_of_tables(sides.to);
    TRY(moved.checked, check_tables(sides.to, folder));
  } else {
    TRY(moved, copy_all(sides, folder, watch));
    TRY(end_copy(sides.to, folder));
  }
  sides.from << "ROLLBACK";
  return moved;
}

/// The folder names the server from here on.
Result<std::string> leave_file(const Server& to, const fs::path& folder) {
  TRY(write_file(server_file(folder), to_yaml(to)));
  TRY(sync_folder(folder));
  const auto kept = kept_name(folder / kDatabase);
  for (const auto* part : {"-wal", "-shm", ""}) {
    const auto file = folder / (kDatabase + std::string{part});
    if (!is_there(file)) continue;
    TRY(move_file(file, kept.string() + part));
  }
  return kept.string();
}

Result<Moved> to_server(const Server& to, const fs::path& folder, const std::string& note,
                        const CopyWatcher& watch) {
  TRY(const auto now, server_of(folder));
  if (now && (note.empty() || *now != to))
    return Error{Code::kConflict,
                 fmt::format("the store of {} is on a server already, by {}: it goes to another "
                             "one by way of the folder: cupel store migrate --to sqlite",
                             folder.string(), server_file(folder).string())};
  Moved moved;
  if (now) {
    soci::session sql;
    open_postgresql(sql, to, true);
    TRY(moved.checked, check_tables(sql, folder));
    moved.rows = rows_of_tables(sql);
  } else {
    TRY(moved, copy_to_server(to, folder, note, watch));
  }
  if (!is_there(folder / kDatabase)) return moved;
  TRY(moved.before, leave_file(to, folder));
  return moved;
}

/// With the journal that belongs to it.
void remove_half(const fs::path& half) {
  std::error_code failure;
  for (const auto* part : {"-journal", ""}) fs::remove(half.string() + part, failure);
}

/// Empty, or with what a move that was begun has left there; for its owner alone.
Result<void> make_half(const fs::path& half, bool begun) {
  if (!begun) remove_half(half);
  const int made = ::open(half.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (made < 0)
    return Error{Code::kStorage,
                 fmt::format("cannot make {}: {}", half.string(),
                             std::error_code{errno, std::generic_category()}.message())};
  ::close(made);
  return ok();
}

Result<Moved> copy_to_file(const Server& from, const fs::path& folder, const std::string& note,
                           const CopyWatcher& watch) {
  const auto file = folder / kDatabase;
  if (is_there(file))
    return Error{Code::kConflict, fmt::format("{} is there already: nothing was written; move it "
                                              "aside (mv {} {}.before), if it is not needed",
                                              file.string(), file.string(), file.string())};
  Sides sides;
  open_postgresql(sides.from, from, false);
  TRY(prepare_schema(sides.from, from, folder));
  begin_alone(sides.from);
  TRY(make_half(folder / kHalf, !note.empty()));
  if (note.empty()) {
    TRY(write_file(folder / kNote, kToFolder));
  }
  open_file_session(sides.to, folder / kHalf, Access::read_write);
  write_durably(sides.to);
  TRY(auto moved, copy_all(sides, folder, watch));
  roll_back(sides.from);
  return moved;
}

Result<Moved> to_file(const fs::path& folder, const std::string& note, const CopyWatcher& watch) {
  TRY(const auto now, server_of(folder));
  if (!now && note.empty())
    return Error{Code::kConflict,
                 fmt::format("the store of {} is in its folder already", folder.string())};
  Moved moved;
  if (now) {
    TRY(moved, copy_to_file(*now, folder, note, watch));
    const auto kept = kept_name(server_file(folder));
    TRY(move_file(server_file(folder), kept));
    moved.before = kept.string();
  }
  if (is_there(folder / kHalf)) {
    TRY(move_file(folder / kHalf, folder / kDatabase));
  }
  if (now) return moved;
  TRY(moved.checked, check_store(folder));
  return moved;
}

Result<void> end_note(const fs::path& folder) {
  TRY(sync_folder(folder));
  std::error_code failure;
  fs::remove(folder / kNote, failure);
  if (failure)
    return Error{Code::kStorage,
                 fmt::format("cannot remove {}: {}", (folder / kNote).string(), failure.message())};
  return sync_folder(folder);
}

}  // namespace

Result<Moved> move_store(const fs::path& folder, const std::optional<Server>& to,
                         const CopyWatcher& watch) {
  if (!has_store(folder) && !is_there(folder / kNote))
    return Error{Code::kNotFound,
                 fmt::format("there is no store in {}: name its folder with --state. A new one "
                             "begins on a server with cupel serve --store URL",
                             folder.string())};
  TRY(const auto lock, ControllerLock::take(folder));
  TRY(const auto note, read_note(folder));
  TRY(same_target(folder, note, to));
  if (note.empty()) {  // sound, of a version that we know, and brought up to ours
    TRY(const auto store, Store::open(folder));
  }
  auto moved = guarded("cannot move the store in " + folder.string(), [&] {
    return to ? to_server(*to, folder, note, watch) : to_file(folder, note, watch);
  });
  // What has a row that cannot be moved stays where it is.
  const bool cannot = !moved && moved.error().code == Code::kInvalid;
  if (moved || (cannot && is_there(folder / kNote))) {
    TRY(end_note(folder));
  }
  if (!moved && moved.error().code == Code::kMalformed && is_there(folder / kNote))
    return Error{
        Code::kMalformed,
        moved.error().what + ": give it up with cupel store migrate --give-up, and begin again"};
  return moved;
}

Result<std::string> give_up_move(const fs::path& folder) {
  TRY(const auto lock, ControllerLock::take(folder));
  TRY(const auto note, read_note(folder));
  if (note.empty())
    return Error{Code::kNotFound, fmt::format("no move of {} was begun", folder.string())};
  const bool to_folder = note == kToFolder;
  if (is_there(server_file(folder)) != to_folder)
    return Error{Code::kConflict, "the move is done but for names: it cannot be given up. " +
                                      being_moved(folder, note).what};
  if (to_folder) remove_half(folder / kHalf);
  TRY(end_note(folder));
  if (to_folder) return std::string{};
  std::vector<inventory::Problem> problems;
  const auto server = parse_server(note, kNote, "/", problems);
  if (!server) return std::string{};
  return drop_schema_command(*server);
}

Result<void> is_not_moved(const fs::path& folder) {
  TRY(const auto note, read_note(folder));
  if (note.empty()) return ok();
  return being_moved(folder, note);
}

Result<void> is_still_there(const fs::path& folder, bool on_server) {
  // The note goes last: where it is gone again, store.yaml says where the store is.
  TRY(is_not_moved(folder));
  if (is_there(server_file(folder)) == on_server) return ok();
  return Error{
      Code::kConflict,
      fmt::format("the store in {} was moved while this was at work, and nothing of it was "
                  "written: do it again",
                  folder.string())};
}

}  // namespace cupel::store
