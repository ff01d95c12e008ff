#include "orchestrator/store/earlier.h"

#include "orchestrator/store/database.h"

namespace cupel::store {
namespace {

constexpr std::size_t kPage = 64;         // runs that are listed at a time
constexpr std::size_t kMostLooked = 512;  // runs, however few of them measured

/// The newest ones older than `before`, at most a page.
std::vector<RunId> earlier_runs(soci::session& sql, const EarlierQuery& query, RunId before) {
  const auto most = static_cast<long long>(kPage);
  const soci::rowset<long long> ids =
      (sql.prepare << "SELECT DISTINCT run.id FROM run JOIN run_node ON run_node.run = run.id "
                      "WHERE run.id < :before AND run.phase = 'ended' AND (:any = '' OR "
                      "run_node.node = :node) ORDER BY run.id DESC LIMIT :most",
       soci::use(before), soci::use(query.node), soci::use(query.node), soci::use(most));
  return {ids.begin(), ids.end()};
}

/// The series of the profile whose numbers have one of these units.
std::vector<std::int64_t> series_of(soci::session& sql, const EarlierQuery& query) {
  std::vector<std::int64_t> series;
  for (const auto& unit : query.units) {
    const soci::rowset<long long> ids =
        (sql.prepare << "SELECT series.id FROM series JOIN name AS profile ON profile.id = "
                        "series.profile JOIN name AS unit ON unit.id = series.unit WHERE "
                        "profile.text = :profile AND unit.text = :unit",
         soci::use(query.profile), soci::use(unit));
    series.insert(series.end(), ids.begin(), ids.end());
  }
  return series;
}

/// The node itself and its parts: "a01-n07", "a01-n07/gpu3".
std::vector<std::int64_t> subjects_of(soci::session& sql, const std::string& node) {
  const std::string first = node + "/", last = node + "0";  // '0' follows '/'
  const soci::rowset<long long> ids =
      (sql.prepare << "SELECT id FROM name WHERE text = :node OR (text >= :first AND text < :last)",
       soci::use(node), soci::use(first), soci::use(last));
  return {ids.begin(), ids.end()};
}

/// Whether a run has a number of a series at all: an audit has of none.
class SeriesOfRun {
 public:
  explicit SeriesOfRun(soci::session& sql) : statement_{sql} {
    statement_.exchange(soci::use(series_));
    statement_.exchange(soci::use(run_));
    statement_.exchange(soci::into(found_));
    statement_.alloc();
    statement_.prepare(
        "SELECT COUNT(*) FROM (SELECT 1 FROM measurement WHERE series = :series AND run = :run "
        "LIMIT 1) AS one");
    statement_.define_and_bind();
  }

  bool has(std::int64_t series, RunId run) {
    series_ = series;
    run_ = run;
    statement_.execute(true);
    return found_ != 0;
  }

 private:
  std::int64_t series_ = 0, run_ = 0;
  int found_ = 0;
  soci::statement statement_;
};

/// One series of one run, of one subject or of all.
class Rows {
 public:
  Rows(soci::session& sql, bool one_subject) : statement_{sql} {
    statement_.exchange(soci::use(series));
    statement_.exchange(soci::use(run));
    if (one_subject) statement_.exchange(soci::use(subject));
    for (auto* text : {&row_.subject, &row_.stage, &row_.measure, &row_.unit})
      statement_.exchange(soci::into(*text));
    statement_.exchange(soci::into(row_.value));
    statement_.exchange(soci::into(time_));
    statement_.alloc();
    statement_.prepare(
        std::string{"SELECT subject.text, stage.text, measure.text, unit.text, m.value, event.time "
                    "FROM measurement AS m JOIN series ON series.id = m.series JOIN name AS "
                    "subject ON subject.id = m.subject JOIN name AS stage ON stage.id = "
                    "series.stage JOIN name AS measure ON measure.id = series.measure JOIN name AS "
                    "unit ON unit.id = series.unit JOIN event ON event.run = m.run AND "
                    "event.sequence = m.sequence WHERE m.series = :series AND m.run = :run"} +
        (one_subject ? " AND m.subject = :subject" : ""));
    statement_.define_and_bind();
  }

  void read(std::size_t most, std::vector<Measured>& into) {
    statement_.execute();
    row_.run = run;
    while (into.size() < most && statement_.fetch()) {
      row_.time = time_of(time_);
      into.push_back(row_);
    }
  }

  std::int64_t series = 0, run = 0, subject = 0;

 private:
  Measured row_{};
  std::int64_t time_ = 0;
  soci::statement statement_;
};

/// Reads runs one by one.
class Reader {
 public:
  Reader(soci::session& sql, const EarlierQuery& query)
      : most_{query.most},
        series_{series_of(sql, query)},
        subjects_{query.node.empty() ? std::vector<std::int64_t>{0} : subjects_of(sql, query.node)},
        of_run_{sql},
        rows_{sql, !query.node.empty()} {}

  bool has_series() const { return !series_.empty(); }

  /// Whether the run has such a number.
  bool read(RunId run, std::vector<Measured>& into) {
    const auto before = into.size();
    for (const auto series : series_) {
      if (!of_run_.has(series, run)) continue;
      for (const auto subject : subjects_) {
        rows_.run = run;
        rows_.series = series;
        rows_.subject = subject;
        rows_.read(most_, into);
      }
    }
    return into.size() > before;
  }

 private:
  std::size_t most_;
  std::vector<std::int64_t> series_, subjects_;
  SeriesOfRun of_run_;
  Rows rows_;
};

}  // namespace

Result<std::vector<Measured>> earlier_values(const std::filesystem::path& folder,
                                             const EarlierQuery& query) {
  return guarded("cannot read earlier measurements", [&]() -> Result<std::vector<Measured>> {
    soci::session sql;
    open_session(sql, folder, Access::read_only);
    std::vector<Measured> found;
    Reader reader{sql, query};
    if (!reader.has_series()) return found;
    auto before = query.before;
    std::size_t counted = 0;
    for (std::size_t looked = 0; looked < kMostLooked; looked += kPage) {
      const auto runs = earlier_runs(sql, query, before);
      for (const auto run : runs) {
        if (counted == query.most_runs) return found;
        counted += reader.read(run, found) ? 1 : 0;
      }
      if (runs.size() < kPage) break;
      before = runs.back();
    }
    return found;
  });
}

}  // namespace cupel::store
