// Where SQLite and PostgreSQL differ without an error, and what only a server can do to a store.
// Each test runs on both, but for those that are of a connection.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <limits>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "orchestrator/store/audit_log.h"
#include "orchestrator/store/check.h"
#include "orchestrator/store/dialect.h"
#include "orchestrator/store/journal_file.h"
#include "orchestrator/store/journal_reader.h"
#include "orchestrator/store/purpose.h"
#include "orchestrator/store/run_numbers.h"
#include "orchestrator/store/server.h"
#include "tests/orchestrator/store_fixture.h"
#include "tests/support/certificate.h"

namespace cupel::store {
namespace {
using engine::EventKind;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
namespace fs = std::filesystem;

class EnginesTest : public StoreTest {
 protected:
  /// A store with run 1 on n1.
  std::unique_ptr<Store> begun() {
    auto store = open();
    EXPECT_EQ(store->begin_run(run_on({"n1"})).value(), 1);
    return store;
  }

  static Result<void> append(Store& store, const std::string& step) {
    auto each = event(EventKind::step_began, "n1", step);
    return store.append(1, each);
  }

  static std::vector<std::string> steps_of(const Store& store) {
    std::vector<std::string> steps;
    const auto events = store.events_after(1, 0);
    EXPECT_TRUE(events) << (events ? "" : events.error().what);
    for (const auto& each : events.value()) steps.push_back(each.step);
    return steps;
  }
};

TEST_F(EnginesTest, ATextComesBackAsItWasOrIsRefused) {
  const auto store = begun();
  const std::string with_nul{"before\0behind", 13};
  const std::string no_utf8{"caf\xe9"};
  for (const auto& text : {with_nul, no_utf8}) {
    const auto kept = store->keep_options(1, text);
    if (kept) {
      EXPECT_EQ(store->run(1).value().options, text);
    } else {
      EXPECT_THAT(kept.error().what, HasSubstr("valid UTF-8 without a NUL; nothing was written"));
      EXPECT_EQ(store->run(1).value().options, "");
    }
    EXPECT_EQ(kept.has_value(), !on_postgresql());
    ASSERT_TRUE(store->keep_options(1, ""));
  }
  ASSERT_TRUE(append(*store, "first"));
  for (const auto& state : {with_nul, no_utf8}) {
    ASSERT_TRUE(store->keep_snapshot(1, 1, state));
    EXPECT_EQ(store->snapshot(1).value()->state, state);
  }
}

TEST_F(EnginesTest, WhetherThereIsARecordIsSeenOnBoth) {
  const auto store = open();
  EXPECT_EQ(purpose_of(folder_), Purpose::none);

  ASSERT_TRUE(store->repin("ssh:n1", "SHA256:one"));

  EXPECT_EQ(purpose_of(folder_), Purpose::site);
}

TEST_F(EnginesTest, TextsAreOrderedByTheirBytes) {
  const auto store = open();
  for (const auto* node : {"n-2", "n10", "N3", "n1", "\xc3\xa9"})
    ASSERT_TRUE(store->begin_run(run_on({node})));
  sql("DELETE FROM run_node");

  std::vector<std::string> held;
  for (const auto& fault : [&] {
         sql("DELETE FROM run");
         return check_store(folder_).value().faults;
       }())
    if (fault.where.starts_with("node ")) held.push_back(fault.where.substr(5));

  EXPECT_THAT(held, ElementsAre("N3", "n-2", "n1", "n10", "\xc3\xa9"));
}

TEST_F(EnginesTest, ANumberThatIsNoneIsWrittenNowhere) {
  const auto store = begun();
  auto measured = event(EventKind::step_ended, "n1", "gemm");
  measured.data["measurements"] =
      json::array{{{"name", "rate"}, {"value", std::numeric_limits<double>::quiet_NaN()}}};

  EXPECT_FALSE(store->append(1, measured));

  EXPECT_THAT(steps_of(*store), IsEmpty());
  if (on_postgresql()) {
    EXPECT_ANY_THROW(testing::Postgresql::of_this_program().ask(
        schema_, "INSERT INTO measurement VALUES (1, 1, 1, 1, 0, 'NaN', NULL)"));
  }
}

TEST_F(EnginesTest, ARunsNumberMayHaveMoreThan32Bits) {
  constexpr RunId kLarge = 3'000'000'000;
  const auto store = open();
  ASSERT_TRUE(begin_numbers_at(folder_, kLarge));

  ASSERT_EQ(store->begin_run(run_on({"n1"})).value(), kLarge);
  auto started = event(EventKind::run_started);
  ASSERT_TRUE(store->append(kLarge, started));

  EXPECT_EQ(store->run(kLarge).value().id, kLarge);
  EXPECT_EQ(store->runs(5).value()[0].id, kLarge);
  EXPECT_THAT(store->runs_of("n1", 5, kLarge + 1).value(), ElementsAre(kLarge));
  EXPECT_THAT(store->begin_run(run_on({"n1"})).error().what, HasSubstr("run 3000000000 holds n1"));
  const auto reader = JournalReader::open(folder_).value();
  EXPECT_THAT(reader.runs({.before = kLarge + 1}).value(), ElementsAre(kLarge));
  EXPECT_THAT(reader.open_runs().value(), ElementsAre(kLarge));
  EXPECT_THAT(check_store(folder_).value().faults, IsEmpty());
}

TEST_F(EnginesTest, AfterAnErrorInATransactionAllIsAsBeforeAndTheNextOneWorks) {
  const auto store = begun();

  const auto twice = store->begin_run(run_on({"n2", "n2"}));

  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, Code::kStorage);
  EXPECT_EQ(store->runs(5).value().size(), 1);
  EXPECT_EQ(store->begin_run(run_on({"n2"})).value(), 2);
  EXPECT_TRUE(append(*store, "next"));
}

TEST_F(EnginesTest, AJournalThatIsReadInPiecesIsWhole) {
  for (const auto more : {0, 1}) {
    const auto count = 2 * kRowsAtOnce + static_cast<std::size_t>(more);
    const auto store = open();
    const auto run = store->begin_run(run_on({"n" + std::to_string(more)})).value();
    std::vector<Event> batch(count, event(EventKind::step_began, "n1", "disk"));
    ASSERT_TRUE(store->append(run, batch));

    EXPECT_EQ(store->events(run).value().size(), count);
    EXPECT_EQ(store->events(run, "n1").value().size(), count);
    EXPECT_EQ(store->events_after(run, 7).value().size(), count - 7);
    EXPECT_EQ(store->broken_at(run).value(), std::nullopt);
    std::int64_t last = 0;
    ASSERT_TRUE(store->each_event(run, [&](const EventRow&) { ++last; }));
    EXPECT_EQ(last, static_cast<std::int64_t>(count));
  }
  auto log = AuditLog::open(folder_).value();
  ASSERT_TRUE(log.append(std::vector<AuditEntry>(kRowsAtOnce + 1, {.who = "ada", .what = "look"})));
  EXPECT_EQ(log.page(0, 2 * kRowsAtOnce).value().size(), kRowsAtOnce + 1);
  EXPECT_EQ(check_store(folder_).value().audit.sequence, kRowsAtOnce + 1);
}

TEST_F(EnginesTest, ArraysOfTextsHoldWhateverIsInThem) {
  EXPECT_EQ(array_text({}), "{}");
  EXPECT_EQ(array_text({"a", "", "NULL", "q\"b\\,{}"}), R"({"a","","NULL","q\"b\\,{}"})");
  const auto store = begun();
  const std::string odd{"it's {\"a\", NULL}, \\x41 \t\n\xc3\xa9:name::text"};
  auto each = event(EventKind::step_began, "n1", odd);
  each.data = {{"detail", odd}, {"empty", ""}};
  std::vector<Event> batch(3, each);
  ASSERT_TRUE(store->append(1, batch));

