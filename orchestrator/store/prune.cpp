#include "orchestrator/store/prune.h"

#include <algorithm>
#include <set>

#include "base/paths.h"
#include "base/text.h"
#include "orchestrator/store/controller_lock.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/evidence.h"
#include "orchestrator/store/held_runs.h"
#include "orchestrator/store/measurements.h"
#include "orchestrator/store/postgresql.h"

namespace cupel::store {
namespace {

namespace fs = std::filesystem;
using Hashes = std::set<std::string, std::less<>>;

struct StandingRun {
  RunId id = 0;
  std::string phase{};
  std::int64_t ended = 0;
  bool over() const { return is_over(phase); }
};

/// Newest first.
std::vector<StandingRun> all_runs(soci::session& sql) {
  std::vector<StandingRun> found;
  StandingRun run;
  soci::statement rows = (sql.prepare << "SELECT id, phase, ended FROM run ORDER BY id DESC",
                          soci::into(run.id), soci::into(run.phase), soci::into(run.ended));
  rows.execute();
  while (rows.fetch()) found.push_back(run);
  return found;
}

using Held = std::map<RunId, std::string>;

Result<void> may_go(const std::vector<StandingRun>& all, const Held& held, RunId run) {
  if (const auto why = held.find(run); why != held.end())
    return Error{Code::kConflict, fmt::format("run {} stays: {}", run, why->second)};
  const auto at = std::ranges::find(all, run, &StandingRun::id);
  if (at == all.end())
    return Error{Code::kNotFound, fmt::format("there is no run {}: see cupel status", run)};
  if (at->over()) return ok();
  return Error{Code::kInvalid, fmt::format("run {} is {}, and only a run that is over is pruned: "
                                           "cupel cancel {} first",
                                           run, at->phase, run)};
}

Result<std::vector<RunId>> chosen(soci::session& sql, const std::vector<StandingRun>& all,
                                  const PruneRequest& request, const Held& held, Pruned& pruned) {
  for (const auto run : request.runs) {
    TRY(may_go(all, held, run));
  }
  auto chosen = request.runs;
  std::ranges::sort(chosen);
  chosen.erase(std::ranges::unique(chosen).begin(), chosen.end());
  if (!chosen.empty()) return chosen;
  if (!request.older_than && !request.keep && !request.passed)
    return Error{Code::kInvalid, "which runs? name --older-than, --keep, --verdict or --run"};
  const auto age = request.older_than.value_or(std::chrono::seconds{0});
  const auto before = count_of(now() - age);
  for (std::size_t i = request.keep.value_or(0); i < all.size(); ++i) {
    const auto id = all[i].id;
    if (!all[i].over() || all[i].ended > before) continue;
    if (request.passed && all_passed(sql, id) != *request.passed) continue;
    if (const auto why = held.find(id); why != held.end())
      pruned.held.emplace_back(id, why->second);
    else
      chosen.push_back(id);
  }
  std::ranges::sort(chosen);
  return chosen;
}

/// Every word of 64 hexadecimal digits: what may be the name of a piece of evidence.
void note_hashes(std::string_view text, Hashes& into) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  while (!text.empty()) {
    const auto start = std::min(text.find_first_of(kDigits), text.size());
    text.remove_prefix(start);
    const auto word = text.substr(0, text.find_first_not_of(kDigits));
    if (is_evidence_name(word)) into.emplace(word);
    text.remove_prefix(word.size());
  }
}

/// What the events of all runs but these name, and what the documents name that several nodes
/// share.
Hashes named_without(soci::session& sql, const fs::path& folder, const std::vector<RunId>& runs) {
  Hashes named, documents;
  const soci::rowset<long long> all = (sql.prepare << "SELECT DISTINCT run FROM event");
  for (const RunId run : std::vector<RunId>(all.begin(), all.end())) {
    if (std::ranges::binary_search(runs, run)) continue;
    EventRows rows{sql, run};
    while (const auto* row = rows.next()) {
      note_hashes(row->data, named);
      if (row->data.find("\"together\"") != std::string::npos) note_hashes(row->data, documents);
    }
  }
  for (const auto& document : documents)
    if (const auto text = read_evidence(sql, folder, document)) note_hashes(*text, named);
  return named;
}

std::int64_t events_of(soci::session& sql, const std::vector<RunId>& runs) {
  std::int64_t events = 0;
  for (const auto run : runs) {
    std::int64_t count = 0;
    sql << "SELECT COUNT(*) FROM event WHERE run = :run", soci::use(run), soci::into(count);
    events += count;
  }
  return events;
}

void remove_rows(soci::session& sql, const std::vector<RunId>& runs, const std::string& by) {
  const auto at = count_of(now());
  Writing writing{sql};
  for (const auto run : runs) {
    sql << "INSERT INTO pruned (run, playbook, began, ended, at, asked_by) SELECT id, playbook, "
           "began, ended, :at, :who FROM run WHERE id = :run ON CONFLICT (run) DO UPDATE SET "
           "playbook = excluded.playbook, began = excluded.began, ended = excluded.ended, at = "
           "excluded.at, asked_by = excluded.asked_by",
        soci::use(at), soci::use(by), soci::use(run);
    for (const auto* table :
         {"event", "snapshot", "command", "repair", "run_node", "node_lock", "step_secret"})
      sql << fmt::format("DELETE FROM {} WHERE run = :run", table), soci::use(run);
    sql << "DELETE FROM measurement WHERE series IN (SELECT id FROM series) AND run = :run",
        soci::use(run);
    sql << "DELETE FROM run WHERE id = :run", soci::use(run);
  }
  remove_unused_names(sql);
  writing.commit();
}

/// Files of the evidence folder that nobody names any more.
class Leftovers {
 public:
  Leftovers(const fs::path& folder, bool dry_run) : folder_{folder / "evidence"}, dry_{dry_run} {}

