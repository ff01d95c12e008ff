// A rehearsal beside the records of real machines: it touches none of them, and everything that is
// kept of it says what it is.
#include <fstream>
#include <map>
#include <sstream>

#include "base/text.h"
#include "inventory/load_profile.h"
#include "orchestrator/cli/context.h"
#include "orchestrator/store/store.h"
#include "rehearsal/virtual_slurm.h"
#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;

/// A site's own inventory: its BMCs are at addresses that nobody has.
constexpr const char* kRealSite = R"(site: oslo
slurm: {partition: gpu, features: [qualified]}
defaults:
  profile: dgx-h100
  bmc: {user: root, password: "env:NO_SUCH_VARIABLE", tls: {trust: first-use}}
  ssh: {user: root}
nodes:
  - {name: "a01-n[1-2]", bmc: {address: "10.255.255.[1-2]"}, ssh: {address: "a01-n[1-2].invalid"}}
)";

/// Learns the BMCs' certificates and writes a reason to Slurm; quick, and no proof of anything.
constexpr const char* kGlance = R"(playbook: glance
steps:
  - step: slurm-drain
  - step: bmc-facts
  - step: verdict
  - step: hand-off
)";

/// A site whose records are those of real machines, in a folder beside which is rehearsed.
class RealSite {
 public:
  RealSite() {
    std::string made = (fs::temp_directory_path() / "cupel-beside-XXXXXX").string();
    folder = ::mkdtemp(made.data());
    inventory = write("site.yaml", kRealSite);
    playbook = write("glance.yaml", kGlance);
    auto store = store::Store::open(real());
    (*store)->pin("bmc:a01-n1", "SHA256:of the real one");
    (*store)->keep_evidence("what a real machine said").value();
  }
  ~RealSite() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  RealSite(const RealSite&) = delete;
  RealSite& operator=(const RealSite&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream{folder / name} << text;
    return (folder / name).string();
  }
  std::string read(const fs::path& name) const {
    std::ostringstream text;
    text << std::ifstream{folder / name}.rdbuf();
    return text.str();
  }
  fs::path real() const { return folder / "real"; }

  /// With $CUPEL_STATE as the person has it who looks after the real machines.
  Ran cupel(std::vector<std::string> words) const {
    words.insert(words.begin(), CUPEL_BINARY);
    const std::string path = std::getenv("PATH");
    return run(words, {"CUPEL_STATE=" + real().string(),
                       "PATH=" + (folder / "slurm").string() + ":" + path});
  }
  Ran rehearse() const {
    return cupel({"rehearse", playbook, "--inventory", inventory, "--folder",
                  (folder / "rack").string(), "--speed", "200"});
  }
  std::vector<std::string> names_in(const fs::path& where) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator{where})
      names.push_back(entry.path().string());
    std::ranges::sort(names);
    return names;
  }

  fs::path folder;
  std::string inventory;
  std::string playbook;
};

class RehearsalState : public ::testing::Test, protected RealSite {};

/// One that is over, for all: nothing of it is changed.
class DoneRehearsal : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    beside = std::make_unique<RealSite>();
    before = beside->names_in(beside->real());
    ran = beside->rehearse();
  }
  static void TearDownTestSuite() { beside.reset(); }
  void SetUp() override {
    ASSERT_EQ(ran.status, 1) << ran.err << "no stage ran, which proves nothing";
  }

  static inline std::unique_ptr<RealSite> beside{};
  static inline std::vector<std::string> before{};
  static inline Ran ran{};
};

TEST_F(DoneRehearsal, LeavesTheStoreOfRealMachinesAloneThatTheEnvironmentNames) {
  EXPECT_EQ(beside->names_in(beside->real()), before);
  const auto store = std::move(store::Store::open(beside->real())).value();
  EXPECT_THAT(store->runs(9).value(), ::testing::IsEmpty());
  EXPECT_EQ(store->pinned("bmc:a01-n1"), "SHA256:of the real one");
  EXPECT_EQ(store->pinned("bmc:a01-n2"), std::nullopt);
  const auto rehearsed = std::move(store::Store::open(beside->folder / "rack/state")).value();
  EXPECT_EQ(rehearsed->runs(9).value().size(), 1u);
  EXPECT_NE(rehearsed->pinned("bmc:a01-n2"), std::nullopt);
}

