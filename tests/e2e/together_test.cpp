// Stages that several nodes do side by side, on real sshd: one start for all, a result for each,
// and the end of one is the end of all.
#include <signal.h>

#include "orchestrator/store/store.h"
#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

constexpr const char* kTogether = R"(playbook: together
parameters:
  burn: {default: 3s, type: duration}
steps:
  - step: ssh-wait
  - stage: cpu-memory
    group_by: all
    with: {duration: "${burn}", memory: 16MiB}
  - step: verdict
)";

class TogetherTest : public ::testing::Test {
 protected:
  void SetUp() override { CUPEL_NEEDS_SITE(); }

  /// Handles of what was started, by node; a second start of a node fails the test.
  static std::map<std::string, std::string> started(const Site& site) {
    std::map<std::string, std::string> handles;
    const auto store = store::Store::open(site.folder / "state");
    if (!store) return handles;
    const auto events = (*store)->events(1);
    for (const auto& event : events ? *events : std::vector<engine::Event>{}) {
      if (event.kind != engine::EventKind::step_started) continue;
      const std::string handle{event.data.at("handle").as_string()};
      EXPECT_TRUE(handles.emplace(event.node, handle).second) << event.node;
    }
    return handles;
  }

  /// The node's process of the job, once it came to life.
  static std::vector<pid_t> processes(const std::string& handle, const std::string& node) {
    const auto end = Deadline::in(std::chrono::seconds{60});
    while (!end.passed())
      if (auto all = processes_of_job(handle + "-" + node); !all.empty()) return all;
    return {};
  }
};

TEST_F(TogetherTest, IsStartedOnceFoundAgainOnEveryNodeAndMeasuredOnEach) {
  Site site{2, Site::Slurm::none};
  site.write("together.yaml", kTogether);
  Child first{site.cupel({"run", "together.yaml", "--json"})};
  ASSERT_TRUE(first.wait_for("\"step-started\"", std::chrono::seconds{120}));
  first.signal(SIGKILL);
  first.wait();

  const auto second = site.run({"resume"});

  EXPECT_EQ(second.status, 0) << second.out << second.err;
  const auto handles = started(site);
  ASSERT_EQ(handles.size(), 2u);
  EXPECT_EQ(handles.at("s01-n01"), handles.at("s01-n02")) << "one handle for all of them";
  for (const auto* node : {"s01-n01", "s01-n02"}) {
    const auto shown = site.run({"show", node});
    EXPECT_THAT(shown.out, HasSubstr("stress.failures")) << node;
    EXPECT_THAT(shown.out, HasSubstr("measured on 2 nodes together")) << node;
    EXPECT_FALSE(std::filesystem::exists(handles.at(node) + "-" + node)) << "it is still there";
  }
}

TEST_F(TogetherTest, TheDeathOfOneEndsItForAllWithItsName) {
  Site site{2, Site::Slurm::none};
  site.write("together.yaml", kTogether);
  Child run{site.cupel({"run", "together.yaml", "--json", "--set", "burn=10m"})};
  ASSERT_TRUE(run.wait_for("\"step-started\"", std::chrono::seconds{120}));
  const auto handles = started(site);
  ASSERT_FALSE(handles.empty());
  const auto handle = handles.begin()->second;
  ASSERT_FALSE(processes(handle, "s01-n01").empty());

  for (const auto process : processes(handle, "s01-n02")) ::kill(process, SIGKILL);
  const auto ran = run.wait();

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  for (const auto* node : {"s01-n01", "s01-n02"})
    EXPECT_THAT(site.run({"show", node}).out, HasSubstr("s01-n02: ")) << node;
  EXPECT_TRUE(processes_of_job(handle + "-s01-n01").empty()) << "it burns on alone";
}

}  // namespace
}  // namespace cupel::testing
