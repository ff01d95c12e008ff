#include "orchestrator/store/repair.h"

#include <fmt/chrono.h>

#include "base/text.h"
#include "inventory/node_range.h"
#include "orchestrator/store/controller_lock.h"
#include "orchestrator/store/database.h"

namespace cupel::store {
namespace {

std::vector<std::string> nodes_held_by(soci::session& sql, RunId run) {
  const soci::rowset<std::string> names =
      (sql.prepare << "SELECT node FROM node_lock WHERE run = :run ORDER BY node", soci::use(run));
  return {names.begin(), names.end()};
}

Error needs_no_repair(const Repair& found) {
  const auto helps = is_over(found.phase)
                         ? std::string{"it holds no node"}
                         : fmt::format(
                               "go on with it: cupel resume {0}, or end it: cupel cancel "
                               "{0}",
                               found.run);
  return Error{Code::kInvalid, fmt::format("run {} needs no repair: its journal is whole, and {}",
                                           found.run, helps)};
}

/// How the run stands, and what a repair of it would do.
Result<Repair> look_at(soci::session& sql, const std::filesystem::path& folder,
                       const RepairRequest& request) {
  Repair found{.run = request.run,
               .at = now(),
               .by = valid_utf8(request.by),
               .reason = valid_utf8(request.reason)};
  sql << "SELECT phase FROM run WHERE id = :run", soci::use(request.run), soci::into(found.phase);
  if (!sql.got_data()) found.phase = "missing";
  found.freed = nodes_held_by(sql, request.run);
  if (found.phase == "missing" && found.freed.empty())
    return Error{Code::kNotFound, fmt::format("there is no run {} in {}: see cupel status",
                                              request.run, folder.string())};
  if (auto damage = damage_of(sql, request.run)) {
    found.damaged_at = damage->sequence;
    found.damage = std::move(damage->what);
  }
  const bool over = found.phase == "missing" || is_over(found.phase);
  const bool known = engine::run_phase(found.phase).has_value();
  const bool stuck = over ? !found.freed.empty() : found.damaged_at != 0 || !known;
  if (!stuck) return needs_no_repair(found);
  return found;
}

void write_down(soci::session& sql, const Repair& repair) {
  const auto at = count_of(repair.at);
  std::string nodes;
  for (const auto& node : repair.freed) nodes += (nodes.empty() ? "" : "\n") + node;
  sql << "INSERT INTO repair (run, at, asked_by, reason, damaged_at, damage, phase, nodes) VALUES "
         "(:run, :at, :who, :reason, :damaged, :damage, :phase, :nodes)",
      soci::use(repair.run), soci::use(at), soci::use(repair.by), soci::use(repair.reason),
      soci::use(repair.damaged_at), soci::use(repair.damage), soci::use(repair.phase),
      soci::use(nodes);
  sql << "DELETE FROM node_lock WHERE run = :run", soci::use(repair.run);
  sql << "DELETE FROM step_secret WHERE run = :run", soci::use(repair.run);
  if (is_over(repair.phase)) return;
  const std::string cancelled{to_string(RunPhase::cancelled)};
  sql << "UPDATE run SET phase = :phase, ended = CASE WHEN began > :at THEN began ELSE :end "
         "END WHERE id = :run",
      soci::use(cancelled), soci::use(at), soci::use(at), soci::use(repair.run);
}

}  // namespace

std::string in_words(const Repair& repair) {
  const auto at = std::chrono::floor<std::chrono::seconds>(repair.at);
  const auto reason = repair.reason.empty() ? "" : fmt::format(" ({})", repair.reason);
  const auto freed =
      repair.freed.empty() ? "" : fmt::format("; {} freed", inventory::fold(repair.freed));
  return fmt::format("repaired {:%Y-%m-%dT%H:%MZ} by {}{}: was {}{}", fmt::gmtime(at), repair.by,
                     reason, repair.phase, freed);
}

std::map<RunId, Repair> read_repairs(soci::session& sql) {
  std::map<RunId, Repair> found;
  Repair repair;
  std::int64_t at = 0;
  std::string nodes;
  soci::statement rows =
      (sql.prepare << "SELECT run, at, asked_by, reason, damaged_at, damage, phase, nodes FROM "
                      "repair ORDER BY rowid",
       soci::into(repair.run), soci::into(at), soci::into(repair.by), soci::into(repair.reason),
       soci::into(repair.damaged_at), soci::into(repair.damage), soci::into(repair.phase),
       soci::into(nodes));
  rows.execute();
  while (rows.fetch()) {
    repair.at = time_of(at);
    repair.freed.clear();
    for (const auto node : lines(nodes)) repair.freed.emplace_back(node);
    found.insert_or_assign(repair.run, repair);
  }
  return found;
}

Result<Repair> repair_run(const std::filesystem::path& folder, const RepairRequest& request) {
  // Sound, of a version that we know, and brought up to ours.
  TRY(const auto store, Store::open(folder));
  TRY(const auto lock, ControllerLock::take(folder));
  return guarded("cannot repair the store in " + folder.string(), [&]() -> Result<Repair> {
    soci::session sql;
    open_session(sql, folder);
    Writing writing{sql};
    TRY(auto repair, look_at(sql, folder, request));
    if (request.dry_run) return repair;
    write_down(sql, repair);
    writing.commit();
    return repair;
  });
}

Result<std::map<RunId, Repair>> repairs(const std::filesystem::path& folder) {
  return guarded("cannot read the repairs", [&]() -> Result<std::map<RunId, Repair>> {
    soci::session sql;
    open_session(sql, folder, Access::read_only);
    return read_repairs(sql);
  });
}

}  // namespace cupel::store