  for (const auto& read : store->events_after(1, 0).value()) {
    EXPECT_EQ(read.step, odd);
    EXPECT_EQ(read.data, each.data);
  }
}

TEST_F(EnginesTest, AReaderSeesThatAnotherConnectionWrote) {
  const auto store = begun();
  const auto reader = JournalReader::open(folder_).value();
  const auto before = reader.version().value();
  EXPECT_EQ(reader.version().value(), before);

  ASSERT_TRUE(append(*store, "one"));
  const auto behind = reader.version().value();
  store->pin("ssh:n1", "SHA256:one");

  EXPECT_NE(behind, before);
  EXPECT_NE(reader.version().value(), behind);
}

/// Between a store and its server, on a socket of its own: ends a connection once, where `text`
/// goes to the server.
class Cutter {
 public:
  enum class When { before_it_arrives, before_the_answer };

  Cutter(const fs::path& folder, const fs::path& server, std::string text, When when)
      : server_{server}, text_{std::move(text)}, when_{when} {
    const auto own = address_of(folder / server.filename());
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    EXPECT_EQ(::pipe2(end_.data(), O_CLOEXEC), 0);
    thread_ = std::jthread{[this] { work(); }};
  }
  ~Cutter() {
    ::close(end_[1]);
    thread_.join();
    for (const auto& pair : pairs_) close(pair);
    ::close(listener_);
    ::close(end_[0]);
  }
  Cutter(const Cutter&) = delete;
  Cutter& operator=(const Cutter&) = delete;

