#include "orchestrator/store/check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/json.h"
#include "base/paths.h"
#include "base/readable_json.h"
#include "base/text.h"
#include "orchestrator/engine/fold.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/dialect.h"
#include "orchestrator/store/evidence.h"
#include "orchestrator/store/measurements.h"
#include "orchestrator/store/purpose.h"
#include "orchestrator/store/repair.h"
#include "orchestrator/store/run_row_check.h"
#include "orchestrator/store/schema.h"
#include "orchestrator/store/token_check.h"

namespace cupel::store {
namespace {

namespace fs = std::filesystem;

bool is_same_number(double one, double other) {
  return one == other || std::abs(one - other) <= read_back_error(one, other);
}

constexpr const char* kKeepACopy =
    "copy the whole folder away before anything else, then put cupel.db back from a backup, or "
    "save what can be read with sqlite3's .recover";
constexpr const char* kNotTrusted =
    "what stands there was changed behind Cupel's back or by a bad disk: no proof rests on it from "
    "there on; put it back from a backup, or run the nodes again";

class Check {
 public:
  Check(const fs::path& folder, soci::session& sql, int version,
        const std::vector<ChainHeads>& kept)
      : folder_{folder}, sql_{sql}, version_{version}, numbers_{sql, folder} {
    for (const auto& heads : kept) {
      // A backup's own are often those that its caller kept, too: one fault each.
      if (heads.audit.sequence > 0 &&
          std::ranges::find(kept_audit_, heads.audit) == kept_audit_.end())
        kept_audit_.push_back(heads.audit);
      for (const auto& each : heads.journals) kept_.try_emplace({each.run, each.events}, each.hash);
    }
  }

  void database() {
    for (const auto& line : faults_of_database(sql_)) add("cupel.db", line, kKeepACopy);
  }

  void runs() {
    std::vector<std::pair<RunId, std::string>> found;
    {
      RunId id = 0;
      std::string phase;
      soci::statement rows =
          (sql_.prepare << "SELECT id, phase FROM run UNION SELECT run, 'missing' FROM event WHERE "
                           "run NOT IN (SELECT id FROM run) ORDER BY 1",
           soci::into(id), soci::into(phase));
      rows.execute();
      while (rows.fetch()) found.emplace_back(id, phase);
    }
    for (const auto& [id, phase] : found) {
      const auto where = fmt::format("run {}", id);
      if (is_over(phase)) over_.insert(id);
      if (!engine::run_phase(phase))
        add(where, fmt::format("its phase is '{}', which there is not", phase), kNotTrusted);
      readable(where, [&] { chain(id, phase); });
      ++checked_.runs;
    }
  }

  /// Numbers are given in order and to one run each, and a removal is recorded: one that is nowhere
  /// was taken out whole, or never reached the database, which SQLite does not do by itself.
  void missing_runs() {
    constexpr const char* kAdvice =
        "a removal by command would be recorded (cupel store prune): put it back from a backup";
    // A copy of one run begins there: see begin_numbers_at().
    RunId last = 0;
    sql_ << "SELECT COALESCE(MAX(run), 0) FROM pruned WHERE at = 0", soci::into(last);
    const soci::rowset<long long> numbers =
        (sql_.prepare << "SELECT id FROM run UNION SELECT run FROM event UNION SELECT run FROM "
                         "pruned UNION SELECT run FROM repair ORDER BY 1");
    for (const RunId number : numbers) {
      if (number > last + 1)
        add(runs_named(last + 1, number - 1), "missing, and not removed by cupel store prune",
            kAdvice);
      last = std::max(last, number);
    }
    const RunId newest_kept = kept_.empty() ? 0 : kept_.rbegin()->first.first;
    if (newest_begun_ > last)
      add(runs_named(last + 1, newest_begun_), "missing, though the audit log names what was begun",
          kAdvice);
    if (newest_kept > std::max(last, newest_begun_))
      add(runs_named(std::max(last, newest_begun_) + 1, newest_kept),
          "missing, though the hash of its journal was kept", kAdvice);
  }

