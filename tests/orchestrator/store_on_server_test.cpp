// What a server alone has of a store: evidence in a table, its own way to say what is wrong, a name
// on a command line.
#include <fstream>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "orchestrator/store/check.h"
#include "orchestrator/store/prune.h"
#include "orchestrator/store/server.h"
#include "orchestrator/store/server_look.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {
using engine::EventKind;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
namespace fs = std::filesystem;

class EvidenceTableTest : public StoreTest {
 protected:
  std::string ask(const std::string& statement) {
    return testing::Postgresql::of_this_program().ask(schema_, statement);
  }

  /// A file, as a store has it before it is moved to a server.
  fs::path file_of(const std::string& bytes) {
    const auto hash = sha256_hex(bytes);
    const auto file = folder_ / "evidence" / hash.substr(0, 2) / hash;
    fs::create_directories(file.parent_path());
    std::ofstream{file} << bytes;
    return file;
  }

  static RunId ended_run(Store& store, const std::string& hash) {
    const auto run = store.begin_run(run_on({"n1"})).value();
    auto named = event(EventKind::step_ended, "n1", "disk");
    named.data["evidence"] = hash;
    EXPECT_TRUE(store.append(run, named));
    auto end = event(EventKind::run_ended);
    EXPECT_TRUE(store.append(run, end));
    return run;
  }
};

