// Every command of cupel, on a state folder and where $CUPEL_SERVER names a service: it answers the
// same, or refuses and says why, or the variable is nothing to it. A command that is in no row of
// the table below fails the test.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "orchestrator/record/series_codec.h"
#include "orchestrator/store/store.h"
#include "tests/e2e/cupel_binary.h"
#include "tests/e2e/forked_cupel.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

enum class Kind {
  same,         // a service answers it: output, errors and exit code are those of the state folder
  refused,      // no service does, and it works on records: with $CUPEL_SERVER it takes none
  indifferent,  // it works on neither: the variable changes nothing
};

struct Row {
  const char* command;  // "cupel status"
  Kind kind;
  std::vector<const char*> lines;  // each with a blank between words; FOLDER is the test's own
  /// Where both name another file: what both say all the same, and the exit code is compared.
  /// Empty: all that is printed is compared.
  const char* says = "";
};

const std::vector<Row>& rows() {
  using enum Kind;
  static const std::vector<Row> all{
      {"cupel actions", same, {"actions", "actions 1", "actions 7", "actions --json"}},
      {"cupel approve", same, {"approve 1", "approve 7"}},
      {"cupel cancel", same, {"cancel 1", "cancel 7", "cancel 1 --json"}},
      {"cupel continue", same, {"continue 1", "continue 7"}},
      {"cupel follow", same, {"follow 1", "follow 7", "follow 1 --on-halt wait"}},
      {"cupel inventory ansible", same, {"inventory ansible", "inventory ansible n9"}},
      {"cupel inventory prometheus", same, {"inventory prometheus --port 9400"}},
      {"cupel pause", same, {"pause", "pause 7", "pause 1 --reason noise"}},
      {"cupel report", same, {"report", "report 1 --csv", "report 1 --json", "report 7"}},
      {"cupel requalify", same, {"requalify n1 --plan"}},
      {"cupel requalify", same, {"requalify n9 --plan"}, "has no node 'n9'"},
      {"cupel resume", same, {"resume", "resume 7", "resume 1 --detach"}},
      {"cupel retry", same, {"retry 1 n1", "retry 7 n1", "retry 1 n9"}},
      {"cupel run", same, {"run audit --set x=1"}, "has no parameter 'x'"},
      {"cupel run", same, {"run audit --nodes n9"}, "there is no node 'n9'"},
      {"cupel run", same, {"run nothing"}, "nothing"},
      {"cupel show", same, {"show n1", "show n9", "show n1 --json", "show n1 --run 7"}},
      {"cupel show", same, {"show n2 --series", "show n2 --series --csv"}},
      {"cupel skip", same, {"skip 1 n1 verdict --reason x", "skip 7 n1 verdict --reason x"}},
      {"cupel status", same, {"status 1", "status 7", "status 1 --json", "status 0"}},
      {"cupel status", same, {"status --last", "status --last --json"}},
      {"cupel status", same, {"status 1 --last"}, "excludes"},
      {"cupel status", same, {"status", "status --json"}},
      {"cupel unpause", same, {"unpause 1", "unpause 7"}},

      {"cupel audit assets", refused, {"audit assets FOLDER/list.csv"}},
      {"cupel audit arrivals", refused, {"audit arrivals FOLDER/list.csv"}},
      {"cupel audit diff", refused, {"audit diff 1 2"}},
      {"cupel backup", refused, {"backup FOLDER/copy"}},
      {"cupel certificate", refused, {"certificate 1 --key k"}},
      {"cupel compliance", refused, {"compliance --against clustermax"}},
      {"cupel controller", refused, {"controller"}},
      {"cupel export netbox", refused, {"export netbox --url http://127.0.0.1:9 --token env:X"}},
      {"cupel export otlp", refused, {"export otlp --url http://127.0.0.1:9"}},
      {"cupel export s3",
       refused,
       {"export s3 --endpoint http://127.0.0.1:9 --bucket abc --key env:X"}},
      {"cupel fabric after-swap", refused, {"fabric after-swap"}},
      {"cupel fabric health", refused, {"fabric health now"}},
      {"cupel fabric history", refused, {"fabric history"}},
      {"cupel fabric repaired", refused, {"fabric repaired l1/1 --did reseat"}},
      {"cupel firmware continue", refused, {"firmware continue n1"}},
      {"cupel firmware forget", refused, {"firmware forget n1"}},
      {"cupel firmware rewrite", refused, {"firmware rewrite n1 --only bios"}},
      {"cupel firmware show", refused, {"firmware show n1"}},
      {"cupel parts", refused, {"parts"}},
      {"cupel profile learn", refused, {"profile learn n1"}},
      {"cupel restore", refused, {"restore FOLDER/copy"}},
      {"cupel rma", refused, {"rma n1"}},
      {"cupel store migrate", refused, {"store migrate --to sqlite"}},
      {"cupel store prune", refused, {"store prune"}},
      {"cupel store repair", refused, {"store repair 1"}},
      {"cupel store verify", refused, {"store verify"}},
      {"cupel token add", refused, {"token add alice"}},
      {"cupel token list", refused, {"token list"}},
      {"cupel token revoke", refused, {"token revoke 0000000000000000"}},
      {"cupel verdict recompute", refused, {"verdict recompute 1"}},

      {"cupel baseline floor import", indifferent, {"baseline floor import FOLDER/none"}},
      {"cupel baseline floor show", indifferent, {"baseline floor show"}},
      {"cupel bmc accept-certificate", indifferent, {"bmc n9 accept-certificate"}},
      {"cupel bmc accounts", indifferent, {"bmc n9 accounts"}},
      {"cupel bmc bios", indifferent, {"bmc n9 bios"}},
      {"cupel bmc boot", indifferent, {"bmc n9 boot"}},
      {"cupel bmc budget", indifferent, {"bmc n9 budget"}},
      {"cupel bmc clock", indifferent, {"bmc n9 clock"}},
      {"cupel bmc diagnostics", indifferent, {"bmc n9 diagnostics"}},
      {"cupel bmc console", indifferent, {"bmc n9 console"}},
      {"cupel bmc events", indifferent, {"bmc n9 events"}},
      {"cupel bmc firmware", indifferent, {"bmc n9 firmware"}},
      {"cupel bmc identity", indifferent, {"bmc n9 identity"}},
      {"cupel bmc inventory", indifferent, {"bmc n9 inventory"}},
      {"cupel bmc locate", indifferent, {"bmc n9 locate"}},
      {"cupel bmc log", indifferent, {"bmc n9 log"}},
      {"cupel bmc media", indifferent, {"bmc n9 media"}},
      {"cupel bmc password", indifferent, {"bmc n9 password rotate"}},
      {"cupel bmc pins export", indifferent, {"bmc pins export"}},
      {"cupel bmc pins import", indifferent, {"bmc pins import FOLDER/none"}},
      {"cupel bmc pins list", indifferent, {"bmc pins list"}},
      {"cupel bmc power", indifferent, {"bmc n9 power", "bmc power"}},
      {"cupel bmc reset", indifferent, {"bmc n9 reset"}},
      {"cupel bmc retry-login", indifferent, {"bmc n9 retry-login"}},
      {"cupel bmc scan", indifferent, {"bmc scan nonsense"}},
      {"cupel bmc sensors", indifferent, {"bmc n9 sensors"}},
      {"cupel bmc services", indifferent, {"bmc n9 services"}},
      {"cupel bmc update-service", indifferent, {"bmc n9 update-service"}},
      {"cupel boot dhcp", indifferent, {"boot dhcp"}},
      {"cupel check conf", indifferent, {"check conf n1"}},
      {"cupel completion", indifferent, {"completion bash", "completion --names nodes"}},
      {"cupel doctor", indifferent, {"doctor --node n9"}},
      {"cupel exec", indifferent, {"exec n9 -- true"}},
      {"cupel fabric audit", indifferent, {"fabric audit"}},
      {"cupel fabric plan", indifferent, {"fabric plan"}},
      {"cupel firmware check", indifferent, {"firmware check n9"}},
      {"cupel firmware digest", indifferent, {"firmware digest FOLDER/none"}},
      {"cupel firmware learn", indifferent, {"firmware learn n9"}},
      {"cupel firmware plan", indifferent, {"firmware plan n9"}},
      {"cupel firmware sign", indifferent, {"firmware sign FOLDER/none"}},
      {"cupel image build", indifferent, {"image build"}},
      {"cupel image gc", indifferent, {"image gc"}},
      {"cupel image import", indifferent, {"image import FOLDER/none d"}},
      {"cupel image installer", indifferent, {"image installer"}},
      {"cupel image list", indifferent, {"image list"}},
      {"cupel image mirror-conf", indifferent, {"image mirror-conf"}},
      {"cupel image verify", indifferent, {"image verify"}},
      {"cupel inventory check", indifferent, {"inventory check"}},
      {"cupel inventory import netbox",
       indifferent,
       {"inventory import netbox --url http://127.0.0.1:9 --token env:X --base FOLDER/none --out "
        "FOLDER/made"}},
      {"cupel inventory list", indifferent, {"inventory list"}},
      {"cupel login", indifferent, {"login --server https://127.0.0.1:9", "login --server x"}},
      {"cupel logout", indifferent, {"logout --server https://127.0.0.1:9"}},
      {"cupel manual", indifferent, {"manual status"}},
      {"cupel plan", indifferent, {"plan nothing"}},
      {"cupel playbook check", indifferent, {"playbook check FOLDER/books/judge.yaml"}},
      {"cupel playbook list", indifferent, {"playbook list"}},
      {"cupel playbook schema", indifferent, {"playbook schema"}},
      {"cupel playbook show", indifferent, {"playbook show audit"}},
      {"cupel profile check", indifferent, {"profile check FOLDER/profiles/mine.yaml"}},
      {"cupel profile list", indifferent, {"profile list"}},
      {"cupel profile schema", indifferent, {"profile schema"}},
      {"cupel profile show", indifferent, {"profile show mine"}},
      {"cupel rack list", indifferent, {"rack list"}},
      {"cupel rack show", indifferent, {"rack show a01"}},
      {"cupel rack serve", indifferent, {"rack serve FOLDER/none"}},
      {"cupel rehearse", indifferent, {"rehearse audit --rack FOLDER/none"}},
      {"cupel serve", indifferent, {"serve nonsense"}},
      {"cupel settings apply", indifferent, {"settings apply n9"}},
      {"cupel settings plan", indifferent, {"settings plan n9"}},
      {"cupel settings restore", indifferent, {"settings restore n9"}},
      {"cupel slurm conf", indifferent, {"slurm conf"}},
      {"cupel verify", indifferent, {"verify FOLDER/none --key FOLDER/none"}},
  };
  return all;
}