TEST_F(DoneRehearsal, NamesItsStateFolderInTheCommandsAtItsEnd) {
  const auto named = "cupel --state " + (beside->folder / "rack/state").string() + " ";

  EXPECT_THAT(ran.out, AllOf(HasSubstr(": " + named + "actions 1; "),
                             HasSubstr(": " + named + "report 1 --html run-1.html\n"),
                             HasSubstr(": " + named + "status\n")));
  EXPECT_THAT(ran.out, Not(HasSubstr(": cupel actions")));
}

TEST_F(RehearsalState, IsNamedByTheCommandsOfARunThatIsHalted) {
  const auto parts = write("parts.yaml", R"(playbook: parts
canary: [1]
steps:
  - step: power-on
  - step: bmc-facts
  - step: audit
  - step: verdict
)");
  const auto faults =
      write("faults.yaml", "faults: [{node: a01-n1, fault: psu-missing, part: psu2}]\n");

  const auto halted =
      cupel({"rehearse", parts, "--inventory", inventory, "--folder", (folder / "rack").string(),
             "--scenario", faults, "--speed", "200", "--wait-for-repair", "0s"});

  const auto named = "cupel --state " + (folder / "rack/state").string() + " ";
  EXPECT_EQ(halted.status, 4) << halted.out << halted.err;
  EXPECT_THAT(halted.err, AllOf(HasSubstr("See what is wrong: " + named + "actions 1; then: " +
                                          named + "continue 1, and " + named + "resume 1"),
                                Not(HasSubstr(" cupel continue"))));
}

/// The store says what helps, and knows no command line.
TEST_F(RehearsalState, IsNamedByTheCommandsThatErrorsOfItsStoreAdvise) {
  const auto state = folder / "rack/state";
  ASSERT_EQ(rehearse().status, 1);
  write("rack/state/cupel.db", std::string(8192, 'x'));

  const auto damaged = rehearse();

  EXPECT_NE(damaged.status, 0);
  EXPECT_THAT(damaged.err, HasSubstr("see cupel --state " + state.string() + " store verify"));
  EXPECT_THAT(damaged.err, Not(HasSubstr("see cupel store")));
}

TEST(AdvisedIn, NamesTheStateFolderOfEachCommandAndOfNoOtherWord) {
  cli::CommandRow program{"cupel", ""};
  program.subcommands = {{"bmc", ""}, {"run", ""}, {"store", ""}};
  cli::Context context{.state = "/r/state", .state_chosen = true, .program = &program};

  for (const auto& [text, expected] : std::map<std::string, std::string>{
           {"cupel bmc NODE log; then: `cupel run fabric`",
            "cupel --state /r/state bmc NODE log; then: `cupel --state /r/state run fabric`"},
           {"(cupel store verify)", "(cupel --state /r/state store verify)"},
           {"cupel runs on, cupel is SlurmUser, cupel", "cupel runs on, cupel is SlurmUser, cupel"},
           {"/var/lib/cupel bmc, xcupel run", "/var/lib/cupel bmc, xcupel run"},
           {"cupel --state /other store verify", "cupel --state /other store verify"},
           {"", ""}})
    EXPECT_EQ(cli::advised_in(context, text), expected);
  context.state_chosen = false;
  EXPECT_EQ(cli::advised_in(context, "cupel bmc"), "cupel bmc") << "commands find it";
}

TEST_F(RehearsalState, RefusesAStateThatIsOrContainsOneOfRealMachines) {
  for (const auto& state : {real(), folder, real() / "inside"}) {
    auto words = std::vector<std::string>{"--state", state.string()};
    words.insert(words.end(), {"rehearse", playbook, "--inventory", inventory, "--folder",
                               (folder / "rack").string()});

    const auto ran = cupel(words);

    EXPECT_EQ(ran.status, 2) << ran.out;
    EXPECT_THAT(ran.err,
                HasSubstr(real().string() + " holds the records and pins of real machines"));
  }
  EXPECT_FALSE(fs::exists(folder / "rack" / "inventory.yaml")) << "no rack was started";
}

