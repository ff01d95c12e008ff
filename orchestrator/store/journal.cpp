// The events of runs: appended in groups with one fsync, chained by their hashes, read back in
// order.
#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "base/json.h"
#include "base/text.h"
#include "orchestrator/engine/fold.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/dialect.h"
#include "orchestrator/store/measurements.h"
#include "orchestrator/store/packed_text.h"
#include "orchestrator/store/resume.h"
#include "orchestrator/store/step_secrets.h"

namespace cupel::store {
namespace {

/// The run as it is after an event; its nodes free, and its snapshots gone, once it is over.
void move_run(soci::session& sql, RunId run, RunPhase phase, WallTime time) {
  const std::string word{to_string(phase)};
  const bool over = phase == RunPhase::ended || phase == RunPhase::cancelled;
  const auto ended = over ? count_of(time) : 0;
  const int is_over = over ? 1 : 0;
  // The clock may have been set back since: no run ends before it began.
  sql << "UPDATE run SET phase = :phase, ended = CASE WHEN :over = 0 THEN 0 WHEN began > :ended "
         "THEN began ELSE :then END WHERE id = :run",
      soci::use(word), soci::use(is_over), soci::use(ended), soci::use(ended), soci::use(run);
  if (!over) return;
  sql << "DELETE FROM node_lock WHERE run = :run", soci::use(run);
  // Nobody goes on with it.
  sql << "DELETE FROM snapshot WHERE run = :run", soci::use(run);
  sql << "DELETE FROM step_secret WHERE run = :run", soci::use(run);
}

/// Names the command that helps: a run that is over already needs none.
Error broken(soci::session& sql, RunId run, std::int64_t sequence) {
  int stuck = 0;
  sql << "SELECT COUNT(*) FROM run WHERE id = :run AND phase NOT IN ('ended', 'cancelled')",
      soci::use(run), soci::into(stuck);
  const auto end = stuck == 0 ? std::string{}
                              : fmt::format(
                                    "; end the run and free its nodes with: cupel store "
                                    "repair {}",
                                    run);
  return Error{Code::kStorage,
               fmt::format("the journal of run {} is damaged at event {}: nothing is built on it, "
                           "and nothing was changed; see cupel store verify{}",
                           run, sequence, end)};
}

/// The end of the run's chain, held against its own hash.
Result<Tip> read_tip(soci::session& sql, RunId run) {
  std::int64_t last = 0;
  sql << "SELECT COALESCE(MAX(sequence), 0) FROM event WHERE run = :run", soci::use(run),
      soci::into(last);
  if (last == 0) return Tip{};
  EventRows rows{sql, run, std::max<std::int64_t>(last - 2, 0)};
  std::string before;
  const auto* row = rows.next();
  if (last > 1 && row != nullptr) {
    before = row->hash;
    row = rows.next();
  }
  if (row == nullptr || row->sequence != last || chained(before, run, *row) != row->hash)
    return broken(sql, run, last);
  return Tip{last, row->hash};
}

/// For whoever reads: without the tickets of earlier versions.
std::string shown(const EventRow& row) { return cut_tickets(row.data); }
std::string whole(const EventRow& row) { return row.data; }

Result<Event> event_of(soci::session& sql, RunId run, const EventRow& row,
                       std::string (*text_of)(const EventRow&) = shown) {
  Event event;
  event.sequence = row.sequence;
  event.time = time_of(row.time);
  const auto kind = engine::event_kind(row.kind);
  if (!kind)
    return Error{Code::kStorage,
                 fmt::format("event {} of run {} is of a kind that this Cupel does not know: '{}'; "
                             "a newer one wrote it: use that one",
                             row.sequence, run, row.kind)};
  event.kind = *kind;
  event.node = row.node;
  event.step = row.step;
  auto data = parse_json(text_of(row));
  if (!data) return broken(sql, run, row.sequence);
  if (data->is_object()) event.data = (*std::move(data)).get_object();
  event.hash = row.hash;
  return event;
}

/// Behind `sequence`, each held against the one before it.
Result<std::vector<Event>> chained_events(soci::session& sql, RunId run, std::int64_t sequence,
                                          std::string (*text_of)(const EventRow&)) {
  std::vector<Event> found;
  std::string before;
  EventRows rows{sql, run, std::max<std::int64_t>(sequence - 1, 0)};
  if (sequence > 0) {
    const auto* row = rows.next();
    if (row == nullptr || row->sequence != sequence) return broken(sql, run, sequence);
    before = row->hash;
  }
  while (const auto* row = rows.next()) {
    const auto expected = sequence + static_cast<std::int64_t>(found.size()) + 1;
    if (row->sequence != expected || chained(before, run, *row) != row->hash)
      return broken(sql, run, expected);
    before = row->hash;
    TRY(auto event, event_of(sql, run, *row, text_of));
    found.push_back(std::move(event));
  }
  return found;
}

/// The event's data as the table has it. What could not be read back is not written: it would take
/// all that the run has found along. Errors: kStorage.
Result<std::string> readable_data(RunId run, const Event& event) {
  const auto is_text = [](const std::string& name) {
    return valid_utf8(name) == name && name.find('\0') == name.npos;
  };
  auto data = cut_tickets(json::serialize(event.data));
  const bool readable = is_text(event.node) && is_text(event.step) && parse_json(data);
  if (readable) return data;
  return Error{Code::kStorage,
               fmt::format("run {}: an event ({} of {}) cannot be read back and was not written: "
                           "its text is no valid UTF-8 or no JSON. This is a fault of Cupel",
                           run, to_string(event.kind), printable(event.node))};
}

Result<std::vector<std::string>> readable_data(RunId run, std::span<const Event> events) {
  std::vector<std::string> all;
  all.reserve(events.size());
  for (const auto& event : events) {
    TRY(auto data, readable_data(run, event));
    all.push_back(std::move(data));
  }
  return all;
}

}  // namespace

std::string chained(std::string_view before, RunId run, const EventRow& row) {
  return sha256_hex(fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", before, run, row.sequence,
                                row.time, row.kind, row.node, row.step, row.data));
}

