// The state of a run up to an event, so that a resume replays only what came behind it. A snapshot
// is never believed: it is held against its own hash, and against the event that it stands on.
#include <fmt/format.h>

#include "base/digest.h"
#include "orchestrator/store/database.h"

namespace cupel::store {
namespace {

constexpr std::size_t kLargest = 512u << 20;  // bytes
constexpr int kKept = 2;

std::string hash_of(RunId run, std::int64_t sequence, std::string_view event,
                    std::string_view state) {
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}", run, sequence, event, state));
}

}  // namespace

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
    const std::string text{state};
    const auto hash = hash_of(run, sequence, event, state);
    sql << "INSERT OR REPLACE INTO snapshot (run, sequence, event_hash, state, hash) "
           "VALUES (:run, :sequence, :event, :state, :hash)",
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
    Snapshot found;
    std::string event, stands_on, hash;
    soci::statement rows =
        (sql.prepare << "SELECT s.sequence, s.event_hash, s.state, s.hash, COALESCE(e.hash, '') "
                        "FROM snapshot s LEFT JOIN event e ON e.run = s.run AND e.sequence = "
                        "s.sequence WHERE s.run = :run ORDER BY s.sequence DESC",
         soci::use(run), soci::into(found.sequence), soci::into(event), soci::into(found.state),
         soci::into(hash), soci::into(stands_on));
    rows.execute();
    while (rows.fetch())
      if (event == stands_on && hash == hash_of(run, found.sequence, event, found.state))
        return std::optional{std::move(found)};
    return std::optional<Snapshot>{};
  });
}

}  // namespace cupel::store