  /// Nodes that nobody can use, and nobody will release.
  void locks() {
    std::string node;
    RunId run = 0;
    soci::statement rows =
        (sql_.prepare << "SELECT node, run FROM node_lock WHERE run NOT IN (SELECT id FROM run "
                         "WHERE phase NOT IN ('ended', 'cancelled')) ORDER BY node",
         soci::into(node), soci::into(run));
    rows.execute();
    while (rows.fetch())
      add("node " + node, fmt::format("it is held by run {}, which is over", run),
          fmt::format("free it with: cupel store repair {}", run));
  }

  void repairs() { repairs_ = read_repairs(sql_); }

  /// The newest run that the service has begun, as its audit log says.
  void begun() {
    const soci::rowset<std::string> rows =
        (sql_.prepare << "SELECT data FROM audit WHERE what LIKE '%-done'");
    for (const auto& row : rows) {
      const auto data = parse_json(row);
      const auto run = data ? number_at(*data, "run") : std::nullopt;
      if (run && *run > 0 && *run < 1e9)
        newest_begun_ = std::max(newest_begun_, static_cast<RunId>(*run));
    }
  }

  void tokens() {
    for (auto& fault : token_faults(sql_))
      add(std::move(fault.where), std::move(fault.what), std::move(fault.advice));
  }

  void audit() {
    const auto chain = audit_chain(sql_);
    checked_.audit = chain.head;
    if (chain.broken_at)
      return add(fmt::format("audit log, entry {}", *chain.broken_at),
                 "it is missing, or not what was written: the chain breaks there",
                 "who did what from there on is not proven: put it back from a backup");
    for (const auto& kept : kept_audit_)
      if (!audit_chain(sql_, kept).has_kept)
        add(fmt::format("audit log, entry {}", kept.sequence),
            "it is not the one whose hash was kept: the log was cut or made anew",
            "who did what is not proven: put it back from a backup");
  }

  void snapshots() {
    const soci::rowset<long long> runs =
        (sql_.prepare << "SELECT DISTINCT run FROM snapshot ORDER BY run");
    for (const RunId run : std::vector<RunId>(runs.begin(), runs.end())) {
      SnapshotRows rows{sql_, run};
      while (const auto* row = rows.next()) snapshot(*row);
    }
  }

  void evidence() {
    std::set<std::string> in_table;
    each_evidence_row(sql_, [&](const EvidenceRow& row) {
      piece(row.hash);
      in_table.insert(row.hash);
    });
    each_evidence_file(folder_, [&](const fs::path&, const std::string& hash) {
      if (!in_table.contains(hash)) piece(hash);
    });
    for (const auto& [hash, named_by] : named_)
      add("evidence " + hash, "it is missing, though " + named_by + " names it",
          "put it back from a backup, or run that step again");
  }

  /// Damage that SQLite finds by itself on the way is a finding and no error.
  template <class Verb>
  void readable(const std::string& where, Verb verb) {
    try {
      verb();
    } catch (const std::exception& fault) {
      const std::string_view message = fault.what();
      if (message.find("malformed") == message.npos &&
          message.find("not a database") == message.npos)
        throw;
      add(where, std::string{message}, kKeepACopy);
    }
  }

  Checked checked() && { return std::move(checked_); }

 private:
  void snapshot(const SnapshotRow& row) {
    ++checked_.snapshots;
    if (!is_whole(row))
      add(fmt::format("run {}, snapshot at event {}", row.run, row.sequence),
          "it is not what was written, or its event is not",
          "nothing need be done: a resume passes it over and replays from the one before it");
  }

  void add(std::string where, std::string what, std::string advice) {
    if (checked_.faults.size() < kMostFaults)
      checked_.faults.push_back({std::move(where), std::move(what), std::move(advice)});
  }

  static std::string runs_named(RunId first, RunId last) {
    return first == last ? fmt::format("run {}", first) : fmt::format("runs {} to {}", first, last);
  }

