#include "orchestrator/store/measurements.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "inventory/subject.h"
#include "orchestrator/store/dialect.h"
#include "orchestrator/store/evidence.h"
#include "orchestrator/store/group_document.h"
#include "orchestrator/store/measured.h"

namespace cupel::store {
namespace {

using inventory::Subject;

constexpr std::size_t kLongestName = 256;  // bytes, of a measure, a stage, a unit

std::string text_in(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->get_string()} : std::string{};
}

bool is_short_text(const std::string& text) {
  return text.size() <= kLongestName && printable(text) == text;
}

/// Calls `take` for each object of the list under `key`, with its place in it.
template <class Take>
void each_object_in(const json::object& object, std::string_view key, Take take) {
  const auto* list = object.if_contains(key);
  const auto* array = list == nullptr ? nullptr : list->if_array();
  if (array == nullptr) return;
  for (std::size_t i = 0; i < array->size(); ++i)
    if (const auto* each = (*array)[i].if_object()) take(*each, static_cast<std::int64_t>(i));
}

void add_numbers(const EventRow& row, const json::object& findings,
                 std::vector<EventNumber>& numbers) {
  each_object_in(findings, "measurements", [&](const json::object& each, std::int64_t) {
    const auto* value = each.if_contains("value");
    if (value == nullptr || !value->is_number()) return;
    const auto subject = Subject::part_of(row.node, text_in(each, "part"));
    EventNumber number{row.step,
                       to_text(subject),
                       text_in(each, "name"),
                       text_in(each, "unit"),
                       value->to_number<double>(),
                       static_cast<std::int64_t>(numbers.size())};
    // Both ends have what belongs to their link; the table has it once, with the first of them.
    const bool of_far_end = subject.kind == Subject::Kind::link && subject.name != row.node;
    const bool sound = std::isfinite(number.value) && is_valid(subject) && !of_far_end &&
                       !number.measure.empty() && is_short_text(number.measure) &&
                       is_short_text(number.unit) && is_short_text(number.stage);
    if (sound) numbers.push_back(std::move(number));
  });
}

constexpr std::string_view kInsert =
    "INSERT INTO measurement (run, sequence, series, subject, place, value)";
constexpr std::string_view kReplace =
    "ON CONFLICT (series, run, subject, sequence, place) DO UPDATE SET value = excluded.value, "
    "criterion = NULL";

/// A log that was read beside a stage is judged as a stage of its own: "sel@disk".
std::string_view behind_at(std::string_view stage) {
  const auto at = stage.find('@');
  return at == stage.npos ? std::string_view{} : stage.substr(at + 1);
}

}  // namespace

const json::object& EventNumbers::shared(const std::string& hash) {
  if (hash == shared_hash_) return shared_;
  shared_hash_ = hash;
  shared_.clear();
  const auto bytes =
      is_evidence_name(hash) ? read_evidence(sql_, folder_, hash) : Result<std::string>{};
  if (!bytes) return shared_;
  auto parsed = parse_json(*bytes);
  if (parsed && parsed->is_object()) shared_ = (*std::move(parsed)).get_object();
  return shared_;
}

std::vector<EventNumber> EventNumbers::of(const EventRow& row, const json::object& data) {
  std::vector<EventNumber> numbers;
  if (row.kind != to_string(engine::EventKind::step_ended)) return numbers;
  add_numbers(row, data, numbers);
  for (const auto* key : {"log", "kernel_log"})
    if (const auto* log = data.if_contains(key); log != nullptr && log->is_object())
      add_numbers(row, log->get_object(), numbers);
  if (const auto* beside = data.if_contains("beside"); beside != nullptr && beside->is_object())
    for (const auto& [companion, found] : beside->get_object())
      if (found.is_object()) add_numbers(row, found.get_object(), numbers);
  if (!data.contains("together")) return numbers;
  const auto mine = found_on(shared(text_in(data, "evidence")), row.node);
  if (mine) add_numbers(row, *mine, numbers);
  return numbers;
}

MeasurementTable::Insert::Insert(soci::session& sql) : statement{sql} {
  for (auto* each : {&run, &sequence, &series, &subject, &place})
    statement.exchange(soci::use(*each));
  statement.exchange(soci::use(value));
  statement.alloc();
  statement.prepare(fmt::format("{} VALUES (:run, :sequence, :series, :subject, :place, :value) {}",
                                kInsert, kReplace));
  statement.define_and_bind();
}

