#include "orchestrator/store/store.h"

#include <fmt/format.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <unistd.h>

#include <cstdlib>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "inventory/node_range.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/schema.h"

namespace cupel::store {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kEvidenceLimit = 256u << 20;

WallTime time_of(std::int64_t count) { return WallTime{milliseconds{count}}; }

/// What is chained: every byte that the event says, and the hash of the one before it.
std::string chained(std::string_view before, RunId run, const Event& event, std::string_view data) {
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", before, run, event.sequence,
                                count_of(event.time), to_string(event.kind), event.node, event.step,
                                data));
}

/// What a run's phase is after the event; nothing if it stays.
std::optional<RunPhase> phase_after(engine::EventKind kind) {
  using engine::EventKind;
  switch (kind) {
    case EventKind::run_resumed:
      return RunPhase::running;
    case EventKind::run_interrupted:
      return RunPhase::interrupted;
    case EventKind::run_cancelled:
      return RunPhase::cancelled;
    case EventKind::run_ended:
      return RunPhase::ended;
    default:
      return std::nullopt;
  }
}

int version_of(soci::session& sql) {
  int tables = 0;
  sql << "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'",
      soci::into(tables);
  if (tables == 0) return 0;
  int version = 0;
  sql << "SELECT version FROM schema_version", soci::into(version);
  return version;
}

Result<void> migrate(soci::session& sql) {
  const int newest = static_cast<int>(migrations().size());
  const int version = version_of(sql);
  if (version > newest)
    return Error{Code::kUnsupported,
                 fmt::format("the store is of version {}, written by a newer Cupel; this one reads "
                             "up to version {}: install the newer one, or name another --state",
                             version, newest)};
  if (version == newest) return ok();
  soci::transaction transaction{sql};
  if (version == 0) {
    sql << "CREATE TABLE schema_version (version INTEGER NOT NULL)";
    sql << "INSERT INTO schema_version VALUES (0)";
  }
  for (int i = version; i < newest; ++i)
    for (const auto statement : migrations()[static_cast<std::size_t>(i)].statements)
      sql << std::string{statement};
  sql << "UPDATE schema_version SET version = :v", soci::use(newest);
  transaction.commit();
  return ok();
}

Run run_of(const soci::row& row) {
  Run run;
  run.id = row.get<int>(0);
  run.playbook = row.get<std::string>(1);
  run.playbook_file = row.get<std::string>(2);
  run.playbook_text = row.get<std::string>(3);
  run.inventory_file = row.get<std::string>(4);
  run.inventory_digest = row.get<std::string>(5);
  run.phase = engine::run_phase(row.get<std::string>(6)).value_or(RunPhase::interrupted);
  run.began = time_of(row.get<long long>(7));
  run.ended = time_of(row.get<long long>(8));
  return run;
}

constexpr std::string_view kRunColumns =
    "SELECT id, playbook, playbook_file, playbook_text, inventory_file, inventory_digest, phase, "
    "began, ended FROM run ";

void read_nodes(soci::session& sql, Run& run) {
  const soci::rowset<std::string> names =
      (sql.prepare << "SELECT node FROM run_node WHERE run = :run ORDER BY place",
       soci::use(run.id));
  run.nodes.assign(names.begin(), names.end());
}

/// "a01-n03 (run 7)" for each node that somebody holds.
std::string held_by_others(soci::session& sql, const Run& run) {
  std::map<RunId, std::vector<std::string>> holders;
  for (const auto& node : run.nodes) {
    int holder = 0;
    sql << "SELECT run FROM node_lock WHERE node = :node", soci::use(node), soci::into(holder);
    if (sql.got_data()) holders[holder].push_back(node);
  }
  std::string text;
  for (const auto& [holder, nodes] : holders)
    text +=
        fmt::format("{}run {} holds {}", text.empty() ? "" : "; ", holder, inventory::fold(nodes));
  if (!holders.empty())
    text += fmt::format(": wait for it, or cupel resume {0}, or cupel cancel {0}",
                        holders.begin()->first);
  return text;
}