  void chain(RunId run, std::string_view phase) {
    std::string before;
    std::int64_t expected = 1;
    std::optional<engine::RunPhase> by_events;
    auto table = version_ >= kMeasurementsSince ? table_values(sql_, run) : Values{};
    EventRows rows{sql_, run};
    while (const auto* row = rows.next()) {
      const auto where = fmt::format("run {}, event {}", run, expected);
      if (row->sequence != expected)
        return add_damage(run, expected, "it is missing: the chain breaks there");
      if (chained(before, run, *row) != row->hash)
        return add_damage(run, expected, "it is not what was written: the chain breaks there");
      const auto kept = kept_.find({run, expected});
      if (kept != kept_.end() && kept->second != row->hash)
        return add_damage(run, expected,
                          "it is not the one whose hash was kept: the journal was made anew");
      if (!engine::event_kind(row->kind))
        add(where, fmt::format("its kind '{}' is not known to this Cupel", row->kind),
            "a newer Cupel wrote it: use that one");
      if (const auto why = unreadable(*row))
        add_damage(run, expected, "it is what was written, and cannot be read: " + *why);
      note_evidence_of(where, *row);
      if (expected == 1) hold_row_against(run, *row);
      if (const auto kind = engine::event_kind(row->kind))
        if (const auto after = engine::phase_after(*kind)) by_events = after;
      if (version_ >= kMeasurementsSince) hold_against(table, where, *row);
      before = row->hash;
      ++expected;
      ++checked_.events;
    }
    const auto cut = kept_.lower_bound({run, expected});
    if (cut != kept_.end() && cut->first.first == run)
      return add_damage(run, expected,
                        "it is missing, though the hash of a later one was kept: the journal's end "
                        "was cut off");
    if (expected > 1) checked_.journals.push_back({run, expected - 1, before});
    if (const auto what = missing_end(phase, by_events))
      if (!repairs_.contains(run)) add_damage(run, expected, *what);
    for (const auto& [sequence, values] : table)
      add_measurement_fault(fmt::format("run {}, event {}", run, sequence));
  }

  /// Who changes the row has a resume work on other nodes, or by another playbook.
  void hold_row_against(RunId run, const EventRow& first) {
    if (first.kind != to_string(engine::EventKind::run_started)) return;
    const auto started = parse_json(first.data);
    const auto changed = started ? changed_in_row(sql_, run, *started) : std::string{};
    if (!changed.empty())
      add(fmt::format("run {}", run), changed + ": not what its first event says",
          "its journal holds, and a resume would go by what was changed: put the database back "
          "from a backup");
  }

  using Values = std::map<std::int64_t, std::vector<double>>;

  /// What the table of measurements has of this event must be what the event says; it is taken out
  /// of `table`.
  void hold_against(Values& table, const std::string& where, const EventRow& row) {
    const auto found = table.extract(row.sequence);
    const auto values = found.empty() ? std::vector<double>{} : found.mapped();
    if (values.empty() && row.kind != to_string(engine::EventKind::step_ended)) return;
    const auto data = parse_json(row.data);
    if (!data || !data->is_object()) return;
    std::vector<double> written;
    for (const auto& each : numbers_.of(row, data->get_object())) written.push_back(each.value);
    if (!std::ranges::equal(written, values, is_same_number)) add_measurement_fault(where);
  }

  void add_measurement_fault(const std::string& where) {
    add(where, "the table of measurements is not what the journal says",
        "reports are made of the journal and hold; do not trust queries over measurements of this "
        "run");
  }

  /// Of a run that is not over, what frees its nodes. Of one that somebody repaired, that it is
  /// known; unless it was damaged anew, before what was known then.
  void add_damage(RunId run, std::int64_t sequence, const std::string& what) {
    const auto where = fmt::format("run {}, event {}", run, sequence);
    const auto repair = repairs_.find(run);
    const bool known = repair != repairs_.end() && repair->second.damaged_at > 0 &&
                       sequence >= repair->second.damaged_at;
    if (known && checked_.repaired.size() < kMostFaults)
      return checked_.repaired.push_back({where, what, in_words(repair->second)});
    if (!known)
      add(where, what,
          over_.contains(run)
              ? kNotTrusted
              : fmt::format("{}; the run gets an end, and its nodes are free, with: "
                            "cupel store repair {}",
                            kNotTrusted, run));
  }