std::optional<std::string> unreadable(const EventRow& row) {
  for (const auto* text : {&row.node, &row.step})
    if (valid_utf8(*text) != *text) return "a name in it is no valid UTF-8";
  const auto data = parse_json(row.data);
  if (data) return std::nullopt;
  return data.error().what;
}

std::optional<Damage> damage_of(soci::session& sql, RunId run) {
  std::string before;
  std::int64_t expected = 1;
  std::optional<RunPhase> by_events;
  EventRows rows{sql, run};
  while (const auto* row = rows.next()) {
    if (row->sequence != expected) return Damage{expected, "it is missing"};
    if (chained(before, run, *row) != row->hash)
      return Damage{expected, "it is not what was written"};
    if (const auto why = unreadable(*row)) return Damage{expected, "it cannot be read: " + *why};
    if (const auto kind = engine::event_kind(row->kind))
      if (const auto phase = engine::phase_after(*kind)) by_events = phase;
    before = row->hash;
    ++expected;
  }
  std::string phase;
  sql << "SELECT phase FROM run WHERE id = :run AND id NOT IN (SELECT run FROM repair)",
      soci::use(run), soci::into(phase);
  if (!sql.got_data()) return std::nullopt;
  if (auto what = missing_end(phase, by_events)) return Damage{expected, *std::move(what)};
  return std::nullopt;
}

std::optional<std::string> missing_end(std::string_view phase,
                                       std::optional<engine::RunPhase> by_events) {
  if (!is_over(phase) || (by_events && to_string(*by_events) == phase)) return std::nullopt;
  return fmt::format("it is missing: the run is {}, and its journal does not say so", phase);
}

EventRows::EventRows(soci::session& sql, RunId run, std::int64_t after, std::string_view node)
    : run_{run}, after_{after}, node_{node}, statement_{sql} {
  const std::string columns =
      "SELECT sequence, time, kind, node, step, data, hash FROM event WHERE run = :run AND "
      "sequence > :after ";
  statement_.exchange(soci::use(run_));
  statement_.exchange(soci::use(after_));
  if (!node_.empty()) statement_.exchange(soci::use(node_));
  statement_.exchange(soci::into(row_.sequence));
  statement_.exchange(soci::into(row_.time));
  for (auto* text : {&row_.kind, &row_.node, &row_.step, &row_.data, &row_.hash})
    statement_.exchange(soci::into(*text));
  statement_.alloc();
  statement_.prepare(columns + (node_.empty() ? "" : "AND node IN ('', :node) ") +
                     "ORDER BY sequence LIMIT " + std::to_string(kRowsAtOnce));
  statement_.define_and_bind();
  statement_.execute();
}

const EventRow* EventRows::next() {
  if (!statement_.fetch()) {
    if (fetched_ < kRowsAtOnce) return nullptr;
    fetched_ = 0;
    after_ = row_.sequence;
    statement_.execute();
    if (!statement_.fetch()) return nullptr;
  }
  ++fetched_;
  row_.data = unpacked_text(std::move(row_.data));
  return &row_;
}

InsertEvent::InsertEvent(soci::session& sql) : statement{sql} {
  statement.exchange(soci::use(run));
  statement.exchange(soci::use(row.sequence));
  statement.exchange(soci::use(row.time));
  for (const auto* text : {&row.kind, &row.node, &row.step, &row.data, &row.hash})
    statement.exchange(soci::use(*text));
  statement.alloc();
  statement.prepare(
      "INSERT INTO event (run, sequence, time, kind, node, step, data, hash) "
      "VALUES (:run, :seq, :time, :kind, :node, :step, :data, :hash)");
  statement.define_and_bind();
}