void insert_run(soci::session& sql, const Run& run) {
  const auto began = count_of(now());
  sql << "INSERT INTO run (playbook, playbook_file, playbook_text, inventory_file, "
         "inventory_digest, phase, cancel, began, ended) "
         "VALUES (:a, :b, :c, :d, :e, 'running', 0, :f, 0)",
      soci::use(run.playbook), soci::use(run.playbook_file), soci::use(run.playbook_text),
      soci::use(run.inventory_file), soci::use(run.inventory_digest), soci::use(began);
}

void insert_nodes(soci::session& sql, RunId id, const std::vector<std::string>& nodes) {
  int place = 0;
  std::string node;
  soci::statement member =
      (sql.prepare << "INSERT INTO run_node (run, place, node) VALUES (:run, :place, :node)",
       soci::use(id), soci::use(place), soci::use(node));
  soci::statement lock = (sql.prepare << "INSERT INTO node_lock (node, run) VALUES (:node, :run)",
                          soci::use(node), soci::use(id));
  for (const auto& name : nodes) {
    node = name;
    member.execute(true);
    lock.execute(true);
    ++place;
  }
}

void insert_event(soci::session& sql, RunId run, Event& event, std::string_view before) {
  const std::string data = json::serialize(event.data);
  const std::string kind{to_string(event.kind)};
  event.hash = chained(before, run, event, data);
  const auto time = count_of(event.time);
  sql << "INSERT INTO event (run, sequence, time, kind, node, step, data, hash) "
         "VALUES (:run, :seq, :time, :kind, :node, :step, :data, :hash)",
      soci::use(run), soci::use(event.sequence), soci::use(time), soci::use(kind),
      soci::use(event.node), soci::use(event.step), soci::use(data), soci::use(event.hash);
}

/// The run as it is after an event, and its nodes free once it is over.
void move_run(soci::session& sql, RunId run, RunPhase phase, WallTime time) {
  const std::string word{to_string(phase)};
  const bool over = phase == RunPhase::ended || phase == RunPhase::cancelled;
  const auto ended = over ? count_of(time) : 0;
  sql << "UPDATE run SET phase = :phase, ended = :ended WHERE id = :run", soci::use(word),
      soci::use(ended), soci::use(run);
  if (over) sql << "DELETE FROM node_lock WHERE run = :run", soci::use(run);
}

std::filesystem::path evidence_file(const std::filesystem::path& folder, std::string_view hash) {
  return folder / "evidence" / std::string{hash.substr(0, 2)} / std::string{hash};
}

}  // namespace

std::filesystem::path default_folder() {
  if (const char* named = std::getenv("CUPEL_STATE"); named != nullptr && *named != '\0')
    return named;
  if (::geteuid() == 0) return "/var/lib/cupel";
  const char* home = std::getenv("HOME");
  return std::filesystem::path{home == nullptr ? "." : home} / ".local/state/cupel";
}

Store::Store(std::filesystem::path folder, std::unique_ptr<Database> database)
    : folder_{std::move(folder)}, database_{std::move(database)} {}

Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::open(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure)
    return Error{Code::kStorage, fmt::format("cannot make the state folder {}: {}", folder.string(),
                                             failure.message())};
  // Records name machines, addresses and serials: they are not for everybody.
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failure);
  return guarded("cannot open the store in " + folder.string(),
                 [&]() -> Result<std::unique_ptr<Store>> {
                   auto database = std::make_unique<Database>();
                   database->sql.open(soci::sqlite3,
                                      "db=\"" + (folder / "cupel.db").string() + "\" timeout=10");
                   std::string mode;
                   database->sql << "PRAGMA journal_mode = WAL", soci::into(mode);
                   database->sql << "PRAGMA synchronous = FULL";
                   TRY(migrate(database->sql));
                   return std::unique_ptr<Store>{new Store{folder, std::move(database)}};
                 });
}

Result<RunId> Store::begin_run(const Run& run) {
  auto& sql = database_->sql;
  return guarded("cannot write the run", [&]() -> Result<RunId> {
    // IMMEDIATE: of two controllers that want the same nodes, one waits here and then sees the
    // other.
    sql << "BEGIN IMMEDIATE";
    const auto held = held_by_others(sql, run);
    if (!held.empty()) {
      sql << "ROLLBACK";
      return Error{Code::kConflict, held};
    }
    try {
      insert_run(sql, run);
      int id = 0;
      sql << "SELECT last_insert_rowid()", soci::into(id);
      insert_nodes(sql, id, run.nodes);
      sql << "COMMIT";
      return RunId{id};
    } catch (...) {
      sql << "ROLLBACK";
      throw;
    }
  });
}