  /// Rows that nobody names go. Files do too where a row has the same: a store that was moved to a
  /// server leaves them behind.
  void evidence(soci::session& sql, const Hashes& named) {
    std::vector<EvidenceRow> unnamed;
    each_evidence_row(sql, [&](const EvidenceRow& row) {
      if (!named.contains(row.hash)) unnamed.push_back(row);
    });
    if (!dry_ && !unnamed.empty()) remove_rows_of(sql, unnamed);
    for (const auto& row : unnamed) {
      ++files;
      bytes += static_cast<std::uintmax_t>(row.bytes);
    }
    evidence_files(sql, named);
  }

  static void remove_rows_of(soci::session& sql, const std::vector<EvidenceRow>& rows) {
    Writing writing{sql};
    for (const auto& row : rows) remove_evidence_row(sql, row.hash);
    writing.commit();
  }

  /// No controller lives: what is half written stays so.
  void evidence_files(soci::session& sql, const Hashes& named) {
    std::error_code gone;
    const auto file = [&](const fs::directory_entry& entry) {
      const auto name = entry.path().filename().string();
      const auto hash = std::string_view{name}.substr(0, 64);
      const bool half_written = name.find(".new") != name.npos;
      const bool unnamed = is_evidence_name(hash) && !named.contains(hash);
      const bool twice = !unnamed && has_whole_row(sql, hash_of_file(name));
      if (entry.is_regular_file(gone) && (half_written || unnamed || twice)) remove(entry.path());
    };
    each_entry(folder_, [&](const fs::directory_entry& drawer) {
      if (drawer.path().filename().string().size() == 2) each_entry(drawer.path(), file);
    });
  }

  void consoles(const std::set<RunId>& standing) {
    std::error_code gone;
    each_entry(folder_ / "console", [&](const fs::directory_entry& entry) {
      const auto name = entry.path().filename().string();
      if (!name.starts_with("run-")) return;
      const auto run = number<RunId>(std::string_view{name}.substr(4));
      if (!run || standing.contains(*run)) return;
      each_entry_below(entry.path(), [&](const fs::directory_entry& file) {
        if (file.is_regular_file(gone)) remove(file.path());
      });
      if (!dry_) fs::remove_all(entry.path(), gone);
    });
  }

  /// Made again for whoever asks: they do not count.
  void summaries(const std::set<RunId>& standing) {
    std::error_code gone;
    each_entry(folder_.parent_path() / "summaries", [&](const fs::directory_entry& entry) {
      const auto run = number<RunId>(entry.path().stem().string());
      if (!dry_ && run && !standing.contains(*run)) fs::remove(entry.path(), gone);
    });
  }

  std::int64_t files = 0;
  std::uintmax_t bytes = 0;

 private:
  void remove(const fs::path& file) {
    std::error_code failure;
    const auto size = fs::file_size(file, failure);
    if (failure) return;
    if (!dry_ && !fs::remove(file, failure)) return;
    ++files;
    bytes += size;
  }

  fs::path folder_;
  bool dry_;
};

std::uintmax_t database_bytes(const fs::path& folder) {
  std::uintmax_t all = 0;
  for (const auto* name : {"cupel.db", "cupel.db-wal"}) {
    std::error_code failure;
    const auto bytes = fs::file_size(folder / name, failure);
    if (!failure) all += bytes;
  }
  return all;
}

/// Why the database stays as large as it was; empty: it does not. VACUUM wants as much room again
/// while it works. Source: SQLite, "VACUUM", "How VACUUM works".
std::string give_back(soci::session& sql) {
  if (is_postgresql(sql)) return {};  // its autovacuum does it
  const auto done = guarded("cannot make the database smaller", [&]() -> Result<void> {
    sql << "VACUUM";
    int busy = 0, pages = 0, carried_over = 0;
    sql << "PRAGMA wal_checkpoint(TRUNCATE)", soci::into(busy), soci::into(pages),
        soci::into(carried_over);
    return ok();
  });
  return done ? std::string{} : done.error().what;
}

}  // namespace

Result<Pruned> prune(const fs::path& folder, const PruneRequest& request) {
  // Sound, of a version that we know, and brought up to ours.
  {
    TRY(const auto store, Store::open(folder));
  }
  TRY(const auto lock, ControllerLock::take(folder));
  return guarded("cannot prune the store in " + folder.string(), [&]() -> Result<Pruned> {
    soci::session sql;
    open_session(sql, folder);
    const auto all = all_runs(sql);
    Pruned pruned;
    const auto held = held_runs(sql, folder, now());
    TRY(pruned.runs, chosen(sql, all, request, held, pruned));
    pruned.events = events_of(sql, pruned.runs);
    const auto before = database_bytes(folder);
    if (!request.dry_run) remove_rows(sql, pruned.runs, valid_utf8(request.by));
    std::set<RunId> standing;
    for (const auto& run : all)
      if (!std::ranges::binary_search(pruned.runs, run.id)) standing.insert(run.id);
    Leftovers leftovers{folder, request.dry_run};
    leftovers.evidence(sql, named_without(sql, folder, pruned.runs));
    leftovers.consoles(standing);
    leftovers.summaries(standing);
    pruned.evidence = leftovers.files;
    pruned.evidence_bytes = leftovers.bytes;
    if (request.dry_run) return pruned;
    pruned.not_given_back = give_back(sql);
    const auto after = database_bytes(folder);
    pruned.database_bytes = before > after ? before - after : 0;
    return pruned;
  });
}

}  // namespace cupel::store