  /// Also what a document names that several nodes share.
  void note_evidence_of(const std::string& where, const EventRow& row) {
    if (row.data.find("\"evidence\"") == row.data.npos) return;
    const auto data = parse_json(row.data);
    if (!data) return;
    std::set<std::string> found;
    note_evidence(*data, found);
    const auto* object = data->if_object();
    if (object != nullptr && object->contains("together")) {
      const auto document = text_at(*data, "evidence").value_or("");
      if (is_evidence_name(document) && documents_.insert(document).second)
        if (const auto bytes = read_evidence(sql_, folder_, document))
          if (const auto parts = parse_json(*bytes)) note_evidence(*parts, found);
    }
    for (const auto& hash : found) named_.try_emplace(hash, where);
  }

  void piece(std::string_view hash) {
    const std::string name{hash};
    ++checked_.evidence;
    named_.erase(name);
    const auto bytes = read_evidence(sql_, folder_, hash);
    if (bytes) return;
    const bool changed = bytes.error().code == Code::kMalformed;
    add("evidence " + name,
        changed ? "its bytes are not those that it is named by" : bytes.error().what,
        changed ? "put it back from a backup, or run that step again"
                : "see the file's owner, and the disk");
  }

  const fs::path& folder_;
  soci::session& sql_;
  int version_;
  EventNumbers numbers_;
  Checked checked_{};
  std::map<std::string, std::string> named_{};  // evidence, and an event that names it
  std::map<RunId, Repair> repairs_{};
  std::set<std::string> documents_{};
  std::set<RunId> over_{};
  RunId newest_begun_ = 0;
  std::map<std::pair<RunId, std::int64_t>, std::string> kept_{};  // hashes of events
  std::vector<AuditHead> kept_audit_{};
};

/// What a backup's heads.json has; a fault where that cannot be read.
std::optional<Fault> add_heads_in(const fs::path& folder, std::vector<ChainHeads>& kept) {
  auto heads = heads_in(folder);
  if (!heads)
    return Fault{std::string{kHeadsFile}, heads.error().what,
                 "whether an end of a chain was cut off does not show: back up to a new folder"};
  if (*heads) kept.push_back(**std::move(heads));
  return std::nullopt;
}

}  // namespace

Result<Checked> check_store(const fs::path& folder, const std::optional<AuditHead>& audit,
                            const ChainHeads& kept) {
  if (!has_store(folder))
    return Error{
        Code::kNotFound,
        fmt::format("there is no store in {}: name its folder with --state", folder.string())};
  return guarded("cannot check the store in " + folder.string(), [&]() -> Result<Checked> {
    soci::session sql;
    open_session(sql, folder, Access::read_only);
    std::vector<ChainHeads> all{kept};
    if (audit) all.push_back({*audit, {}});
    auto unreadable = add_heads_in(folder, all);
    TRY(auto checked, check_tables(sql, folder, all));
    if (unreadable) checked.faults.push_back(*std::move(unreadable));
    return checked;
  });
}

Result<Checked> check_tables(soci::session& sql, const fs::path& folder,
                             const std::vector<ChainHeads>& kept) {
  int version = 0;
  Check unversioned{folder, sql, 0, {}};
  unversioned.readable("cupel.db", [&] { version = version_of(sql); });
  TRY(not_newer(version));
  if (version == 0) return std::move(unversioned).checked();
  Check check{folder, sql, version, kept};
  check.readable("cupel.db", [&] { check.database(); });
  if (version >= kRepairsSince) check.readable("repairs", [&] { check.repairs(); });
  check.readable("runs", [&] { check.runs(); });
  if (version >= kAuditSince) check.readable("audit log", [&] { check.begun(); });
  if (version >= kRepairsSince) check.readable("runs", [&] { check.missing_runs(); });
  check.readable("node locks", [&] { check.locks(); });
  if (version >= kSnapshotsSince) check.readable("snapshots", [&] { check.snapshots(); });
  if (version >= kAuditSince) check.readable("audit log", [&] { check.audit(); });
  if (version >= kAuditSince) check.readable("tokens", [&] { check.tokens(); });
  check.readable("evidence", [&] { check.evidence(); });
  return std::move(check).checked();
}

}  // namespace cupel::store