Result<std::vector<Run>> Store::runs(std::size_t most) const {
  auto& sql = database_->sql;
  return guarded("cannot read the runs", [&]() -> Result<std::vector<Run>> {
    std::vector<Run> found;
    const soci::rowset<soci::row> rows =
        (sql.prepare << std::string{kRunColumns} + "ORDER BY id DESC LIMIT " +
                            std::to_string(most));
    for (const auto& row : rows) found.push_back(run_of(row));
    for (auto& run : found) read_nodes(sql, run);
    return found;
  });
}

Result<Run> Store::run(RunId id) const {
  auto& sql = database_->sql;
  return guarded("cannot read the run", [&]() -> Result<Run> {
    soci::row row;
    sql << std::string{kRunColumns} + "WHERE id = :id", soci::use(id), soci::into(row);
    if (!sql.got_data())
      return Error{Code::kNotFound,
                   fmt::format("there is no run {} in {}: see cupel status", id, folder_.string())};
    auto run = run_of(row);
    read_nodes(sql, run);
    return run;
  });
}

Result<void> Store::append(RunId run, std::span<Event> events) {
  auto& sql = database_->sql;
  return guarded("cannot write the journal in " + folder_.string(), [&]() -> Result<void> {
    soci::transaction transaction{sql};
    long long last = 0;
    std::string before;
    sql << "SELECT sequence, hash FROM event WHERE run = :run ORDER BY sequence DESC LIMIT 1",
        soci::use(run), soci::into(last), soci::into(before);
    if (!sql.got_data()) last = 0;
    const auto time = now();
    for (auto& event : events) {
      event.sequence = ++last;
      event.time = time;
      insert_event(sql, run, event, before);
      before = event.hash;
      if (const auto phase = phase_after(event.kind)) move_run(sql, run, *phase, time);
    }
    transaction.commit();
    return ok();
  });
}

namespace {

/// The rows of `event` in order, without checking the chain.
Result<std::vector<Event>> events_of(const soci::rowset<soci::row>& rows) {
  std::vector<Event> found;
  for (const auto& row : rows) {
    Event event;
    event.sequence = row.get<long long>(0);
    event.time = time_of(row.get<long long>(1));
    const auto kind = engine::event_kind(row.get<std::string>(2));
    if (!kind)
      return Error{Code::kStorage, "the journal holds an event that this Cupel does not know: " +
                                       row.get<std::string>(2)};
    event.kind = *kind;
    event.node = row.get<std::string>(3);
    event.step = row.get<std::string>(4);
    TRY(auto data, parse_json(row.get<std::string>(5)));
    if (data.is_object()) event.data = std::move(data.get_object());
    event.hash = row.get<std::string>(6);
    found.push_back(std::move(event));
  }
  return found;
}

constexpr std::string_view kEventColumns =
    "SELECT sequence, time, kind, node, step, data, hash FROM event WHERE run = :run ";

}  // namespace

Result<std::vector<Event>> Store::events(RunId run, std::string_view node) const {
  auto& sql = database_->sql;
  return guarded("cannot read the journal", [&]() -> Result<std::vector<Event>> {
    const std::string columns{kEventColumns};
    if (node.empty()) {
      const soci::rowset<soci::row> rows =
          (sql.prepare << columns + "ORDER BY sequence", soci::use(run));
      return events_of(rows);
    }
    const std::string name{node};
    const soci::rowset<soci::row> rows =
        (sql.prepare << columns + "AND node = :node ORDER BY sequence", soci::use(run),
         soci::use(name));
    return events_of(rows);
  });
}

Result<std::optional<std::int64_t>> Store::broken_at(RunId run) const {
  auto& sql = database_->sql;
  return guarded("cannot read the journal", [&]() -> Result<std::optional<std::int64_t>> {
    const soci::rowset<soci::row> rows =
        (sql.prepare << std::string{kEventColumns} + "ORDER BY sequence", soci::use(run));
    std::string before;
    std::int64_t expected = 1;
    for (const auto& row : rows) {
      Event event;
      event.sequence = row.get<long long>(0);
      event.time = time_of(row.get<long long>(1));
      event.kind =
          engine::event_kind(row.get<std::string>(2)).value_or(engine::EventKind::run_ended);
      event.node = row.get<std::string>(3);
      event.step = row.get<std::string>(4);
      const auto hash = chained(before, run, event, row.get<std::string>(5));
      if (event.sequence != expected || hash != row.get<std::string>(6))
        return std::optional{expected};
      before = hash;
      ++expected;
    }
    return std::optional<std::int64_t>{};
  });
}

