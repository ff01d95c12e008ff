#pragma once
// What the files of the store share: the connection, its statements, and the border where SOCI's
// exceptions end. For nobody else: SOCI stays behind store.h.
#include <fmt/format.h>
#include <soci/soci.h>

#include <map>

#include "orchestrator/engine/clock.h"
#include "orchestrator/store/store.h"

namespace cupel::store {

inline WallTime now() {
  return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}
inline std::int64_t count_of(WallTime time) { return time.time_since_epoch().count(); }
inline WallTime time_of(std::int64_t count) { return WallTime{std::chrono::milliseconds{count}}; }

/// An event as the table has it.
struct EventRow {
  std::int64_t sequence = 0;
  std::int64_t time = 0;
  std::string kind{};
  std::string node{};
  std::string step{};
  std::string data{};
  std::string hash{};
};

/// What is chained: every byte that the event says, and the hash of the one before it.
std::string chained(std::string_view before, RunId run, const EventRow& row);

/// Why what stands there cannot be read, though it is what was written: no UTF-8, no JSON. Nothing
/// if it can.
std::optional<std::string> unreadable(const EventRow& row);

/// The first event of a run on which nothing can be built.
struct Damage {
  std::int64_t sequence = 0;
  std::string what{};
};

/// Whether a run with this word for its phase is over.
inline bool is_over(std::string_view phase) {
  return phase == to_string(RunPhase::ended) || phase == to_string(RunPhase::cancelled);
}

/// What is wrong where a run is over by its row, and its newest events do not say so. They were cut
/// off, with verdicts in them perhaps. Nothing where they agree, or the run is not over.
std::optional<std::string> missing_end(std::string_view phase,
                                       std::optional<engine::RunPhase> by_events);

/// Nothing if its chain is whole, all of it can be read, and that of a run that is over has its
/// end; one that a person has repaired need not have it. Throws what SOCI throws.
std::optional<Damage> damage_of(soci::session& sql, RunId run);

/// The rows of a run behind `after`, in order, one at a time; of one node and of the run as a whole
/// where `node` is not empty. Throws what SOCI throws.
class EventRows {
 public:
  EventRows(soci::session& sql, RunId run, std::int64_t after = 0, std::string_view node = {});
  /// nullptr behind the last.
  const EventRow* next();

 private:
  RunId run_;
  std::int64_t after_;
  std::string node_;
  EventRow row_{};
  std::size_t fetched_ = 0;  // of those asked for at a time
  soci::statement statement_;
};

/// A snapshot as the table has it, and the hash that its event has now: empty if there is none.
struct SnapshotRow {
  RunId run = 0;
  std::int64_t sequence = 0;
  std::string event_hash{};
  std::string state{};
  std::string hash{};
  std::string stands_on{};
};

/// Whether it is what was written, and stands on the event that it was made behind.
bool is_whole(const SnapshotRow& row);

/// Of one run, newest first. Throws what SOCI throws.
class SnapshotRows {
 public:
  SnapshotRows(soci::session& sql, RunId run);
  /// nullptr behind the last.
  const SnapshotRow* next();

 private:
  RunId run_;
  SnapshotRow row_{};
  soci::statement statement_;
};

/// The INSERT of an event, prepared once.
struct InsertEvent {
  explicit InsertEvent(soci::session& sql);
  RunId run = 0;
  EventRow row{};
  soci::statement statement;
};

/// Where the chain of a run ends.
struct Tip {
  std::int64_t sequence = 0;
  std::string hash{};
};

class MeasurementTable;

struct Store::Database {
  Database();
  ~Database();
  soci::session sql;
  const engine::Clock* clock = nullptr;
  // The ends of the chains, right for as long as `version` is Writing's cache_version().
  std::map<RunId, Tip> tips{};
  std::int64_t version = -1;
  std::unique_ptr<InsertEvent> insert{};
  std::unique_ptr<MeasurementTable> measurements{};  // as `tips`

  WallTime wall() const { return clock == nullptr ? now() : clock->wall(); }
};

/// A transaction that will write. Of two processes one waits here, and then sees what the other
/// wrote. Rolled back unless it was committed.
class Writing {
 public:
  /// Throws what SOCI throws, and std::runtime_error where the store is being moved or was moved
  /// since the session was opened (store_move.h): what would be written would be lost.
  explicit Writing(soci::session& sql);
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  ~Writing();
  void commit();
  /// Stays the same for as long as what was cached of the store or prepared for it holds: no other
  /// connection has written, and this one was not lost.
  std::int64_t cache_version();

 private:
  void end();  // rolls back
  soci::session& sql_;
  bool open_ = true;
};

/// The schema's version; 0: it is empty.
int version_of(soci::session& sql);
/// Errors: kUnsupported: a newer Cupel wrote it.
Result<void> not_newer(int version);
/// To the newest version, or not at all; `folder` has the evidence. Errors: kUnsupported.
Result<void> migrate(soci::session& sql, const std::filesystem::path& folder);

enum class Access { read_write, read_only };

/// A connection of its own to the store of the state folder, as patient as the store's own. Throws
/// what SOCI throws, and std::runtime_error where store.yaml is no way to it, or who would write
/// comes while the store is moved (store_move.h).
void open_session(soci::session& sql, const std::filesystem::path& folder,
                  Access access = Access::read_write);

/// To a file of SQLite's, wherever it lies.
void open_file_session(soci::session& sql, const std::filesystem::path& file, Access access);

struct Repair;
/// The newest of each run. Throws what SOCI throws. In repair.cpp.
std::map<RunId, Repair> read_repairs(soci::session& sql);

/// What went wrong, and what a person does about it.
Error storage_error(std::string_view what, std::string_view fault);
Error storage_error(std::string_view what, const std::exception& fault);

/// SOCI throws; nothing above the store does. A full disk, a read-only one and a broken database
/// all mean the same to the engine: nothing can be written down, so nothing may be done.
template <class Verb>
auto guarded(std::string_view what, Verb verb) -> decltype(verb()) {
  try {
    return verb();
  } catch (const std::exception& fault) {
    return storage_error(what, fault);
  }
}

}  // namespace cupel::store