/// The commands that have none below them, of the program's own table, as completion prints it.
std::set<std::string> all_commands() {
  constexpr std::string_view kBegin = "set -g __cupel_paths ";
  std::set<std::string> paths;
  const auto script = run_forked_cupel({"completion", "fish"}).out;
  for (const auto line : lines(script)) {
    if (!line.starts_with(kBegin)) continue;
    for (const auto part : split(line.substr(kBegin.size()), '\''))
      if (!trimmed(part).empty()) paths.emplace(part);
  }
  std::erase_if(paths, [all = paths](const std::string& path) {
    const auto next = all.upper_bound(path + " ");
    return next != all.end() && next->starts_with(path + " ");
  });
  return paths;
}

struct Behind : store::StoreTest {
  using StoreTest::sql_in;
};

/// A state folder with a run that is over, of a playbook that asks no machine, and a service on it.
class BothWays : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::temp_directory_path() / "cupel-both-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
    fs::create_directory(folder_ / "books");
    fs::create_directory(folder_ / "profiles");
    write("inventory.yaml",
          "site: lab\ndefaults: {profile: mine, bmc: {user: a, password: \"cmd:echo x\"}}\nnodes:\n"
          "  - {name: n1, bmc: {address: \"127.0.0.1:9\"}, ssh: {address: \"127.0.0.1:9\"}}\n"
          "  - {name: n2, bmc: {address: \"127.0.0.2:9\"}, ssh: {address: \"127.0.0.2:9\"}}\n");
    write("profiles/mine.yaml", "profile: mine\npower: {idle: 1, loaded: 2}\n");
    write("books/judge.yaml", "playbook: judge\nsteps: [{step: verdict}]\n");
    write("service.yaml", "inventory: inventory.yaml\nplaybooks: books\n");
    write("list.csv", "Node,Serial\nn1,1\n");
    ::setenv("CUPEL_INVENTORY", file("inventory.yaml").c_str(), 1);
    const auto judged =
        here({"run", file("books/judge.yaml"), "--no-console", "--wait-for-repair", "0s"});
    ASSERT_EQ(judged.status, 1) << judged.out << judged.err;
    add_run_with_series();
    // Without a thread of ours that reads what it prints: this process forks.
    service_.emplace(std::vector<std::string>{"--state", file("state"), "serve", "--config",
                                              file("service.yaml"), "--socket", file("s")});
    ASSERT_TRUE(service_->says("serving "));
  }
  void TearDown() override {
    for (const auto* name : {"CUPEL_INVENTORY", "CUPEL_SERVER", "CUPEL_STATE"}) ::unsetenv(name);
    service_.reset();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{folder_ / name} << text;
  }
  /// What stages sampled lies beside the journal.
  void add_run_with_series() const {
    using enum engine::EventKind;
    const auto store = store::Store::open(folder_ / "state").value();
    record::KeptSeries kept;
    kept.series[{"gpu0", "gpu.power", "W"}] = {.width = 10, .spans = {{0, 1, 2, 3, 10}}};
    const auto hash = store->keep_evidence(record::to_text(kept)).value();
    store::Run run;
    run.playbook = "sampled";
    run.nodes = {"n2"};
    const auto id = store->begin_run(run).value();
    const auto add = [&](engine::Event event) { ASSERT_TRUE(store->append(id, event)); };
    add({run_started,
         "",
         "",
         {{"nodes", {{{"name", "n2"}, {"rack", "a01"}, {"unit", 1}}}},
          {"steps", json::array{"watch"}}}});
    add({step_began, "n2", "watch"});
    add({step_ended,
         "n2",
         "watch",
         {{"outcome", "done"}, {"series", json::object{{"evidence", hash}}}}});
    add({run_ended});
  }
  std::vector<std::string> words_of(std::string line) const {
    constexpr std::string_view kFolder = "FOLDER";
    for (auto at = line.find(kFolder); at != line.npos; at = line.find(kFolder))
      line.replace(at, kFolder.size(), folder_.string());
    std::vector<std::string> all;
    for (const auto word : words(line)) all.emplace_back(word);
    return all;
  }
  /// On the state folder.
  Ran here(std::vector<std::string> words) const {
    ::unsetenv("CUPEL_SERVER");
    words.insert(words.begin(), {"--state", file("state")});
    return run_forked_cupel(std::move(words));
  }
  /// Through the service. Its own state folder has nothing.
  Ran there(std::vector<std::string> words) const {
    ::setenv("CUPEL_SERVER", ("unix:" + file("s")).c_str(), 1);
    ::setenv("CUPEL_STATE", file("none").c_str(), 1);
    auto ran = run_forked_cupel(std::move(words));
    ::unsetenv("CUPEL_SERVER");
    ::unsetenv("CUPEL_STATE");
    return ran;
  }
  /// On a folder of their own that has nothing, with the variable or without.
  Ran apart(std::vector<std::string> words, bool with_server) const {
    if (with_server) ::setenv("CUPEL_SERVER", ("unix:" + file("s")).c_str(), 1);
    words.insert(words.begin(), {"--state", file("own")});
    auto ran = run_forked_cupel(std::move(words));
    ::unsetenv("CUPEL_SERVER");
    return ran;
  }

  void expect_same(const Row& row, const std::string& line) const {
    const auto one = here(words_of(line)), other = there(words_of(line));
    EXPECT_EQ(one.status, other.status) << line << "\n" << one.err << other.err;
    if (std::string_view{row.says}.empty()) {
      EXPECT_EQ(one.out, other.out) << line;
      EXPECT_EQ(one.err, other.err) << line;
      return;
    }
    EXPECT_THAT(one.out + one.err, HasSubstr(row.says)) << line;
    EXPECT_THAT(other.out + other.err, HasSubstr(row.says)) << line;
  }
  void expect_refused(const Row& row, const std::string& line) const {
    const auto ran = there(words_of(line));
    EXPECT_EQ(ran.status, 2) << line << "\n" << ran.out;
    EXPECT_THAT(ran.err, AllOf(HasSubstr(std::string{row.command} + " works on a state folder"),
                               HasSubstr("$CUPEL_SERVER names unix:" + file("s"))))
        << line;
    EXPECT_THAT(ran.out, IsEmpty()) << line;
  }
  void expect_indifferent(const std::string& line) const {
    const auto without = apart(words_of(line), false), with = apart(words_of(line), true);
    EXPECT_EQ(without.status, with.status) << line << "\n" << without.err << with.err;
    EXPECT_EQ(without.out, with.out) << line;
    EXPECT_EQ(without.err, with.err) << line;
  }

  fs::path folder_;
  std::optional<e2e::RunningCupel> service_{};
};

