#include "orchestrator/store/check.h"

#include <soci/sqlite3/soci-sqlite3.h>

#include <map>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/evidence.h"
#include "orchestrator/store/schema.h"

namespace cupel::store {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKeepACopy =
    "copy the whole folder away before anything else, then put cupel.db back from a backup, or "
    "save what can be read with sqlite3's .recover";
constexpr const char* kNotTrusted =
    "what stands there was changed behind Cupel's back or by a bad disk: no proof rests on it from "
    "there on; put it back from a backup, or run the nodes again";

class Check {
 public:
  Check(const fs::path& folder, soci::session& sql) : folder_{folder}, sql_{sql} {}

  void database() {
    const soci::rowset<std::string> lines = sql_.prepare << "PRAGMA integrity_check(100)";
    for (const auto& line : lines)
      if (line != "ok") add("cupel.db", line, kKeepACopy);
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
      if (!engine::run_phase(phase))
        add(where, fmt::format("its phase is '{}', which there is not", phase), kNotTrusted);
      readable(where, [&] { chain(id); });
      ++checked_.runs;
    }
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
      add("node " + node, fmt::format("it is held by run {}, which is over", run), kKeepACopy);
  }

  void snapshots() {
    SnapshotRows rows{sql_};
    while (const auto* row = rows.next()) {
      ++checked_.snapshots;
      if (!is_whole(*row))
        add(fmt::format("run {}, snapshot at event {}", row->run, row->sequence),
            "it is not what was written, or its event is not",
            "nothing need be done: a resume passes it over and replays from the one before it");
    }
  }

  void evidence() {
    std::error_code failure;
    for (const auto& drawer : fs::directory_iterator{folder_ / "evidence", failure}) {
      if (!drawer.is_directory() || drawer.path().filename().string().size() != 2) continue;
      for (const auto& entry : fs::directory_iterator{drawer.path(), failure})
        if (entry.is_regular_file() && is_evidence_name(entry.path().filename().string()))
          piece(entry.path());
    }
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
      const std::string_view said = fault.what();
      if (said.find("malformed") == said.npos && said.find("not a database") == said.npos) throw;
      add(where, std::string{said}, kKeepACopy);
    }
  }

  Checked checked() && { return std::move(checked_); }

 private:
  void add(std::string where, std::string what, std::string advice) {
    if (checked_.faults.size() < kMostFaults)
      checked_.faults.push_back({std::move(where), std::move(what), std::move(advice)});
  }

  void chain(RunId run) {
    std::string before;
    std::int64_t expected = 1;
    EventRows rows{sql_, run};
    while (const auto* row = rows.next()) {
      const auto where = fmt::format("run {}, event {}", run, expected);
      if (row->sequence != expected)
        return add(where, "it is missing: the chain breaks there", kNotTrusted);
      if (chained(before, run, *row) != row->hash)
        return add(where, "it is not what was written: the chain breaks there", kNotTrusted);
      if (!engine::event_kind(row->kind))
        add(where, fmt::format("its kind '{}' is not known to this Cupel", row->kind),
            "a newer Cupel wrote it: use that one");
      note_evidence(where, *row);
      before = row->hash;
      ++expected;
      ++checked_.events;
    }
  }

  void note_evidence(const std::string& where, const EventRow& row) {
    if (row.data.find("\"evidence\"") == row.data.npos) return;
    const auto data = parse_json(row.data);
    const auto hash = data ? text_at(data.assume_value(), "evidence") : std::nullopt;
    if (hash && is_evidence_name(*hash)) named_.try_emplace(*hash, where);
  }

  void piece(const fs::path& file) {
    const auto name = file.filename().string();
    ++checked_.evidence;
    named_.erase(name);
    const auto bytes = read_file(file, kEvidenceLimit);
    if (!bytes)
      add("evidence " + name, bytes.assume_error().what, "see the file's owner, and the disk");
    else if (sha256_hex(bytes.assume_value()) != name)
      add("evidence " + name, "its bytes are not those that it is named by",
          "put it back from a backup, or run that step again");
  }

  const fs::path& folder_;
  soci::session& sql_;
  Checked checked_{};
  std::map<std::string, std::string> named_{};  // evidence, and an event that names it
};

}  // namespace

Result<Checked> check_store(const fs::path& folder) {
  const auto file = folder / "cupel.db";
  std::error_code failure;
  if (!fs::exists(file, failure))
    return Error{
        Code::kNotFound,
        fmt::format("there is no store in {}: name its folder with --state", folder.string())};
  return guarded("cannot check the store in " + folder.string(), [&]() -> Result<Checked> {
    soci::session sql;
    sql.open(soci::sqlite3, "db=\"" + file.string() + "\" timeout=10 readonly=1");
    Check check{folder, sql};
    int version = 0;
    check.readable("cupel.db", [&] { version = version_of(sql); });
    TRY(not_newer(version));
    if (version == 0) return std::move(check).checked();
    check.readable("cupel.db", [&] { check.database(); });
    check.readable("runs", [&] { check.runs(); });
    check.readable("node locks", [&] { check.locks(); });
    if (version >= kSnapshotsSince) check.readable("snapshots", [&] { check.snapshots(); });
    check.evidence();
    return std::move(check).checked();
  });
}

}  // namespace cupel::store