  void arm() { armed_ = true; }
  bool has_cut() const { return cut_; }

 private:
  struct Pair {
    int client = -1, server = -1;
  };

  static sockaddr_un address_of(const fs::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
  }
  static void close(const Pair& pair) {
    ::close(pair.client);
    ::close(pair.server);
  }

  void work() {
    for (;;) {
      std::vector<pollfd> all{{end_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
      for (const auto& [client, server] : pairs_) {
        all.push_back({client, POLLIN, 0});
        all.push_back({server, POLLIN, 0});
      }
      ::poll(all.data(), all.size(), -1);
      if (all[0].revents != 0) return;
      std::vector<Pair> left;
      for (std::size_t i = 0; i < pairs_.size(); ++i) {
        const bool goes_on =
            (all[2 * i + 2].revents == 0 || from_client(pairs_[i])) &&
            (all[2 * i + 3].revents == 0 || pass(pairs_[i].server, pairs_[i].client));
        if (goes_on)
          left.push_back(pairs_[i]);
        else
          close(pairs_[i]);
      }
      pairs_ = std::move(left);
      if (all[1].revents != 0) accept_one();
    }
  }

  void accept_one() {
    const Pair pair{::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC),
                    ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const auto to = address_of(server_);
    EXPECT_EQ(::connect(pair.server, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    pairs_.push_back(pair);
  }

  std::string read_from(int socket) {
    std::array<char, 65536> piece{};
    const auto count = ::read(socket, piece.data(), piece.size());
    return count > 0 ? std::string{piece.data(), static_cast<std::size_t>(count)} : std::string{};
  }

  bool pass(int from, int to) {
    const auto bytes = read_from(from);
    return !bytes.empty() && ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                                 static_cast<ssize_t>(bytes.size());
  }

  bool from_client(const Pair& pair) {
    const auto bytes = read_from(pair.client);
    if (bytes.empty()) return false;
    const bool here = armed_ && bytes.find(text_) != std::string::npos;
    if (here) {
      armed_ = false;
      cut_ = true;
      if (when_ == When::before_it_arrives) return false;
    }
    if (::send(pair.server, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return false;
    return !here || read_from(pair.server).empty();
  }

  fs::path server_;
  std::string text_;
  When when_;
  int listener_ = -1;
  std::array<int, 2> end_{};
  std::vector<Pair> pairs_{};
  std::atomic<bool> armed_ = false, cut_ = false;
  std::jthread thread_{};
};

class ConnectionTest : public EnginesTest {
 protected:
  /// What the folder's store is reached through.
  std::unique_ptr<Cutter> cutter(const std::string& text, Cutter::When when) {
    auto& server = testing::Postgresql::of_this_program();
    write_store_file(folder_, server.store_file(schema_, folder_.string()));
    return std::make_unique<Cutter>(folder_, server.socket(), text, when);
  }
};

TEST_F(ConnectionTest, AServerThatWasRestartedIsReachedAgainByWhoeverWasConnected) {
  CUPEL_OF_A_SERVER_ALONE();
  const auto store = begun();
  const auto reader = JournalReader::open(folder_).value();
  auto log = AuditLog::open(folder_).value();
  auto measured = event(EventKind::step_ended, "n1", "gemm");
  measured.data["measurements"] = json::array{{{"name", "rate"}, {"value", 7}, {"unit", "GB/s"}}};
  ASSERT_TRUE(store->append(1, measured));
  ASSERT_TRUE(log.append({.who = "ada", .what = "look"}));

  testing::Postgresql::of_this_program().end_connections();

  const auto again = store->append(1, measured);
  EXPECT_TRUE(again) << (again ? "" : again.error().what);
  EXPECT_EQ(reader.page({.run = 1}).value().size(), 2);
  EXPECT_TRUE(log.append({.who = "ada", .what = "look"}));
  EXPECT_EQ(store->broken_at(1).value(), std::nullopt);
  EXPECT_THAT(check_store(folder_).value().faults, IsEmpty());
}

TEST_F(ConnectionTest, OneThatIsLostInATransactionWritesNothingAndTheNextWorks) {
  CUPEL_OF_A_SERVER_ALONE();
  const auto cutter = this->cutter("INSERT INTO event", Cutter::When::before_it_arrives);
  const auto store = begun();
  ASSERT_TRUE(append(*store, "first"));
  cutter->arm();

  const auto lost = append(*store, "lost");

  ASSERT_TRUE(cutter->has_cut());
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Code::kStorage);
  EXPECT_TRUE(append(*store, "next"));
  EXPECT_THAT(steps_of(*store), ElementsAre("first", "next"));
}

TEST_F(ConnectionTest, ACommitThatDidNotArriveIsAnErrorAndWasNotDone) {
  CUPEL_OF_A_SERVER_ALONE();
  const auto cutter = this->cutter("COMMIT", Cutter::When::before_it_arrives);
  const auto store = begun();
  cutter->arm();

  const auto lost = append(*store, "lost");

  ASSERT_TRUE(cutter->has_cut());
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().what, HasSubstr("lost in COMMIT, and nothing was written"));
  EXPECT_TRUE(append(*store, "next"));
  EXPECT_THAT(steps_of(*store), ElementsAre("next"));
}

TEST_F(ConnectionTest, ACommitWhoseAnswerDidNotArriveWasDone) {
  CUPEL_OF_A_SERVER_ALONE();
  const auto cutter = this->cutter("COMMIT", Cutter::When::before_the_answer);
  const auto store = begun();
  cutter->arm();

  const auto done = append(*store, "done");

  ASSERT_TRUE(cutter->has_cut());
  EXPECT_TRUE(done) << (done ? "" : done.error().what);
  EXPECT_TRUE(append(*store, "next"));
  EXPECT_THAT(steps_of(*store), ElementsAre("done", "next"));
}

TEST_F(ConnectionTest, ACommitThatTheStandbyDidNotConfirmIsAnError) {
  CUPEL_OF_A_SERVER_ALONE();
  auto& server = testing::Postgresql::of_this_program();
  const auto store = begun();
  server.ask("public", "ALTER SYSTEM SET synchronous_standby_names = 'none_is_there'");
  server.ask("public", "SELECT pg_reload_conf()");
  // Cancels the wait once there is one. The settings are read by each process in its own time.
  std::jthread canceller{[&server](const std::stop_token& stop) {
    while (!stop.stop_requested() &&
           server
               .ask("public",
                    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = "
                    "'SyncRep'")
               .empty()) {
    }
  }};

  Result<void> written;
  for (int i = 0; written && i < 10'000; ++i) written = append(*store, "unconfirmed");
  canceller.request_stop();
  canceller.join();
  server.ask("public", "ALTER SYSTEM RESET synchronous_standby_names");
  server.ask("public", "SELECT pg_reload_conf()");

  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().what, HasSubstr("not confirmed by the standby"));
}

TEST_F(ConnectionTest, AServerThatIsNotThereIsNamedWithWhatToLookAt) {
  CUPEL_OF_A_SERVER_ALONE();
  write_store_file(folder_, "postgresql: {host: " + (folder_ / "nowhere").string() + "}\n");

  const auto store = Store::open(folder_);

  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::kStorage);
  EXPECT_THAT(store.error().what, AllOf(HasSubstr("nowhere/.s.PGSQL.5432"),
                                        HasSubstr("see the server, and store.yaml")));
}

TEST_F(ConnectionTest, OverTcpOnlyAServerThatProvesItsNameGetsThePassword) {
  CUPEL_OF_A_SERVER_ALONE();
  auto& server = testing::Postgresql::of_this_program();
  const auto opened = [&](const std::string& host, const std::string& authorities,
                          const std::string& password) -> std::string {
    EXPECT_TRUE(write_file(folder_ / "ca.pem", authorities));
    EXPECT_TRUE(write_file(folder_ / "password", password + "\n"));
    write_store_file(folder_, "postgresql: {host: " + host +
                                  ", port: " + std::to_string(server.port()) +
                                  ", database: postgres, schema: " + schema_ +
                                  ", ca: ca.pem, password: \"file:password\"}\n");
    const auto store = Store::open(folder_);
    return store ? "opened" : store.error().what;
  };

  EXPECT_EQ(opened("127.0.0.1", server.certificate(), server.kPassword), "opened");
  EXPECT_THAT(opened("127.0.0.1", test::make_certificate().certificate_pem, server.kPassword),
              AllOf(HasSubstr("certificate verify failed"), Not(HasSubstr("secret"))));
  EXPECT_THAT(opened("localhost", server.certificate(), server.kPassword),
              AllOf(HasSubstr("does not match host name"), Not(HasSubstr("secret"))));
  EXPECT_THAT(opened("127.0.0.1", server.certificate(), "another secret"),
              AllOf(HasSubstr("password authentication failed"), Not(HasSubstr("secret"))));
}

TEST_F(ConnectionTest, ASchemaBelongsToOneStateFolder) {
  CUPEL_OF_A_SERVER_ALONE();
  ASSERT_NE(open(), nullptr);
  const auto other = folder_ / "other";
  fs::create_directory(other);
  fs::copy_file(folder_ / "store.yaml", other / "store.yaml");

  const auto store = Store::open(other);

  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::kConflict);
  EXPECT_THAT(store.error().what, HasSubstr(folder_.string() + " on "));
  EXPECT_NE(open(), nullptr);
}

TEST_F(EnginesTest, TwoStoresInOneFolderAreRefused) {
  {
    const auto store = open();
    ASSERT_NE(store, nullptr);
  }
  if (on_postgresql())
    std::ofstream{folder_ / "cupel.db"} << "";
  else
    write_store_file(folder_, "postgresql: {host: /nowhere}\n");

  const auto store = Store::open(folder_);

  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::kConflict);
  EXPECT_THAT(store.error().what, HasSubstr("records in two places"));
}

Result<Server> server_in(const std::string& text) {
  std::vector<inventory::Problem> problems;
  auto server = parse_server(text, "store.yaml", "/var/lib/cupel", problems);
  if (!server) return Error{Code::kInvalid, inventory::to_string(problems)};
  return *std::move(server);
}

std::string fault_in(const std::string& text) {
  const auto server = server_in(text);
  return server ? "" : server.error().what;
}

TEST(StoreFile, NamesAServer) {
  const auto local = server_in("postgresql: {host: /run/postgresql}").value();
  EXPECT_EQ(local.schema, "cupel");
  EXPECT_TRUE(local.is_local());

  const auto far = server_in(R"(postgresql:
  host: db.example.com
  port: 6432
  database: racks
  user: cupel
  schema: hall_2
  password: file:password
  ca: ca.pem
)")
                       .value();
  EXPECT_EQ(far.port, 6432);
  EXPECT_EQ(far.password->where, "/var/lib/cupel/password");
  EXPECT_EQ(far.authorities, "/var/lib/cupel/ca.pem");
}

TEST(StoreFile, SaysWhatIsWrongInIt) {
  EXPECT_THAT(fault_in("postgresql: {}"), HasSubstr("host"));
  EXPECT_THAT(fault_in("{}"), HasSubstr("postgresql is missing"));
  EXPECT_THAT(fault_in("postgresql: {host: db.example.com}"), HasSubstr("ca names a file"));
  EXPECT_THAT(fault_in("postgresql: {host: /run, password: secret}"),
              AllOf(HasSubstr("file:PATH, env:NAME or cmd:COMMAND"), Not(HasSubstr("secret"))));
  EXPECT_THAT(fault_in("postgresql: {host: \"db sslmode=disable\", ca: x}"), HasSubstr("host is"));
  EXPECT_THAT(fault_in("postgresql: {host: /run, schema: \"a; DROP\"}"), HasSubstr("schema is of"));
  EXPECT_THAT(fault_in("postgresql: {host: /" + std::string(100, 'r') + "}"),
              HasSubstr("at most 107 bytes"));
  EXPECT_THAT(fault_in("postgresql: {host: /run, sslmode: disable}"), HasSubstr("sslmode"));
}

TEST(StoreFile, OverTheNetworkTheServerProvesItsName) {
  ::setenv("CUPEL_TEST_PASSWORD", "it's \\ secret", 1);
  auto server = server_in(
                    "postgresql: {host: db.example.com, ca: /ca.pem, "
                    "password: \"env:CUPEL_TEST_PASSWORD\"}")
                    .value();

  const auto text = connection_text(server, true).value();
  ::unsetenv("CUPEL_TEST_PASSWORD");

  EXPECT_THAT(
      text, AllOf(HasSubstr("host='db.example.com' hostaddr=''"), HasSubstr("sslmode=verify-full"),
                  HasSubstr("sslrootcert='/ca.pem'"), HasSubstr("default_transaction_read_only=on"),
                  HasSubstr(R"(password='it\'s \\ secret')")));
  server.host = "/run/postgresql";
  EXPECT_FALSE(connection_text(server, false)) << "the variable is not set any more";
}

}  // namespace
}  // namespace cupel::store