MeasurementTable::Judge::Judge(soci::session& sql) : statement{sql} {
  for (auto* each : {&criterion, &stage, &measure, &profile, &run, &subject, &run, &subject})
    statement.exchange(soci::use(*each));
  statement.alloc();
  // The newest: where a stage was done again, the verdict is about that.
  statement.prepare(
      "UPDATE measurement SET criterion = :criterion FROM (SELECT id FROM series WHERE stage = "
      ":stage AND measure = :measure AND profile = :profile) AS chosen WHERE series = chosen.id "
      "AND run = "
      ":run AND subject = :subject AND sequence = (SELECT MAX(newest.sequence) FROM measurement AS "
      "newest WHERE newest.series = chosen.id AND newest.run = :of_run AND newest.subject = "
      ":of_subject)");
  statement.define_and_bind();
}

MeasurementTable::MeasurementTable(soci::session& sql, const std::filesystem::path& folder)
    : sql_{sql}, numbers_{sql, folder}, judge_{sql} {}

MeasurementTable::Id MeasurementTable::name(const std::string& text) {
  const auto known = names_.find(text);
  if (known != names_.end()) return known->second;
  Id id = 0;
  sql_ << "INSERT INTO name (text) VALUES (:text) ON CONFLICT DO NOTHING RETURNING id",
      soci::use(text), soci::into(id);
  if (!sql_.got_data())
    sql_ << "SELECT id FROM name WHERE text = :text", soci::use(text), soci::into(id);
  return names_[text] = id;
}

MeasurementTable::Id MeasurementTable::series(Id stage, Id measure, Id unit, Id profile) {
  const std::tuple key{stage, measure, unit, profile};
  const auto known = series_.find(key);
  if (known != series_.end()) return known->second;
  Id id = 0;
  sql_ << "INSERT INTO series (stage, measure, unit, profile) VALUES (:stage, :measure, :unit, "
          ":profile) ON CONFLICT DO NOTHING RETURNING id",
      soci::use(stage), soci::use(measure), soci::use(unit), soci::use(profile), soci::into(id);
  if (!sql_.got_data())
    sql_ << "SELECT id FROM series WHERE measure = :measure AND profile = :profile AND stage = "
            ":stage AND unit = :unit",
        soci::use(measure), soci::use(profile), soci::use(stage), soci::use(unit), soci::into(id);
  return series_[key] = id;
}

void MeasurementTable::keep_profiles(RunId run, const json::object& started) {
  auto& of_run = profiles_[run];
  each_object_in(started, "nodes", [&](const json::object& node, std::int64_t) {
    of_run[text_in(node, "name")] = text_in(node, "profile");
  });
}

/// As the run's first event says it; empty where that is not known.
MeasurementTable::Id MeasurementTable::profile_of(RunId run, const std::string& node) {
  if (!profiles_.contains(run)) {
    profiles_[run] = {};
    EventRows rows{sql_, run};
    const auto* first = rows.next();
    const auto data = first == nullptr ? json::value{} : parse_json(first->data).value_or(nullptr);
    if (data.is_object()) keep_profiles(run, data.get_object());
  }
  const auto& of_run = profiles_[run];
  const auto found = of_run.find(node);
  return name(found == of_run.end() ? std::string{} : found->second);
}

void MeasurementTable::add(RunId run, const EventRow& row, const EventNumber& number) {
  const auto in_series = series(name(number.stage), name(number.measure), name(number.unit),
                                profile_of(run, row.node));
  const Row added{run, row.sequence, in_series, name(number.subject), number.place, number.value};
  if (takes_arrays(sql_)) return gathered_.push_back(added);
  if (!insert_) insert_ = std::make_unique<Insert>(sql_);
  static_cast<Row&>(*insert_) = added;
  insert_->statement.execute(true);
}

void MeasurementTable::write() {
  if (gathered_.empty()) return;
  const auto column = [&](auto Row::* field) {
    std::vector<std::string> texts;
    texts.reserve(gathered_.size());
    for (const auto& row : gathered_) texts.push_back(fmt::format("{}", row.*field));
    return array_text(texts);
  };
  const auto run = column(&Row::run), sequence = column(&Row::sequence);
  const auto series = column(&Row::series), subject = column(&Row::subject);
  const auto place = column(&Row::place), value = column(&Row::value);
  sql_ << fmt::format(
      "{} SELECT * FROM unnest(CAST(:run AS BIGINT[]), CAST(:sequence AS BIGINT[]), CAST(:series "
      "AS "
      "BIGINT[]), CAST(:subject AS BIGINT[]), CAST(:place AS BIGINT[]), CAST(:value AS DOUBLE "
      "PRECISION[])) {}",
      kInsert, kReplace),
      soci::use(run), soci::use(sequence), soci::use(series), soci::use(subject), soci::use(place),
      soci::use(value);
  gathered_.clear();
}

