// `cupel inventory import netbox` and `cupel export netbox`, as an operator uses them.
#include "tests/support/netbox.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "orchestrator/store/store.h"
#include "tests/support/child.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class NetboxCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::temp_directory_path() / "cupel-netbox-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
    write("token", "secret\n");
    fs::permissions(folder_ / "token", fs::perms::owner_read | fs::perms::owner_write);
    write("base.yaml", "site: oslo-1\ndefaults: {bmc: {user: a, password: \"cmd:echo x\"}}\n");
    fs::create_directory(folder_ / "profiles");
    write("profiles/mine.yaml", "profile: mine\npower: {idle: 1, loaded: 2}\n");
    write("judge.yaml", "playbook: judge\nsteps: [{step: verdict}]\n");
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream{folder_ / name} << text;
  }
  std::string text_of(const std::string& name) const {
    std::ifstream stream{folder_ / name};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }
  Ran cupel(std::vector<std::string> words) const {
    words.insert(words.begin(), {CUPEL_BINARY, "--state", file("state")});
    return run(std::move(words));
  }
  Ran import(std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"inventory",
                                   "import",
                                   "netbox",
                                   "--url",
                                   server.url(),
                                   "--token",
                                   "file:" + file("token"),
                                   "--profile",
                                   "dgx-h100=mine",
                                   "--base",
                                   file("base.yaml"),
                                   "--out",
                                   file("site.yaml")};
    words.insert(words.end(), more.begin(), more.end());
    return cupel(std::move(words));
  }
  Ran exported(std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"export", "netbox",     "-i",      file("site.yaml"),
                                   "--url",  server.url(), "--token", "file:" + file("token")};
    words.insert(words.end(), more.begin(), more.end());
    return cupel(std::move(words));
  }
  /// A run that found mlx5_0 of the node where the plan has it, and mlx5_1 elsewhere.
  void compared_cables(const std::string& node) const {
    const auto store = store::Store::open(file("state"));
    ASSERT_TRUE(store) << store.error().what;
    store::Run run;
    run.playbook = "fabric";
    run.nodes = {node};
    const auto id = (*store)->begin_run(run);
    ASSERT_TRUE(id);
    const json::array seen{
        json::object{{"name", "fabric.cable.wrong"}, {"part", "mlx5_0"}, {"value", 0}},
        json::object{{"name", "fabric.cable.wrong"},
                     {"part", "mlx5_1"},
                     {"value", 1},
                     {"traced_to", "it goes to leaf2/7"}}};
    using engine::EventKind;
    for (auto event : {engine::Event{EventKind::run_started,
                                     "",
                                     "",
                                     {{"nodes", json::array{json::object{{"name", node}}}},
                                      {"steps", json::array{"fabric-cables"}}}},
                       engine::Event{EventKind::step_began, node, "fabric-cables"},
                       engine::Event{EventKind::step_ended,
                                     node,
                                     "fabric-cables",
                                     {{"outcome", "done"}, {"measurements", seen}}},
                       engine::Event{EventKind::run_ended}})
      ASSERT_TRUE((*store)->append(*id, event));
  }
  int changes() const {
    return static_cast<int>(std::ranges::count_if(
        server.asked(), [](const test::ReplayRequest& one) { return one.method != "GET"; }));
  }

  test::FakeNetbox fake = test::netbox_4_2();
  std::function<void()> meanwhile = [] {};  // before each answer
  test::ReplayServer server{[this](const test::ReplayRequest& asked) {
    meanwhile();
    return fake(asked);
  }};

 private:
  fs::path folder_{};
};

TEST_F(NetboxCommands, AnInventoryComesOutAndItsResultsGoBack) {
  const auto imported = import();
  const auto again = import({"--check"});
  ASSERT_EQ(imported.status, 0) << imported.out << imported.err;
  const auto checked = cupel({"inventory", "check", file("site.yaml")});
  const auto judged = cupel({"run", file("judge.yaml"), "-i", file("site.yaml"), "--nodes",
                             "a01-n02", "--no-console", "--wait-for-repair", "0s"});
  const auto planned = exported();
  const auto before = changes();
  const auto written = exported({"--yes"});
  const auto second = exported({"--yes"});

  EXPECT_THAT(imported.out, HasSubstr("NetBox 4.2.6: 3 devices"));
  EXPECT_EQ(again.status, 0) << again.out;
  EXPECT_EQ(checked.status, 0) << checked.out << checked.err;
  ASSERT_EQ(judged.status, 1) << judged.out << judged.err;
  EXPECT_EQ(planned.status, 1);
  EXPECT_THAT(planned.out, AllOf(HasSubstr("a01-n02: journal: run 1 inconclusive"),
                                 HasSubstr("--yes writes it")));
  EXPECT_EQ(before, 0) << "nothing is written that nobody wants";
  EXPECT_EQ(written.status, 0) << written.out << written.err;
  EXPECT_EQ(second.status, 0) << second.out << second.err;
  EXPECT_EQ(changes(), 1) << "a run has one entry";
  EXPECT_THAT(text_of("site.yaml.lock.json"),
              AllOf(HasSubstr(R"("a01-n02":{"id":"11")"), HasSubstr(R"("version":"4.2.6")")));
  for (const auto& all : {imported.out + imported.err, planned.out, text_of("site.yaml")})
    EXPECT_THAT(all, Not(HasSubstr("secret"))) << "the token";
}

