// A run that stops by itself: the canary first, and a step that failed too often. What `cupel
// status` says of it, and how a person lets it go on.
#include "orchestrator/store/store.h"
#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

using engine::EventKind;
using std::chrono::seconds;

constexpr const char* kWaves = R"(playbook: waves
canary: [1]
steps:
  - step: ssh-wait
    deadline: 4s
  - stage: node-facts
  - step: verdict
)";

constexpr const char* kCareful = R"(playbook: careful
max_parallel: 1
steps:
  - step: ssh-wait
    deadline: 4s
    stop_after: {failures: 1}
  - stage: node-facts
  - step: verdict
)";

class CircuitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_SITE();
    site.emplace(3, Site::Slurm::none);
    site->write("waves.yaml", kWaves);
    site->write("careful.yaml", kCareful);
  }

  /// Nobody listens where the inventory says that the first node is.
  void lose_the_first_node() {
    auto text = site->read("inventory.yaml");
    const std::string there = "127.70.1.1:";
    text.replace(text.find(there), there.size(), "127.70.9.9:");
    site->write("inventory.yaml", text);
  }

  std::vector<engine::Event> events() const {
    const auto store = store::Store::open(site->folder / "state");
    if (!store) return {};
    auto all = (*store)->events(1);
    return all ? *std::move(all) : std::vector<engine::Event>{};
  }

  /// "wave-opened", "s01-n01 step-began" and so on, in the journal's order.
  std::vector<std::string> order(std::initializer_list<EventKind> kinds) const {
    std::vector<std::string> words;
    for (const auto& event : events()) {
      if (std::ranges::find(kinds, event.kind) == kinds.end()) continue;
      auto word = (event.node.empty() ? "" : event.node + " ") + std::string{to_string(event.kind)};
      if (words.empty() || words.back() != word) words.push_back(std::move(word));
    }
    return words;
  }

  /// Where the word stands; far behind all others where it does not.
  static std::size_t at(const std::vector<std::string>& words, const std::string& word) {
    return static_cast<std::size_t>(std::ranges::find(words, word) - words.begin());
  }

  std::optional<Site> site{};
};

TEST_F(CircuitTest, TheOthersBeginWhenTheCanaryHasPassed) {
  std::string patient{kWaves};  // here no deadline is to be reached
  site->write("waves.yaml", patient.replace(patient.find("4s"), 2, "60s"));
  const auto ran = site->run({"run", "waves.yaml"});

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  const auto words = order({EventKind::wave_opened, EventKind::step_began, EventKind::step_ended});
  const auto second_wave = std::ranges::find(words.rbegin(), words.rend(), "wave-opened");
  ASSERT_NE(second_wave, words.rend());
  const std::vector<std::string> before{words.begin(), second_wave.base() - 1};
  EXPECT_EQ(words.front(), "wave-opened");
  EXPECT_GT(before.size(), 5u) << "three steps of the canary, begun and ended";
  for (const auto* other : {"s01-n02 step-began", "s01-n03 step-began"}) {
    EXPECT_EQ(at(before, other), before.size()) << other;
    EXPECT_LT(at(words, other), words.size()) << other;
  }
}

TEST_F(CircuitTest, ACanaryThatFailsHaltsTheRunUntilAPersonHasLooked) {
  lose_the_first_node();
  Child run{site->cupel({"run", "waves.yaml", "--json", "--on-halt", "wait"})};
  ASSERT_TRUE(run.wait_for("run-halted", seconds{120}));

  const auto status = site->run({"status"});
  const auto released = site->run({"continue", "1", "--reason", "its cable is out"});
  const auto ran = run.wait();

  EXPECT_THAT(status.out, AllOf(HasSubstr("1 of 1 nodes of the canary failed"),
                                HasSubstr("cupel continue 1\n")));
  EXPECT_EQ(released.status, 0) << released.err;
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  const auto words = order({EventKind::run_released, EventKind::step_began});
  EXPECT_LT(at(words, "run-released"), at(words, "s01-n02 step-began"));
  EXPECT_LT(at(words, "s01-n03 step-began"), words.size());
}

TEST_F(CircuitTest, WithoutATerminalAHaltedRunEndsAndGoesOnWhereItStopped) {
  lose_the_first_node();

  const auto halted = site->run({"run", "waves.yaml"});
  const auto again = site->run({"resume", "1"});
  const auto released = site->run({"continue", "1", "--reason", "its cable is out"});
  const auto ran = site->run({"resume", "1"});

  EXPECT_EQ(halted.status, 4) << halted.out << halted.err;
  EXPECT_THAT(halted.err, AllOf(HasSubstr("run 1 is halted: 1 of 1 nodes of the canary failed"),
                                HasSubstr("cupel continue 1, and cupel resume 1")));
  EXPECT_EQ(again.status, 4) << again.out << again.err;
  EXPECT_EQ(released.status, 0) << released.err;
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  const auto words = order({EventKind::run_released, EventKind::step_began});
  EXPECT_LT(at(words, "run-released"), at(words, "s01-n02 step-began"));
  EXPECT_LT(at(words, "s01-n03 step-began"), words.size());
}

TEST_F(CircuitTest, AStepThatFailedTooOftenBeginsOnNoOtherNodeUntilAPersonHasLooked) {
  lose_the_first_node();
  Child run{site->cupel({"run", "careful.yaml", "--json", "--on-halt", "wait"})};
  ASSERT_TRUE(run.wait_for("run-halted", seconds{120}));

  const auto status = site->run({"status"});
  const auto released = site->run({"continue", "1", "ssh-wait"});
  const auto ran = run.wait();

  EXPECT_THAT(status.out, AllOf(HasSubstr("halted at ssh-wait: 1 of 1 nodes failed"),
                                HasSubstr("cupel continue 1 ssh-wait")));
  EXPECT_EQ(released.status, 0) << released.err;
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  const auto words = order({EventKind::run_released, EventKind::step_began});
  EXPECT_LT(at(words, "run-released"), at(words, "s01-n02 step-began"));
  EXPECT_LT(at(words, "s01-n03 step-began"), words.size());
}

}  // namespace
}  // namespace cupel::testing
