#include "orchestrator/store/journal_reader.h"

#include "orchestrator/store/database.h"
#include "orchestrator/store/dialect.h"
#include "orchestrator/store/packed_text.h"
#include "orchestrator/store/step_secrets.h"

namespace cupel::store {

struct JournalReader::Connection {
  soci::session sql;
};

JournalReader::JournalReader(std::unique_ptr<Connection> connection)
    : connection_{std::move(connection)} {}
JournalReader::JournalReader(JournalReader&&) noexcept = default;
JournalReader::~JournalReader() = default;

Result<JournalReader> JournalReader::open(const std::filesystem::path& folder) {
  return guarded("cannot read the store in " + folder.string(), [&]() -> Result<JournalReader> {
    auto connection = std::make_unique<Connection>();
    open_session(connection->sql, folder, Access::read_only);
    return JournalReader{std::move(connection)};
  });
}

Result<std::vector<EventText>> JournalReader::page(const EventQuery& query) const {
  auto& sql = connection_->sql;
  return guarded("cannot read the journal", [&]() -> Result<std::vector<EventText>> {
    std::string where = "WHERE run = :run AND sequence > :after ";
    EventText row;
    std::int64_t time = 0;
    soci::statement rows{sql};
    rows.exchange(soci::use(query.run));
    rows.exchange(soci::use(query.after));
    const auto only = [&](const std::string& value, const char* condition) {
      if (value.empty()) return;
      where += condition;
      rows.exchange(soci::use(value));
    };
    only(query.node, "AND node = :node ");
    only(query.step, "AND step = :step ");
    only(query.kind, "AND kind = :kind ");
    const bool newest_first = query.newest_before != 0;
    if (newest_first) {
      where += "AND sequence < :before ";
      rows.exchange(soci::use(query.newest_before));
    }
    rows.exchange(soci::into(row.sequence));
    rows.exchange(soci::into(time));
    for (auto* text : {&row.kind, &row.node, &row.step, &row.data, &row.hash})
      rows.exchange(soci::into(*text));
    rows.alloc();
    rows.prepare("SELECT sequence, time, kind, node, step, data, hash FROM event " + where +
                 "ORDER BY sequence " + (newest_first ? "DESC " : "") + "LIMIT " +
                 std::to_string(query.most));
    rows.define_and_bind();
    rows.execute();
    std::vector<EventText> found;
    std::size_t bytes = 0;
    while (rows.fetch()) {
      row.run = query.run;
      row.time = time_of(time);
      row.data = cut_tickets(unpacked_text(std::move(row.data)));
      bytes += row.data.size();
      if (!found.empty() && bytes > query.most_bytes) break;
      found.push_back(row);
    }
    return found;
  });
}

Result<std::vector<RunId>> JournalReader::runs(const RunQuery& query) const {
  auto& sql = connection_->sql;
  return guarded("cannot read the runs", [&]() -> Result<std::vector<RunId>> {
    const soci::rowset<long long> rows =
        (sql.prepare << "SELECT id FROM run WHERE (CAST(:any AS BIGINT) = 0 OR id < :before) AND "
                        "(:all = '' OR "
                        "phase = :phase) ORDER BY id DESC LIMIT " +
                            std::to_string(query.most),
         soci::use(query.before), soci::use(query.before), soci::use(query.phase),
         soci::use(query.phase));
    return std::vector<RunId>(rows.begin(), rows.end());
  });
}

Result<RunId> JournalReader::newest_run() const {
  auto& sql = connection_->sql;
  return guarded("cannot read the runs", [&]() -> Result<RunId> {
    RunId newest = 0;
    sql << "SELECT COALESCE(MAX(id), 0) FROM run", soci::into(newest);
    return newest;
  });
}

Result<std::vector<RunId>> JournalReader::open_runs() const {
  auto& sql = connection_->sql;
  return guarded("cannot read the runs", [&]() -> Result<std::vector<RunId>> {
    const soci::rowset<long long> rows =
        (sql.prepare << "SELECT id FROM run WHERE phase NOT IN ('ended', 'cancelled') ORDER BY id "
                        "LIMIT 1000");
    return std::vector<RunId>(rows.begin(), rows.end());
  });
}

Result<std::vector<std::pair<std::string, RunId>>> JournalReader::newest_runs() const {
  using Newest = std::vector<std::pair<std::string, RunId>>;
  auto& sql = connection_->sql;
  return guarded("cannot read the runs", [&]() -> Result<Newest> {
    Newest found;
    std::string node;
    RunId run = 0;
    soci::statement rows = (sql.prepare << "SELECT node, MAX(run) FROM run_node GROUP BY node",
                            soci::into(node), soci::into(run));
    rows.execute();
    while (rows.fetch()) found.emplace_back(node, run);
    return found;
  });
}

Result<std::vector<PastRun>> JournalReader::past_of(const std::string& node,
                                                    std::size_t most) const {
  auto& sql = connection_->sql;
  return guarded("cannot read the runs", [&]() -> Result<std::vector<PastRun>> {
    std::vector<PastRun> found;
    PastRun row;
    std::string phase;
    std::int64_t began = 0;
    soci::statement rows =
        (sql.prepare << "SELECT r.id, r.playbook, r.phase, r.began FROM run_node n JOIN run r ON "
                        "r.id = n.run WHERE n.node = :node ORDER BY n.run DESC LIMIT " +
                            std::to_string(most),
         soci::use(node), soci::into(row.run), soci::into(row.playbook), soci::into(phase),
         soci::into(began));
    rows.execute();
    while (rows.fetch()) {
      row.phase = engine::run_phase(phase).value_or(RunPhase::interrupted);
      row.began = time_of(began);
      found.push_back(row);
    }
    return found;
  });
}

Result<std::int64_t> JournalReader::version() const {
  auto& sql = connection_->sql;
  return guarded("cannot read the store",
                 [&]() -> Result<std::int64_t> { return data_version(sql); });
}

}  // namespace cupel::store