TEST_F(RehearsalState, TakesAStateThatHoldsNothingYet) {
  const auto state = (folder / "looked-at").string();
  ASSERT_EQ(cupel({"--state", state, "status"}).status, 0);

  const auto ran = cupel({"--state", state, "rehearse", playbook, "--inventory", inventory,
                          "--folder", (folder / "rack").string()});

  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_TRUE(fs::exists(folder / "looked-at/REHEARSAL"));
}

TEST_F(RehearsalState, NeverOverwritesAnInventoryOfRealMachines) {
  const auto mine = write("inventory.yaml", kRealSite);

  const auto ran = cupel({"rehearse", playbook, "--inventory", mine, "--folder", folder.string()});
  const auto stood = cupel({"rack", "serve", "--inventory", mine, "--folder", folder.string()});

  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(stood.status, 2);
  EXPECT_EQ(read("inventory.yaml"), kRealSite);
}

TEST_F(RehearsalState, SaysRehearsalInEveryDocumentAndEverySlurmReason) {
  std::vector<inventory::Problem> problems;
  const auto profile = inventory::ProfileSource{{}}.load("dgx-h100", problems);
  ASSERT_TRUE(rehearsal::make_scontrol(folder / "slurm", {"a01-n1", "a01-n2"}, *profile));
  const auto state = (folder / "state").string();

  const auto ran = cupel({"--state", state, "rehearse", playbook, "--inventory", inventory,
                          "--folder", (folder / "rack").string(), "--slurm", "/dev/null"});
  const auto page = (folder / "report.html").string();
  const auto written = cupel({"--state", state, "report", "1", "--html", page});

  EXPECT_THAT(ran.out, HasSubstr("REHEARSAL: virtual machines"));
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"status"}, {"report"}, {"show", "a01-n1"}, {"actions"}}) {
    auto text = words, json = words;
    text.insert(text.begin(), {"--state", state});
    json.insert(json.begin(), {"--state", state});
    json.emplace_back("--json");
    EXPECT_THAT(cupel(text).out, HasSubstr("REHEARSAL")) << words[0];
    if (words[0] == "actions") continue;  // nothing needs a person, and the list is empty
    EXPECT_THAT(cupel(json).out, HasSubstr("\"rehearsal\":true")) << words[0];
  }
  EXPECT_THAT(read("report.html"), HasSubstr("REHEARSAL"));
  EXPECT_THAT(read("slurm/nodes/a01-n1/reason"), ::testing::StartsWith("cupel REHEARSAL: "));
  EXPECT_THAT(read("slurm/nodes/a01-n1/reason"), Not(HasSubstr("not qualified")));
  EXPECT_THAT(read("state/REHEARSAL"), HasSubstr("Nothing in it is proof of a real machine"));
  EXPECT_THAT(open_to_others(state), ::testing::IsEmpty());
  const auto mode = fs::status(page).permissions();
  EXPECT_EQ(mode, fs::perms::owner_read | fs::perms::owner_write) << written.err;
}

TEST_F(DoneRehearsal, IsRefusedToARunOnRealMachines) {
  const auto refused = beside->cupel({"--state", (beside->folder / "rack/state").string(), "run",
                                      beside->playbook, "--inventory", beside->inventory});

  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("is a rehearsal's state"));
}

TEST_F(DoneRehearsal, IsDemandedOfEveryCommandOnTheInventoryOfAVirtualRack) {
  const auto virtual_one = (beside->folder / "rack/inventory.yaml").string();

  for (const auto& words : std::vector<std::vector<std::string>>{
           {"bmc", "a01-n1", "power", "--inventory", virtual_one},
           {"exec", "a01-n1", "--inventory", virtual_one, "--", "true"},
           {"run", beside->playbook, "--inventory", virtual_one}}) {
    const auto refused = beside->cupel(words);
    EXPECT_EQ(refused.status, 2) << words[0] << refused.out;
    EXPECT_THAT(refused.err, HasSubstr("--state " + (beside->folder / "rack/state").string()))
        << words[0];
  }
  const auto store = std::move(store::Store::open(beside->real())).value();
  EXPECT_EQ(store->pinned("bmc:a01-n1"), "SHA256:of the real one");
}

}  // namespace
}  // namespace cupel::testing
