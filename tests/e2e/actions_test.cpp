// What needs a person's hands: asked for by name and place, waited for within bounds, and gone on
// with when the world shows that it was done. The built cupel against a virtual rack.
#include <future>

#include "orchestrator/store/store.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

using engine::EventKind;
using rehearsal::Fault;
using rehearsal::FaultKind;

constexpr const char* kBoot = R"(playbook: boot
steps:
  - step: bmc-facts
  - step: power-on
  - step: ssh-wait
    deadline: 12s
)";

constexpr const char* kParts = R"(playbook: parts
steps:
  - step: power-on
  - step: bmc-facts
  - step: audit
  - step: verdict
)";

class ActionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    site.write("boot.yaml", kBoot);
    site.write("parts.yaml", kParts);
  }
  void plant(std::vector<Fault> faults) {
    site.rack().post("v01-n02", [faults](auto& machine) { machine.set_faults(faults); });
  }
  /// Whoever was there also restarts it.
  void mend() {
    site.rack().post("v01-n02", [](auto& machine) {
      machine.set_faults({});
      machine.press(rehearsal::Reset::power_cycle);
    });
  }
  bool light(const std::string& node) {
    std::promise<bool> lit;
    auto reported = lit.get_future();
    if (!site.rack().post(node, [&](auto& machine) { lit.set_value(machine.locator()); }))
      return false;
    return reported.get();
  }
  Child begin(const std::string& playbook, const std::string& patience) {
    return Child{site.cupel({"run", playbook, "-n", "v01-n02", "--json", "--no-console",
                             "--recheck-interval", "1s", "--wait-for-repair", patience})};
  }
  std::size_t count(EventKind kind) const {
    const auto store = store::Store::open(site.file("state"));
    const auto events = store ? (*store)->events(1) : store.error();
    if (!events) return 0;
    return static_cast<std::size_t>(std::ranges::count(*events, kind, &engine::Event::kind));
  }
  bool status_tells(const std::string& text) {
    const auto end = Deadline::in(std::chrono::minutes{1});
    while (!end.passed())
      if (site.run({"status"}).out.find(text) != std::string::npos) return true;
    return false;
  }

  RackSite site{{.network = 77, .ports = "bmc: 0, ssh: 0"}};
};

TEST_F(ActionsTest, AHungMachineIsLocatedAndTheRunContinuesWhenItAnswers) {
  plant({{.kind = FaultKind::boot_hangs}});
  auto run = begin("boot.yaml", "10m");
  ASSERT_TRUE(run.wait_for("\"needs operator\""));

  const bool waits = status_tells("for repairs: cupel actions 1");
  const auto hands = site.run({"actions", "--locate"});
  const bool lit = light("v01-n02");
  mend();
  const auto ran = run.wait();
  const auto after = site.run({"actions", "--locate"});

  EXPECT_TRUE(waits);
  EXPECT_EQ(hands.status, 1) << hands.err;
  EXPECT_THAT(hands.out, AllOf(HasSubstr("v01 U9"), HasSubstr("v01-n02"), HasSubstr("its screen")));
  EXPECT_TRUE(lit);
  EXPECT_THAT(ran.out, HasSubstr("the machine answers again"));
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_EQ(after.status, 0) << after.out;
  EXPECT_FALSE(light("v01-n02"));
}

TEST_F(ActionsTest, AMissingPartIsAnActionAndTheNodeIsReadAgainWhenItIsBack) {
  plant({{.kind = FaultKind::psu_missing, .part = "psu2"}});
  auto run = begin("parts.yaml", "10m");
  ASSERT_TRUE(run.wait_for("\"needs operator\""));

  const auto hands = json_lines(site.run({"actions", "--json"}).out);
  const auto shown = site.run({"actions"});
  mend();
  const auto ran = run.wait();

  EXPECT_THAT(shown.out, AllOf(HasSubstr("v01 U9"), HasSubstr("psu"), HasSubstr("cord")));
  EXPECT_THAT(ran.out, HasSubstr("its BMC shows the missing parts again"));
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_EQ(site.run({"actions"}).status, 0);
}

TEST_F(ActionsTest, ARunWithoutARepairEndsAfterItsPatience) {
  plant({{.kind = FaultKind::boot_hangs}});

  const auto ran = begin("boot.yaml", "2s").wait();

  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_EQ(count(EventKind::run_ended), 1u);
  EXPECT_EQ(count(EventKind::node_retried), 0u);
}

TEST_F(ActionsTest, AnInterruptedWaitIsResumedWithTheTimeLeft) {
  plant({{.kind = FaultKind::boot_hangs}});
  auto first = begin("boot.yaml", "10m");
  ASSERT_TRUE(first.wait_for("\"needs operator\""));
  ASSERT_TRUE(status_tells("for repairs"));
  first.signal(SIGTERM);
  ASSERT_EQ(first.wait().status, 3);
  mend();

  // Without a word of its own: what was given with the run still holds.
  Child second{site.cupel({"resume", "1", "--json", "--recheck-interval", "1s"})};
  ASSERT_TRUE(second.wait_for("the machine answers again"));
  const auto ran = second.wait();

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
}

TEST_F(ActionsTest, RejectsAWaitOfMoreThanAWeek) {
  const auto ran = site.run({"run", "boot.yaml", "--wait-for-repair", "8d"});

  EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("at most 7 days"));
}

}  // namespace
}  // namespace cupel::testing