TEST_F(NetboxCommands, ThatCablesWereSeenGoesBackOnceItIsWanted) {
  auto& interfaces = fake.lists.at("/api/dcim/interfaces/");
  for (const auto& [id, name] : {std::pair{60, "mlx5_0"}, {61, "ib1"}})
    interfaces.push_back(json::object{{"id", id},
                                      {"device", {{"id", 11}, {"name", "a01-n02"}}},
                                      {"name", name},
                                      {"mgmt_only", false},
                                      {"cable", {{"id", id + 10}}}});
  fake.lists["/api/dcim/cables/"] = {{{"id", 70}, {"status", {{"value", "planned"}}}},
                                     {{"id", 71}, {"status", {{"value", "connected"}}}}};
  ASSERT_EQ(import().status, 0);
  compared_cables("a01-n02");

  const auto planned = exported({"--interface", "mlx5_1=ib1"});
  const auto before = changes();
  const auto written = exported({"--interface", "mlx5_1=ib1", "--yes"});
  const auto again = exported({"--interface", "mlx5_1=ib1", "--yes"});
  const auto unnamed = exported({"--yes"}), wrong = exported({"--interface", "mlx5_1"});

  EXPECT_EQ(planned.status, 1) << planned.out << planned.err;
  EXPECT_THAT(planned.out,
              AllOf(HasSubstr("cable 70 at mlx5_0: planned -> connected (run 1: seen as planned)"),
                    HasSubstr("cable 71 at mlx5_1: connected -> planned (run 1: not as planned: it "
                              "goes to leaf2/7)")));
  EXPECT_EQ(before, 0) << "nothing is written that nobody wants";
  EXPECT_EQ(written.status, 0) << written.out << written.err;
  EXPECT_THAT(written.out, HasSubstr("0 devices and 2 cables are written"));
  EXPECT_EQ(again.status, 0) << again.out;
  EXPECT_EQ(changes(), 2);
  EXPECT_THAT(unnamed.out, HasSubstr("NetBox has no cable at mlx5_1"));
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--interface 'mlx5_1' is no NAME=VALUE"));
}

TEST_F(NetboxCommands, AFileThatWasChangedByHandIsNotReplaced) {
  ASSERT_EQ(import().status, 0);
  write("site.yaml", text_of("site.yaml") + "# by hand\n");

  const auto refused = import();
  const auto kept = text_of("site.yaml");
  const auto replaced = import({"--overwrite"});

  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--overwrite"));
  EXPECT_THAT(kept, HasSubstr("# by hand"));
  EXPECT_EQ(replaced.status, 0) << replaced.err;
  EXPECT_THAT(replaced.out, HasSubstr("- # by hand"));
}

TEST_F(NetboxCommands, AFileThatIsChangedWhileNetboxIsReadIsNotReplaced) {
  ASSERT_EQ(import().status, 0);
  const auto lock = text_of("site.yaml.lock.json");
  meanwhile = [&] { write("site.yaml", "# by hand\n"); };

  const auto refused = import({"--overwrite"});

  EXPECT_EQ(refused.status, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("site.yaml was changed meanwhile: import again"));
  EXPECT_EQ(text_of("site.yaml"), "# by hand\n");
  EXPECT_EQ(text_of("site.yaml.lock.json"), lock);
}

TEST_F(NetboxCommands, WrongInputListsAllOfItAndWritesNothing) {
  write("base.yaml", "site: oslo-1\nnodes: []\n");
  const auto with_nodes = import();
  write("base.yaml", "site: oslo-1\n");
  const auto without_login = import();
  const auto words = cupel({"inventory", "import", "netbox", "--url", "ftp://x", "--token", "t",
                            "--base", file("base.yaml"), "--out", file("site.yaml")});
  const auto never_imported = exported();

  EXPECT_EQ(with_nodes.status, 2);
  EXPECT_THAT(with_nodes.err, HasSubstr("base.yaml:2:"));
  EXPECT_EQ(without_login.status, 2) << without_login.out;
  EXPECT_EQ(words.status, 2);
  EXPECT_THAT(words.err, HasSubstr("--url"));
  EXPECT_EQ(never_imported.status, 2);
  EXPECT_FALSE(fs::exists(file("site.yaml")));
  EXPECT_FALSE(fs::exists(file("site.yaml.lock.json")));
}

}  // namespace
}  // namespace cupel::testing
