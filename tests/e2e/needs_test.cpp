// What a playbook needs that is not there: on this machine before anything is touched, on the nodes
// in the first minute.
#include <signal.h>

#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

/// A tool that no machine has where this looks for it.
constexpr const char* kNeedy = R"(playbook: needy
canary: [1]
steps:
  - step: ssh-wait
  - stage: cpu-memory
    with: {duration: 10m, memory: 16MiB}
  - stage: gpu-burn
    with: {directory: /no/such/folder}
  - step: verdict
)";

constexpr const char* kFacts = "playbook: look\nsteps: [{step: ssh-wait}, {stage: facts}]\n";

class NeedsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(Sshd::installed(), "openssh-server is not installed");
  }

  static std::unique_ptr<Site> site_of(int nodes) {
    auto site = std::make_unique<Site>(nodes, Site::Slurm::none);
    std::string profile{kProfile};
    profile +=
        "  gpu-burn:\n    - {measure: gpuburn.errors, at_most: 0, unit: errors, source: "
        "gpu_burn}\n";
    site->write("profiles/lab.yaml", profile);
    site->write("needy.yaml", kNeedy);
    site->write("facts.yaml", kFacts);
    std::filesystem::create_directory(site->folder / "nothing");
    return site;
  }
  /// Where a build with sanitizers has cupel-node too.
  static std::string programs() {
    return std::filesystem::path{NODE_BINARY}.parent_path().string();
  }
  static std::string nothing(const Site& site) { return (site.folder / "nothing").string(); }
};

TEST_F(NeedsTest, AreListedByThePlanForEachStage) {
  const auto site = site_of(1);

  const auto text = site->run({"plan", "needy.yaml"});
  const auto with = site->run({"--programs", programs(), "plan", "facts.yaml"});
  const auto without = site->run({"--programs", nothing(*site), "plan", "facts.yaml"});

  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("what it needs"), HasSubstr("gpu_burn"),
                              HasSubstr("apt-get install"), HasSubstr("stress-ng")));
  EXPECT_THAT(with.out, HasSubstr("/cupel-node\n"));
  EXPECT_THAT(with.err, Not(HasSubstr("missing")));
  EXPECT_THAT(without.out, HasSubstr("cupel-node is missing on the machine that cupel runs on"));
  EXPECT_THAT(without.err, HasSubstr("`cupel run` will be refused"));
}

TEST_F(NeedsTest, AreTheSameInJson) {
  const auto site = site_of(1);

  const auto ran = site->run({"--programs", nothing(*site), "plan", "facts.yaml", "--json"});

  const auto reported = parse_json(ran.out);
  ASSERT_TRUE(reported) << ran.out << ran.err;
  const auto& needs = reported->at("needs").as_object();
  const auto& stage = needs.at("stages").as_array().at(0).as_object();
  EXPECT_EQ(stage.at("step"), "facts");
  EXPECT_EQ(stage.at("root"), "yes");
  EXPECT_EQ(stage.at("programs").as_array().at(0), "cupel-node");
  const auto& program = needs.at("programs").as_array().at(0).as_object();
  EXPECT_THAT(std::string{program.at("missing").as_string()}, HasSubstr(nothing(*site)));
}

TEST_F(NeedsTest, RefuseARunWhoseProgramThisMachineLacksBeforeAnythingIsTouched) {
  const auto site = site_of(1);

  const auto ran = site->run({"--programs", nothing(*site), "run", "facts.yaml"});

  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("cupel-node is missing on the machine that cupel runs on"),
                             HasSubstr(nothing(*site)), HasSubstr("scripts/install"),
                             HasSubstr("nothing was touched")));
  EXPECT_FALSE(std::filesystem::exists(site->folder / "state/cupel.db"));
}

TEST_F(NeedsTest, EndANodeThatLacksAToolBeforeAnythingBurnsThere) {
  const auto site = site_of(1);

  const auto ran = site->run({"run", "needy.yaml"});
  const auto hands = site->run({"actions"});
  const auto shown = site->run({"show", "s01-n01", "--json"});

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(hands.out, AllOf(HasSubstr("install gpu_burn"), HasSubstr("ssh-wait"),
                               HasSubstr("github.com/wilicc/gpu-burn")));
  EXPECT_THAT(shown.out, Not(HasSubstr("stress.failures")));
}

TEST_F(NeedsTest, AreReportedForAllNodesDuringTheCanary) {
  const auto site = site_of(2);
  Child child{site->cupel({"run", "needy.yaml"})};

  EXPECT_TRUE(child.wait_for("s01-n[01-02]: install gpu_burn"));

  child.signal(SIGTERM);
  child.wait();
}

TEST_F(NeedsTest, AcceptThatNodesHaveOurProgramsWhereAnOptionSaysSo) {
  const auto site = site_of(1);

  const auto ran =
      site->run({"--programs", nothing(*site), "run", "facts.yaml", "--programs-on-nodes"});

  EXPECT_NE(ran.status, 2) << ran.err;
}

}  // namespace
}  // namespace cupel::testing