namespace {

/// A column of the rows as an array.
template <class Text>
std::string array_of(std::span<const EventRow> rows, Text text_of) {
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  for (const auto& row : rows) texts.push_back(text_of(row));
  return array_text(texts);
}

/// In one statement. Reading `run` as a number of the table's width, whatever SOCI calls it.
void insert_as_arrays(soci::session& sql, RunId run, std::span<const EventRow> rows) {
  const auto numbers = [&](std::int64_t EventRow::* number) {
    return array_of(rows, [&](const EventRow& row) { return std::to_string(row.*number); });
  };
  const auto texts = [&](std::string EventRow::* text) {
    return array_of(rows, [&](const EventRow& row) { return row.*text; });
  };
  const auto sequence = numbers(&EventRow::sequence), time = numbers(&EventRow::time);
  const auto kind = texts(&EventRow::kind), node = texts(&EventRow::node);
  const auto step = texts(&EventRow::step), hash = texts(&EventRow::hash);
  const auto data = texts(&EventRow::data);
  sql << "INSERT INTO event (run, sequence, time, kind, node, step, data, hash) SELECT CAST(:run "
         "AS "
         "BIGINT), * FROM unnest(CAST(:sequence AS BIGINT[]), CAST(:time AS BIGINT[]), CAST(:kind "
         "AS TEXT[]), CAST(:node AS TEXT[]), CAST(:step AS TEXT[]), CAST(:data AS TEXT[]), "
         "CAST(:hash AS TEXT[]))",
      soci::use(run), soci::use(sequence), soci::use(time), soci::use(kind), soci::use(node),
      soci::use(step), soci::use(data), soci::use(hash);
}

void insert_one_by_one(InsertEvent& insert, RunId run, std::span<EventRow> rows) {
  insert.run = run;
  for (auto& row : rows) {
    std::swap(insert.row, row);
    insert.statement.execute(true);
    std::swap(insert.row, row);
  }
}

/// The rows behind the tip, chained, with their data packed; the tip moves to the last.
std::vector<EventRow> chained_rows(RunId run, std::span<const Event> events,
                                   std::vector<std::string> data, WallTime time, Tip& tip) {
  std::vector<EventRow> rows;
  rows.reserve(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& event = events[i];
    EventRow row{++tip.sequence, count_of(time), std::string{to_string(event.kind)},
                 event.node,     event.step,     std::move(data[i])};
    row.hash = chained(tip.hash, run, row);
    row.data = packed_text(std::move(row.data));
    tip.hash = row.hash;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Result<void> Store::append(RunId run, std::span<Event> events) {
  auto& [sql, clock, tips, version, insert, measurements] = *database_;
  return guarded("cannot write the journal in " + folder_.string(), [&]() -> Result<void> {
    TRY(auto data, readable_data(run, events));
    Writing writing{sql};
    const auto current = writing.cache_version();
    if (current != std::exchange(version, current)) {
      tips.clear();
      measurements.reset();
    }
    if (!tips.contains(run)) {
      TRY(tips[run], read_tip(sql, run));
    }
    // Not used again before the commit: a transaction that failed has moved nothing.
    auto tip = std::move(tips.extract(run).mapped());
    auto table = std::move(measurements);
    if (!table) table = std::make_unique<MeasurementTable>(sql, folder_);
    const auto time = database_->wall();
    auto rows = chained_rows(run, events, std::move(data), time, tip);
    if (takes_arrays(sql)) {
      insert_as_arrays(sql, run, rows);
    } else {
      if (!insert) insert = std::make_unique<InsertEvent>(sql);
      insert_one_by_one(*insert, run, rows);
    }
    for (std::size_t i = 0; i < events.size(); ++i) {
      auto& event = events[i];
      table->take(run, rows[i], event.data);
      event.sequence = rows[i].sequence;
      event.time = time;
      event.hash = rows[i].hash;
      if (const auto phase = engine::phase_after(event.kind)) move_run(sql, run, *phase, time);
    }
    table->write();
    writing.commit();
    tips[run] = std::move(tip);
    measurements = std::move(table);
    return ok();
  });
}

Result<std::vector<Event>> Store::events(RunId run, std::string_view node) const {
  auto& sql = database_->sql;
  return guarded("cannot read the journal", [&]() -> Result<std::vector<Event>> {
    std::vector<Event> found;
    EventRows rows{sql, run, 0, node};
    while (const auto* row = rows.next()) {
      TRY(auto event, event_of(sql, run, *row));
      found.push_back(std::move(event));
    }
    return found;
  });
}

Result<std::vector<Event>> Store::events_after(RunId run, std::int64_t sequence) const {
  auto& sql = database_->sql;
  return guarded("cannot read the journal",
                 [&] { return chained_events(sql, run, sequence, shown); });
}

Result<std::vector<Event>> events_to_resume(const Store& store, RunId run, std::int64_t sequence) {
  return guarded("cannot read the journal", [&] {
    soci::session sql;
    open_session(sql, store.folder(), Access::read_only);
    return chained_events(sql, run, sequence, whole);
  });
}

Result<std::optional<std::int64_t>> Store::broken_at(RunId run) const {
  auto& sql = database_->sql;
  return guarded("cannot read the journal", [&]() -> Result<std::optional<std::int64_t>> {
    const auto damage = damage_of(sql, run);
    return damage ? std::optional{damage->sequence} : std::nullopt;
  });
}

}  // namespace cupel::store
