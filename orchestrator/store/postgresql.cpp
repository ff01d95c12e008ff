#include "orchestrator/store/postgresql.h"

#include <fmt/format.h>
#include <poll.h>
#include <soci/postgresql/soci-postgresql.h>

#include "base/text.h"
#include "orchestrator/store/server.h"

namespace cupel::store {
namespace {

using soci::postgresql_soci_error;

/// A result of libpq's.
class Answer {
 public:
  Answer(PGconn* connection, const char* query) : Answer{connection, PQexec(connection, query)} {}
  Answer(PGconn* connection, PGresult* result) : connection_{connection}, result_{result} {}
  Answer(Answer&& other) noexcept
      : connection_{other.connection_}, result_{std::exchange(other.result_, nullptr)} {}
  Answer& operator=(Answer&&) = delete;
  ~Answer() { PQclear(result_); }
  bool good() const {
    const auto status = PQresultStatus(result_);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
  }
  std::string_view command() const { return PQcmdStatus(result_); }
  std::string_view text(int column) const {
    return PQntuples(result_) == 1 && PQgetisnull(result_, 0, column) == 0
               ? PQgetvalue(result_, 0, column)
               : "";
  }
  bool has_row() const { return PQntuples(result_) == 1; }
  /// Of a row that came in binary.
  std::string bytes(int column) const {
    return {PQgetvalue(result_, 0, column),
            static_cast<std::size_t>(PQgetlength(result_, 0, column))};
  }
  postgresql_soci_error error() const {
    const char* state = PQresultErrorField(result_, PG_DIAG_SQLSTATE);
    // Where nothing could be sent there is no result.
    const char* message =
        result_ == nullptr ? PQerrorMessage(connection_) : PQresultErrorMessage(result_);
    return {message, state == nullptr ? "     " : state};
  }

 private:
  PGconn* connection_;
  PGresult* result_;
};

/// Has the server done something else than it was asked, or less. Source: PostgreSQL 15, 34.13
/// "Notice Processing"; src/backend/replication/syncrep.c: a COMMIT whose wait for the standby is
/// cancelled succeeds with a warning.
void note_warning(void* warned, const PGresult* notice) {
  const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity != nullptr && std::string_view{severity} == "WARNING")
    *static_cast<bool*>(warned) = true;
}

class PostgresqlSession;

/// SOCI hands texts on as C strings: behind a NUL they would be cut without an error.
class TextInput final : public soci::postgresql_standard_use_type_backend {
 public:
  using postgresql_standard_use_type_backend::postgresql_standard_use_type_backend;
  void pre_use(const soci::indicator* indicator) override {
    if (type_ == soci::details::x_stdstring &&
        static_cast<const std::string*>(data_)->find('\0') != std::string::npos)
      throw postgresql_soci_error{"a text has a NUL, which PostgreSQL does not keep", "22021"};
    postgresql_standard_use_type_backend::pre_use(indicator);
  }
};

class Statement final : public soci::postgresql_statement_backend {
 public:
  explicit Statement(PostgresqlSession& session);
  ~Statement() override;
  void prepare(const std::string& query, soci::details::statement_type type) override;
  TextInput* make_use_type_backend() override {
    hasUseElements_ = true;
    return new TextInput{*this};  // SOCI's to delete
  }

 private:
  PostgresqlSession& mine_;
  int connection_;
};

class PostgresqlSession final : public soci::postgresql_session_backend {
 public:
  explicit PostgresqlSession(const soci::connection_parameters& parameters)
      : postgresql_session_backend{parameters, false} {
    set_up();
  }

  void remember(const Server& server, bool read_only, const std::filesystem::path& folder) {
    server_ = server;
    read_only_ = read_only;
    folder_ = folder;
  }

  const std::filesystem::path& folder() const { return folder_; }
  int connection() const { return connection_; }
  std::int64_t cache_version() const { return cache_version_; }

  /// Before a statement: outside of a transaction a lost connection is made anew.
  void need_connection() {
    if (!in_transaction_ && is_lost()) connect_again();
  }

  void begin() override {
    need_connection();
    ask("BEGIN");
    in_transaction_ = true;
    transaction_.clear();
  }

  void begin_writing() {
    begin();
    try {
      const auto mine =
          ask("UPDATE writing SET count = count + 1 RETURNING count, pg_current_xact_id()");
      const auto count = number<std::int64_t>(mine.text(0));
      if (!count)
        throw postgresql_soci_error{"the table writing has no row: the schema is not whole",
                                    "XX001"};
      if (*count != count_ + 1) ++cache_version_;
      begun_count_ = *count;
      transaction_ = mine.text(1);
    } catch (...) {
      rollback();
      throw;
    }
  }

