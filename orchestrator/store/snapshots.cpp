// The state of a run up to an event, so that a resume replays only what came behind it. A snapshot
// is never used as it is: it is checked against its own hash, and against the event that it stands
// on.
#include <fmt/format.h>

#include "base/digest.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/packed_text.h"

namespace cupel::store {
namespace {

constexpr std::size_t kLargest = 512u << 20;  // bytes
constexpr int kKept = 2;

std::string hash_of(RunId run, std::int64_t sequence, std::string_view event,
                    std::string_view state) {
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}", run, sequence, event, state));
}

}  // namespace

bool is_whole(const SnapshotRow& row) {
  return row.event_hash == row.stands_on &&
         row.hash == hash_of(row.run, row.sequence, row.event_hash, row.state);
}

SnapshotRows::SnapshotRows(soci::session& sql, RunId run)
    : run_{run},
      statement_{(sql.prepare << "SELECT s.run, s.sequence, s.event_hash, s.state, s.hash, "
                                 "COALESCE(e.hash, '') FROM snapshot s LEFT JOIN event e ON e.run "
                                 "= s.run AND e.sequence = s.sequence WHERE s.run = :run ORDER BY "
                                 "s.sequence DESC",
                  soci::use(run_), soci::into(row_.run), soci::into(row_.sequence),
                  soci::into(row_.event_hash), soci::into(row_.state), soci::into(row_.hash),
                  soci::into(row_.stands_on))} {
  statement_.execute();
}

const SnapshotRow* SnapshotRows::next() {
  if (!statement_.fetch()) return nullptr;
  row_.state = unpacked_text(std::move(row_.state));
  return &row_;
}

Result<void> Store::keep_snapshot(RunId run, std::int64_t sequence, std::string_view state) {
  if (state.size() > kLargest)
    return Error{Code::kStorage, fmt::format("a snapshot has at most {} bytes", kLargest)};
  auto& sql = database_->sql;
  return guarded("cannot keep a snapshot", [&]() -> Result<void> {
    Writing writing{sql};
    std::string event;
    sql << "SELECT hash FROM event WHERE run = :run AND sequence = :sequence", soci::use(run),
        soci::use(sequence), soci::into(event);
    if (!sql.got_data())
      return Error{Code::kStorage, fmt::format("run {} has no event {}", run, sequence)};
    const auto text = packed_text(std::string{state});
    const auto hash = hash_of(run, sequence, event, state);
    sql << "INSERT INTO snapshot (run, sequence, event_hash, state, hash) "
           "VALUES (:run, :sequence, :event, :state, :hash) ON CONFLICT (run, sequence) DO UPDATE "
           "SET event_hash = excluded.event_hash, state = excluded.state, hash = excluded.hash",
        soci::use(run), soci::use(sequence), soci::use(event), soci::use(text), soci::use(hash);
    sql << "DELETE FROM snapshot WHERE run = :run AND sequence NOT IN (SELECT sequence FROM "
           "snapshot WHERE run = :same ORDER BY sequence DESC LIMIT :kept)",
        soci::use(run), soci::use(run), soci::use(kKept);
    writing.commit();
    return ok();
  });
}

Result<std::optional<Store::Snapshot>> Store::snapshot(RunId run) const {
  auto& sql = database_->sql;
  return guarded("cannot read a snapshot", [&]() -> Result<std::optional<Snapshot>> {
    SnapshotRows rows{sql, run};
    while (const auto* row = rows.next())
      if (is_whole(*row)) return std::optional{Snapshot{row->sequence, row->state}};
    return std::optional<Snapshot>{};
  });
}

}  // namespace cupel::store