Result<std::vector<RunId>> Store::runs_of(std::string_view node, std::size_t most) const {
  auto& sql = database_->sql;
  return guarded("cannot read the runs", [&]() -> Result<std::vector<RunId>> {
    const std::string name{node};
    const soci::rowset<int> rows =
        (sql.prepare << "SELECT run FROM run_node WHERE node = :node ORDER BY run DESC LIMIT " +
                            std::to_string(most),
         soci::use(name));
    return std::vector<RunId>(rows.begin(), rows.end());
  });
}

Result<void> Store::request_cancel(RunId run) {
  auto& sql = database_->sql;
  return guarded("cannot write the store", [&]() -> Result<void> {
    sql << "UPDATE run SET cancel = 1 WHERE id = :run", soci::use(run);
    return ok();
  });
}

Result<bool> Store::cancel_requested(RunId run) const {
  auto& sql = database_->sql;
  return guarded("cannot read the store", [&]() -> Result<bool> {
    int cancel = 0;
    sql << "SELECT cancel FROM run WHERE id = :run", soci::use(run), soci::into(cancel);
    return cancel != 0;
  });
}

void Store::limit_pages(int pages) {
  database_->sql << "PRAGMA max_page_count = " + std::to_string(pages);
}

Result<std::string> Store::keep_evidence(std::string_view bytes) {
  const auto hash = sha256_hex(bytes);
  const auto file = evidence_file(folder_, hash);
  std::error_code failure;
  if (std::filesystem::exists(file, failure)) return hash;
  std::filesystem::create_directories(file.parent_path(), failure);
  TRY(within("cannot keep evidence", write_file(file, bytes, 0600)));
  return hash;
}

Result<std::string> Store::evidence(std::string_view hash) const {
  constexpr std::size_t kDigits = 64;
  const bool well_formed =
      hash.size() == kDigits && hash.find_first_not_of("0123456789abcdef") == hash.npos;
  if (!well_formed) return Error{Code::kInvalid, "an evidence's name is 64 hexadecimal digits"};
  TRY(auto bytes, read_file(evidence_file(folder_, hash), kEvidenceLimit));
  if (sha256_hex(bytes) != hash)
    return Error{Code::kMalformed, "evidence " + std::string{hash} + " was changed on disk"};
  return bytes;
}

std::optional<std::string> Store::pinned(std::string_view name) {
  auto& sql = database_->sql;
  auto found = guarded("cannot read the pins", [&]() -> Result<std::optional<std::string>> {
    const std::string key{name};
    std::string fingerprint;
    sql << "SELECT fingerprint FROM known_key WHERE name = :name", soci::use(key),
        soci::into(fingerprint);
    return sql.got_data() ? std::optional{fingerprint} : std::nullopt;
  });
  // A store that cannot be read must not look like one that has never seen this name: that would
  // pin whatever answers now. No real fingerprint equals this.
  return found ? std::move(found).assume_value() : std::optional<std::string>{"unreadable store"};
}

void Store::pin(std::string_view name, std::string_view fingerprint) {
  // If it cannot be kept, the next connection asks again; the journal will have failed by then.
  [[maybe_unused]] const auto kept = repin(name, fingerprint);
}

Result<void> Store::repin(std::string_view name, std::string_view fingerprint) {
  auto& sql = database_->sql;
  return guarded("cannot write the pins", [&]() -> Result<void> {
    const std::string key{name};
    const std::string value{fingerprint};
    const auto since = count_of(now());
    sql << "DELETE FROM known_key WHERE name = :name", soci::use(key);
    if (!value.empty())
      sql << "INSERT INTO known_key (name, fingerprint, since) VALUES (:name, :value, :since)",
          soci::use(key), soci::use(value), soci::use(since);
    return ok();
  });
}

}  // namespace cupel::store