  void commit() override {
    warned_ = false;
    const Answer answer{conn_, "COMMIT"};
    const bool lost = PQstatus(conn_) == CONNECTION_BAD;
    in_transaction_ = false;
    if (lost) return look_whether_committed(answer);
    if (!answer.good()) throw answer.error();
    // A transaction with an error in it is rolled back by COMMIT, and that is a success.
    if (answer.command() != "COMMIT")
      throw postgresql_soci_error{"the transaction had an error in it and was rolled back",
                                  "25P02"};
    if (warned_)
      throw postgresql_soci_error{
          "the commit was not confirmed by the standby: its wait was cancelled", "40003"};
    if (!transaction_.empty()) count_ = begun_count_;
  }

  void rollback() override {
    in_transaction_ = false;
    if (PQstatus(conn_) == CONNECTION_OK) const Answer done{conn_, "ROLLBACK"};
  }

  Statement* make_statement_backend() override { return new Statement{*this}; }

  /// By its hash, so that it may be done again where it is not known whether it was done.
  void put(const std::string& hash, const KeptBytes& kept) {
    constexpr const char* kPut =
        "INSERT INTO evidence (hash, packed, bytes) VALUES ($1, $2, $3) ON CONFLICT (hash) DO "
        "UPDATE SET packed = excluded.packed, bytes = excluded.bytes";
    const std::array<const char*, 3> values{hash.c_str(), kept.packed ? "t" : "f",
                                            kept.bytes.data()};
    const std::array<int, 3> lengths{0, 0, static_cast<int>(kept.bytes.size())};
    constexpr std::array<int, 3> kFormats{0, 0, 1};
    ask_again([&] {
      return Answer{conn_, PQexecParams(conn_, kPut, 3, nullptr, values.data(), lengths.data(),
                                        kFormats.data(), 0)};
    });
  }

  std::optional<KeptBytes> get(const std::string& hash) {
    constexpr const char* kGet = "SELECT packed, bytes FROM evidence WHERE hash = $1";
    const std::array<const char*, 1> values{hash.c_str()};
    const auto answer = ask_again([&] {
      return Answer{conn_,
                    PQexecParams(conn_, kGet, 1, nullptr, values.data(), nullptr, nullptr, 1)};
    });
    if (!answer.has_row()) return std::nullopt;
    return KeptBytes{answer.bytes(0) != std::string(1, '\0'), answer.bytes(1)};
  }

 private:
  void set_up() {
    PQsetErrorVerbosity(conn_, PQERRORS_TERSE);  // no values of rows in messages
    PQsetNoticeReceiver(conn_, note_warning, &warned_);
  }

  /// Also one that the server has ended while nobody asked it anything.
  bool is_lost() {
    constexpr int kPieces = 8;  // its last words, then the end
    for (int i = 0; i < kPieces && PQstatus(conn_) != CONNECTION_BAD; ++i) {
      pollfd socket{PQsocket(conn_), POLLIN, 0};
      if (::poll(&socket, 1, 0) <= 0 || PQconsumeInput(conn_) == 0) break;
    }
    return PQstatus(conn_) == CONNECTION_BAD;
  }

  void connect_again() {
    const auto text = connection_text(server_, read_only_);
    if (!text) throw std::runtime_error{text.error().what};
    clean_up();
    ++connection_;
    ++cache_version_;
    count_ = kUnknown;
    connect(soci::connection_parameters{soci::postgresql, *text});
    set_up();
  }

  Answer ask(const char* query) {
    Answer answer{conn_, query};
    if (!answer.good()) throw answer.error();
    return answer;
  }

  /// Once more on a new connection, where the one that there was has ended meanwhile.
  template <class Ask>
  Answer ask_again(Ask ask) {
    need_connection();
    auto answer = ask();
    if (!answer.good() && PQstatus(conn_) == CONNECTION_BAD && !in_transaction_) {
      connect_again();
      Answer second = ask();
      if (!second.good()) throw second.error();
      return second;
    }
    if (!answer.good()) throw answer.error();
    return answer;
  }

  /// The row that begin_writing() changes is locked for as long as the server's end of the lost
  /// connection is at work on the transaction.
  void look_whether_committed(const Answer& lost) {
    if (transaction_.empty()) throw lost.error();
    const auto query = fmt::format(
        "SELECT pg_xact_status('{}'::xid8), count FROM (SELECT count FROM writing FOR UPDATE) AS "
        "waited",
        transaction_);
    const auto count = begun_count_;
    try {
      connect_again();
    } catch (const std::exception& fault) {
      throw postgresql_soci_error{
          fmt::format("the connection was lost in COMMIT, and is not there again: {}",
                      fault.what()),
          "40003"};
    }
    const auto found = ask(query.c_str());
    if (found.text(0) == "committed" && number<std::int64_t>(found.text(1)) >= count) return;
    throw postgresql_soci_error{"the connection was lost in COMMIT, and nothing was written",
                                "08006"};
  }

  static constexpr std::int64_t kUnknown = -2;