/// What a verdict held against a criterion. A number of the whole node that was traced to a part
/// stands with the node.
void MeasurementTable::judge(RunId run, const EventRow& row, const json::object& checked) {
  const auto stage = text_in(checked, "stage"), measure = text_in(checked, "measure");
  if (measure.empty()) return;
  auto criterion = text_in(checked, "criterion_id");
  if (criterion.empty()) criterion = stage.substr(0, stage.find('@')) + "/" + measure;
  judge_.run = run;
  judge_.measure = name(measure);
  judge_.profile = profile_of(run, row.node);
  judge_.criterion = name(criterion);
  for (const auto& part : {text_in(checked, "part"), std::string{}})
    for (const auto& of : {std::string{stage}, std::string{behind_at(stage)}}) {
      if (of.empty()) continue;
      judge_.subject = name(to_text(Subject::part_of(row.node, part)));
      judge_.stage = name(of);
      judge_.statement.execute(true);
      if (judge_.statement.get_affected_rows() > 0) return;
    }
}

void MeasurementTable::take(RunId run, const EventRow& row, const json::object& data) {
  if (row.kind == to_string(engine::EventKind::run_started)) return keep_profiles(run, data);
  for (const auto& number : numbers_.of(row, data)) add(run, row, number);
  if (!data.contains("verdict")) return;
  write();  // a verdict marks rows that stand there
  each_object_in(data, "checked",
                 [&](const json::object& each, std::int64_t) { judge(run, row, each); });
}

void fill_measurements(soci::session& sql, const std::filesystem::path& folder) {
  std::vector<RunId> runs;
  {
    const soci::rowset<long long> ids = (sql.prepare << "SELECT id FROM run ORDER BY id");
    for (const auto id : ids) runs.push_back(id);
  }
  MeasurementTable table{sql, folder};
  for (const auto run : runs) {
    EventRows rows{sql, run};
    while (const auto* row = rows.next()) {
      const auto data = parse_json(row->data);
      if (data && data->is_object()) table.take(run, *row, data->get_object());
    }
    table.write();
  }
}

std::map<std::int64_t, std::vector<double>> table_values(soci::session& sql, RunId run) {
  std::map<std::int64_t, std::vector<double>> values;
  std::int64_t sequence = 0;
  double value = 0;
  soci::statement rows =
      (sql.prepare << "SELECT sequence, value FROM measurement WHERE series IN (SELECT id FROM "
                      "series) AND run = :run ORDER BY sequence, place",
       soci::use(run), soci::into(sequence), soci::into(value));
  rows.execute();
  while (rows.fetch()) values[sequence].push_back(value);
  return values;
}

void remove_unused_names(soci::session& sql) {
  sql << "DELETE FROM series WHERE NOT EXISTS (SELECT 1 FROM measurement WHERE series = series.id)";
  sql << "DELETE FROM name WHERE id NOT IN (SELECT subject FROM measurement UNION SELECT criterion "
         "FROM measurement WHERE criterion IS NOT NULL UNION SELECT stage FROM series UNION SELECT "
         "measure FROM series UNION SELECT unit FROM series UNION SELECT profile FROM series)";
}

Result<std::vector<Measured>> measured(const std::filesystem::path& folder,
                                       const MeasuredQuery& query) {
  return guarded("cannot read the measurements", [&]() -> Result<std::vector<Measured>> {
    soci::session sql;
    open_session(sql, folder, Access::read_only);
    std::vector<Measured> found;
    Measured each;
    std::int64_t time = 0;
    soci::indicator judged{};
    soci::statement rows =
        (sql.prepare
             << "SELECT run, subject, stage, measure, value, unit, time, profile, criterion "
                "FROM measurements WHERE measure = :measure AND (:any_profile = '' OR "
                "profile = :profile) AND (CAST(:any_run AS BIGINT) = 0 OR run = :run) ORDER BY "
                "run, "
                "sequence, place",
         soci::use(query.measure), soci::use(query.profile), soci::use(query.profile),
         soci::use(query.run), soci::use(query.run), soci::into(each.run), soci::into(each.subject),
         soci::into(each.stage), soci::into(each.measure), soci::into(each.value),
         soci::into(each.unit), soci::into(time), soci::into(each.profile),
         soci::into(each.criterion, judged));
    rows.execute();
    while (rows.fetch()) {
      each.time = time_of(time);
      if (judged == soci::i_null) each.criterion.clear();
      found.push_back(each);
    }
    return found;
  });
}

}  // namespace cupel::store