TEST_F(EvidenceTableTest, HasAnyBytesOnceAndPackedWhereThatIsSmaller) {
  CUPEL_OF_A_SERVER_ALONE();
  const auto store = open();
  const std::string large(100'000, 'x'), any{"\0\xff\\x41'; DROP TABLE evidence", 29};

  for (const auto& bytes : {large, any, std::string{}, large}) {
    const auto hash = store->keep_evidence(bytes).value();
    EXPECT_EQ(hash, sha256_hex(bytes));
    EXPECT_EQ(store->evidence(hash).value(), bytes);
  }

  EXPECT_EQ(ask("SELECT count(*) FROM evidence"), "3");
  EXPECT_EQ(ask("SELECT packed FROM evidence WHERE hash = '" + sha256_hex(large) + "'"), "t");
  EXPECT_LT(std::stoi(ask("SELECT max(octet_length(bytes)) FROM evidence")), 1000);
  EXPECT_FALSE(fs::exists(folder_ / "evidence" / sha256_hex(large).substr(0, 2))) << "no file";
}

TEST_F(EvidenceTableTest, IsNotPackedAgainByTheServer) {
  CUPEL_OF_A_SERVER_ALONE();
  ASSERT_NE(open(), nullptr);

  EXPECT_EQ(ask("SELECT attstorage FROM pg_attribute WHERE attrelid = 'evidence'::regclass AND "
                "attname = 'bytes'"),
            "e");
}

TEST_F(EvidenceTableTest, ThatWasChangedIsNoticedAndKeptAnew) {
  CUPEL_OF_A_SERVER_ALONE();
  const auto store = open();
  const auto hash = store->keep_evidence("raw output").value();
  change_evidence(hash);
  EXPECT_EQ(store->evidence(hash).error().code, Code::kMalformed);
  EXPECT_THAT(check_store(folder_).value().faults,
              ElementsAre(Field(&Fault::where, "evidence " + hash)));

  EXPECT_EQ(store->keep_evidence("raw output").value(), hash);

  EXPECT_EQ(store->evidence(hash).value(), "raw output");
  EXPECT_THAT(check_store(folder_).value().faults, IsEmpty());
}

TEST_F(EvidenceTableTest, FilesFromBeforeAreReadAndGoOnceTheTableHasThem) {
  CUPEL_OF_A_SERVER_ALONE();
  const auto store = open();
  const auto first = file_of("first output"), second = file_of("second output");
  ended_run(*store, sha256_hex("first output"));
  ended_run(*store, store->keep_evidence("second output").value());
  EXPECT_EQ(store->evidence(sha256_hex("first output")).value(), "first output");
  EXPECT_EQ(check_store(folder_).value().evidence, 2);

  ASSERT_TRUE(prune(folder_, {.keep = 5}));

  EXPECT_TRUE(fs::exists(first)) << "it is nowhere else";
  EXPECT_FALSE(fs::exists(second));
  EXPECT_EQ(store->evidence(sha256_hex("second output")).value(), "second output");
}

TEST_F(EvidenceTableTest, ThatNobodyNamesAnyMoreIsPruned) {
  CUPEL_OF_A_SERVER_ALONE();
  const auto store = open();
  const auto gone = ended_run(*store, store->keep_evidence("of one").value());
  ended_run(*store, store->keep_evidence("of the other").value());

  const auto pruned = prune(folder_, {.runs = {gone}});

  ASSERT_TRUE(pruned) << pruned.error().what;
  EXPECT_EQ(pruned->evidence, 1);
  EXPECT_EQ(pruned->evidence_bytes, 6);
  EXPECT_EQ(ask("SELECT count(*) FROM evidence"), "1");
  EXPECT_THAT(check_store(folder_).value().faults, IsEmpty());
}

TEST_F(EvidenceTableTest, IsKeptAndReadOnANewConnectionWhereTheOldOneWasLost) {
  CUPEL_OF_A_SERVER_ALONE();
  auto& server = testing::Postgresql::of_this_program();
  const auto store = open();
  const auto first = store->keep_evidence("first").value();

  server.end_connections();
  const auto second = store->keep_evidence("second");
  server.end_connections();

  ASSERT_TRUE(second) << second.error().what;
  EXPECT_EQ(store->evidence(first).value(), "first");
  EXPECT_EQ(store->evidence(*second).value(), "second");
}

class ServerFaultsTest : public StoreTest {
 protected:
  /// The server refuses each new event as `act` says.
  void refuse_events(const std::string& act) {
    testing::Postgresql::of_this_program().ask(
        schema_,
        "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + act +
            " RETURN NEW; END $$;"
            "DROP TRIGGER IF EXISTS refuse ON event;"
            "CREATE TRIGGER refuse BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION "
            "refuse()");
  }
};

TEST_F(ServerFaultsTest, AreToldByTheirStateWithWhatHelps) {
  CUPEL_OF_A_SERVER_ALONE();
  const auto store = open();
  ASSERT_TRUE(store->begin_run(run_on({"n1"})));
  // The texts are another language's, as they are on a server of another language.
  for (const auto& [state, advice] : {std::pair{"53100", "make room on the server's disk"},
                                      {"25006", "the server is a standby or read-only"},
                                      {"57P01", "the server is shutting down"},
                                      {"57P03", "the server is shutting down"},
                                      {"53300", "max_connections"},
                                      {"42501", "owner and grants"},
                                      {"40001", "do it again"},
                                      {"XX001", "the database is damaged"},
                                      {"P0001", "SQLSTATE P0001"}}) {
    refuse_events("RAISE EXCEPTION 'geht nicht' USING ERRCODE = '" + std::string{state} + "';");
    auto each = event(EventKind::step_began, "n1", "disk");

    const auto refused = store->append(1, each);

    ASSERT_FALSE(refused) << state;
    EXPECT_EQ(refused.error().code, Code::kStorage);
    EXPECT_THAT(refused.error().what, AllOf(HasSubstr("geht nicht"), HasSubstr(advice)));
  }
  refuse_events("");
  auto each = event(EventKind::step_began, "n1", "disk");
  EXPECT_TRUE(store->append(1, each)) << "the next one works";
  EXPECT_THAT(store->events(1).value(), SizeIs(1));
}

TEST_F(ServerFaultsTest, AServerThatStopsInATransactionIsReachedAgain) {
  CUPEL_OF_A_SERVER_ALONE();
  const auto store = open();
  ASSERT_TRUE(store->begin_run(run_on({"n1"})));
  refuse_events("PERFORM pg_terminate_backend(pg_backend_pid());");
  auto each = event(EventKind::step_began, "n1", "disk");

  const auto lost = store->append(1, each);

  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().what, HasSubstr("what was acknowledged before is kept"));
  refuse_events("");
  EXPECT_TRUE(store->append(1, each));
  EXPECT_THAT(store->events(1).value(), SizeIs(1));
}

TEST_F(ServerFaultsTest, AServerThatCanLoseWhatItAcknowledgedIsToldToThePerson) {
  CUPEL_OF_A_SERVER_ALONE();
  ASSERT_NE(open(), nullptr);

  const auto look = look_at_server(folder_);

  ASSERT_TRUE(look) << look.error().what;
  EXPECT_THAT((*look)->where,
              AllOf(HasSubstr("schema " + schema_ + " of postgres"), HasSubstr("PostgreSQL 1")));
  EXPECT_THAT((*look)->risks, ElementsAre("fsync is off")) << "as tests have it";
}

std::string fault_of(const std::string& url) {
  const auto server = parse_server_url(url, "/home/ada");
  return server ? "" : server.error().what;
}