  Server server_{};
  std::filesystem::path folder_{};
  bool read_only_ = false;
  bool in_transaction_ = false;
  bool warned_ = false;
  int connection_ = 0;
  std::int64_t cache_version_ = 0;
  std::int64_t count_ = kUnknown;  // of this session's newest write
  std::int64_t begun_count_ = kUnknown;
  std::string transaction_{};  // its number, where it is one of begin_writing()
};

Statement::Statement(PostgresqlSession& session)
    : postgresql_statement_backend{session, false},
      mine_{session},
      connection_{session.connection()} {}

Statement::~Statement() {
  // Prepared on a connection that is gone: to drop it on another would be an error.
  if (connection_ != mine_.connection()) statementName_.clear();
}

void Statement::prepare(const std::string& query, soci::details::statement_type type) {
  mine_.need_connection();
  connection_ = mine_.connection();
  postgresql_statement_backend::prepare(query, type);
}

struct Factory final : soci::backend_factory {
  soci::details::session_backend* make_session(
      const soci::connection_parameters& parameters) const override {
    return new PostgresqlSession{parameters};  // SOCI's to delete
  }
};

PostgresqlSession& own(soci::session& sql) {
  return *static_cast<PostgresqlSession*>(sql.get_backend());
}

struct Advice {
  std::string_view state;  // or the begin of some
  std::string_view advice;
};

// Source: PostgreSQL 15, Appendix A "PostgreSQL Error Codes".
constexpr std::array kAdvice{
    Advice{"53100", "nothing of it was written; make room on the server's disk, then go on"},
    Advice{"53300", "the server has no connection left: see its max_connections"},
    Advice{"25006",
           "the server is a standby or read-only, and nothing was written: name the "
           "primary in store.yaml"},
    Advice{"57P", "the server is shutting down or starting; what was acknowledged before is kept"},
    Advice{"40003",
           "whether it was written shows once the server is read again: see it, and its "
           "standby where it has one"},
    Advice{"40", "another process wrote at the same time: do it again"},
    Advice{"55P03", "another process is writing for longer than is right: see pg_stat_activity"},
    Advice{"42501", "the user in store.yaml may not do it: see the schema's owner and grants"},
    Advice{"22021", "PostgreSQL keeps only valid UTF-8 without a NUL; nothing was written"},
    Advice{"XX00", "the database is damaged and was left as it is: see the server's log"},
    Advice{"     ", "see the server and its log; what was acknowledged before is kept"},
    Advice{"08", "see the server and its log; what was acknowledged before is kept"},
};

std::string one_line(std::string_view text) {
  std::string line;
  for (const auto word : words(text)) line += (line.empty() ? "" : " ") + std::string{word};
  return printable(line);
}

}  // namespace

void open_postgresql(soci::session& sql, const Server& server, bool read_only,
                     const std::filesystem::path& folder) {
  static const Factory kFactory{};
  const auto text = connection_text(server, read_only);
  if (!text) throw std::runtime_error{text.error().what};
  sql.open(kFactory, *text);
  own(sql).remember(server, read_only, folder);
}

const std::filesystem::path& folder_of_server(soci::session& sql) { return own(sql).folder(); }

bool is_postgresql(soci::session& sql) { return sql.get_backend_name() == "postgresql"; }

void begin_writing(soci::session& sql) { own(sql).begin_writing(); }
void commit_writing(soci::session& sql) { own(sql).commit(); }
void roll_back(soci::session& sql) { own(sql).rollback(); }
std::int64_t cache_version(soci::session& sql) { return own(sql).cache_version(); }

void put_evidence(soci::session& sql, const std::string& hash, const KeptBytes& kept) {
  own(sql).put(hash, kept);
}

std::optional<KeptBytes> get_evidence(soci::session& sql, const std::string& hash) {
  constexpr std::string_view kNoTable = "42P01";  // an older Cupel kept files alone
  try {
    return own(sql).get(hash);
  } catch (const postgresql_soci_error& fault) {
    if (fault.sqlstate() != kNoTable) throw;
    return std::nullopt;
  }
}

std::optional<std::string> postgresql_message(const std::exception& fault) {
  constexpr std::string_view kNoConnection = "Cannot establish connection to the database.";
  const std::string_view text = fault.what();
  if (text.starts_with(kNoConnection))
    return one_line(text.substr(kNoConnection.size())) + ": see the server, and store.yaml";
  const auto* known = dynamic_cast<const postgresql_soci_error*>(&fault);
  if (known == nullptr) return std::nullopt;
  const auto state = known->sqlstate();
  const auto message = one_line(known->get_error_message());
  for (const auto& each : kAdvice)
    if (state.starts_with(each.state)) return fmt::format("{}: {}", message, each.advice);
  return fmt::format("{} (SQLSTATE {})", message, state);
}

}  // namespace cupel::store