TEST_F(BothWays, EveryCommandAnswersTheSameOrRefusesOrDoesNotCare) {
  const auto known = all_commands();
  ASSERT_GT(known.size(), 80u);
  auto unknown = known;
  for (const auto& row : rows()) {
    EXPECT_TRUE(known.contains(row.command)) << row.command << " is gone: drop its row";
    unknown.erase(row.command);
    for (const std::string line : row.lines) {
      if (row.kind == Kind::same) expect_same(row, line);
      if (row.kind == Kind::refused) expect_refused(row, line);
      if (row.kind == Kind::indifferent) expect_indifferent(line);
    }
  }
  EXPECT_THAT(unknown, IsEmpty()) << "say in the table what they do where $CUPEL_SERVER is set";
  EXPECT_FALSE(fs::exists(file("none"))) << "a state folder was made where a service was named";
}

// Its journal cannot be read; the others are listed as they stand.
TEST_F(BothWays, StatusListsTheOtherRunsBesideADamagedOne) {
  store::Run run;
  run.playbook = "torn";
  run.nodes = {"n1"};
  {
    const auto store = store::Store::open(folder_ / "state").value();
    ASSERT_EQ(store->begin_run(run).value(), 3);
    engine::Event begun;
    begun.kind = engine::EventKind::run_started;
    begun.data["steps"] = json::array{"watch"};
    ASSERT_TRUE(store->append(3, begun));
  }
  Behind::sql_in(folder_ / "state", "UPDATE event SET data = '{' WHERE run = 3");

  for (const auto* line : {"status", "status --json"}) {
    const auto one = here(words_of(line)), other = there(words_of(line));
    EXPECT_EQ(one.status, 3) << line << one.out << one.err;
    EXPECT_EQ(other.status, 3) << line << other.out << other.err;
    EXPECT_EQ(one.out, other.out) << line;
    EXPECT_THAT(other.out, HasSubstr("cupel store repair 3")) << line;
  }
  EXPECT_THAT(there({"status"}).out, AllOf(HasSubstr("judge"), HasSubstr("sampled")));
}

}  // namespace
}  // namespace cupel::testing