TEST(ServerUrl, NamesAServer) {
  const auto local = parse_server_url("postgresql:///racks?host=/run/postgresql", "/x").value();
  EXPECT_EQ(local.host, "/run/postgresql");
  EXPECT_EQ(local.database, "racks");
  EXPECT_EQ(local.user, "cupel");
  EXPECT_EQ(local.port, 5432);
  EXPECT_FALSE(local.password);

  const auto far = parse_server_url(
                       "postgresql://ada@db.example.com:6432/racks?schema=hall_2&ca=ca.pem&"
                       "password=file:my%20secret&sslmode=verify-full",
                       "/home/ada")
                       .value();
  EXPECT_EQ(far.host, "db.example.com");
  EXPECT_EQ(far.port, 6432);
  EXPECT_EQ(far.user, "ada");
  EXPECT_EQ(far.schema, "hall_2");
  EXPECT_EQ(far.authorities, "/home/ada/ca.pem");
  EXPECT_EQ(far.password->where, "/home/ada/my secret");
  EXPECT_EQ(parse_server_url("postgresql://[::1]:6432/racks?ca=/c", "/").value().host, "::1");
}

TEST(ServerUrl, ComesBackFromWhatIsWrittenDown) {
  for (const auto* url :
       {"postgresql:///racks?host=/run/postgresql&port=6432",
        "postgresql://ada@db.example.com/racks?schema=s&ca=/c%22a%27.pem&password=cmd:echo%20%26",
        "postgresql://[::1]:6432/racks?ca=/c&password=env:PASS"}) {
    const auto server = parse_server_url(url, "/home/ada").value();
    std::vector<inventory::Problem> problems;

    EXPECT_EQ(parse_server(to_yaml(server), "store.yaml", "/elsewhere", problems), server)
        << to_yaml(server) << inventory::to_string(problems);
    EXPECT_EQ(parse_server_url(to_url(server), "/elsewhere").value(), server) << to_url(server);
  }
}

TEST(ServerUrl, NeverHasAPasswordAndNeverRepeatsOne) {
  for (const auto* url : {"postgresql://ada:hunter2@/racks?host=/run",
                          "postgresql:///racks?host=/run&password=hunter2",
                          "postgresql:///racks?host=/run&passwd=hunter2"}) {
    EXPECT_THAT(fault_of(url), AllOf(Not(IsEmpty()), Not(HasSubstr("hunter2")))) << url;
  }
  EXPECT_THAT(fault_of("postgresql://ada:hunter2@/racks?host=/run"),
              HasSubstr("seen by every user of the machine"));
}

TEST(ServerUrl, SaysAllThatIsWrongAtOnce) {
  EXPECT_THAT(fault_of("mysql://db/x"), HasSubstr("postgresql://USER@HOST/DATABASE"));
  EXPECT_THAT(fault_of(""), HasSubstr("postgresql://"));
  EXPECT_THAT(fault_of("postgresql://"), HasSubstr("host"));
  EXPECT_THAT(fault_of("postgresql://db/x"), HasSubstr("ca names a file"));
  EXPECT_THAT(fault_of("postgresql://db/x?ca=/c&sslmode=disable"), HasSubstr("sslmode"));
  EXPECT_THAT(fault_of("postgresql://db/x%2"), HasSubstr("two hexadecimal digits"));
  EXPECT_THAT(fault_of("postgresql://db/x?ca=/c&ca=/d"), HasSubstr("ca is there twice"));
  EXPECT_THAT(fault_of("postgresql://a\x1b[2J@db/x"), HasSubstr("printable UTF-8"));
  EXPECT_THAT(fault_of("postgresql://db/" + std::string(5000, 'x')), HasSubstr("at most 4096"));
  EXPECT_THAT(fault_of("postgresql://db:x/Racks?schem=a"),
              AllOf(HasSubstr("port is a number"), HasSubstr("did you mean 'schema'"),
                    HasSubstr("database is of a-z"), HasSubstr("ca names a file")));
}

TEST_F(ServerFaultsTest, AServerIsNamedInAFolderWithoutAStoreOnceItWasReached) {
  CUPEL_OF_A_SERVER_ALONE();
  const auto here = server_of(folder_).value().value();
  const auto state = folder_ / "new";
  auto nowhere = here;
  nowhere.host = "/nowhere";
  EXPECT_EQ(name_server(state, nowhere).error().code, Code::kStorage);
  EXPECT_FALSE(fs::exists(state)) << "nothing was changed";

  ASSERT_TRUE(name_server(state, here));
  EXPECT_TRUE(name_server(state, here)) << "once more, as a service that is started again does";

  EXPECT_EQ(server_of(state).value(), here);
  auto other = here;
  other.schema = "other";
  const auto refused = name_server(state, other);
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_THAT(refused.error().what, HasSubstr("names another server, " + to_url(here)));
  const auto file = folder_ / "file";
  fs::create_directory(file);
  std::ofstream{file / "cupel.db"} << "";
  EXPECT_THAT(name_server(file, here).error().what, HasSubstr("store migrate --to"));
}

}  // namespace
}  // namespace cupel::store
