// What a person did to a node in Slurm before Cupel drained it is put back, and a node that is
// tested is not said to be qualified. With a real slurmctld.
#include <gmock/gmock.h>

#include "base/process.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/handoff/slurm.h"
#include "tests/support/real_part.h"
#include "tests/support/slurm.h"

namespace cupel::handoff {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using namespace std::chrono_literals;

SlurmNode node_with(std::vector<std::string> state, std::string reason, std::string by = "alice") {
  SlurmNode node{.name = "n1", .state = std::move(state)};
  node.reason = std::move(reason);
  node.reason_by = std::move(by);
  return node;
}

TEST(ForeignHold, IsADrainOrDownThatNeitherCupelNorSlurmHasMade) {
  EXPECT_EQ(foreign_hold(node_with({"IDLE", "DRAIN"}, "ticket 4711")),
            (ForeignHold{"DRAIN", "alice", "ticket 4711"}));
  EXPECT_EQ(foreign_hold(node_with({"DOWN"}, "PSU smells", "")),
            (ForeignHold{"DOWN", "", "PSU smells"}));
  EXPECT_EQ(foreign_hold(node_with({"IDLE", "DRAIN"}, "cupel: not qualified (run 3)")),
            std::nullopt);
  EXPECT_EQ(foreign_hold(node_with({"IDLE", "DRAIN"}, "cupel REHEARSAL: not qualified (run 3)")),
            std::nullopt);
  EXPECT_EQ(foreign_hold(node_with({"IDLE", "DRAIN"}, "cupel-check: gpu3: 2 errors", "root")),
            std::nullopt);
  EXPECT_EQ(foreign_hold(node_with({"IDLE"}, "ticket 4711")), std::nullopt);
  for (const auto* reason :
       {"Not responding", "Node unexpectedly rebooted", "Low RealMemory (reported:1 < 2)",
        "Low socket*core*thread count, Low CPUs", "Low CPUs", "Low TmpDisk", "reboot timed out",
        "gres/gpu count reported lower than configured (0 < 8)", "Kill task failed", ""})
    EXPECT_EQ(foreign_hold(node_with({"IDLE", "DRAIN"}, reason, "root")), std::nullopt) << reason;
}

TEST(ForeignHold, IsAPersonsThoughItBeginsAsReasonsOfSlurmOrOursDo) {
  for (const auto* reason :
       {"low fan speed, do not use", "reboot after the next job", "invalid serial number: RMA 12",
        "cupel found a bad GPU, do not use", "cupel run 3: ask alice", "cupel"})
    EXPECT_EQ(foreign_hold(node_with({"IDLE", "DRAIN"}, reason)),
              (ForeignHold{"DRAIN", "alice", reason}));
  EXPECT_EQ(foreign_hold(node_with({"IDLE", "DRAIN"}, "low fan speed", "root")),
            (ForeignHold{"DRAIN", "root", "low fan speed"}));
  EXPECT_EQ(foreign_hold(node_with({"IDLE", "DRAIN"}, "Not responding", "slurmadm")), std::nullopt);
}

TEST(ForeignHold, OutlivesTheReasonsThatCupelWrites) {
  const ForeignHold held{"DOWN", "alice", "ticket 4711: PSU smells, do not use"};
  const auto first = reason_with("cupel: not qualified (run 3)", held);
  const auto long_cause = std::string(300, 'x');
  const auto second = reason_with("cupel: fail: gpu3: " + long_cause,
                                  foreign_hold(node_with({"IDLE", "DRAIN"}, first)));

  EXPECT_THAT(first, StartsWith("cupel: not qualified (run 3) | before: DOWN by alice: ticket"));
  EXPECT_LE(second.size(), 240);
  EXPECT_THAT(second, StartsWith("cupel: fail: gpu3: xxx"));
  EXPECT_EQ(foreign_hold(node_with({"IDLE", "DRAIN"}, second)), held);
  EXPECT_EQ(own_reason(first), "cupel: not qualified (run 3)");
  EXPECT_EQ(reason_with("cupel: a", std::nullopt), "cupel: a");
}

class SlurmHold : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(testing::LoopbackSlurm::installed(),
                          "slurmctld, slurmd or munged is not installed");
    slurm_ = std::make_unique<testing::LoopbackSlurm>(
        "n1", "NodeName=n1 CPUs=2 RealMemory=1000 Feature=own State=UNKNOWN\n");
    inventory::SlurmSite site;
    site.configuration = slurm_->configuration();
    site.features = {"qualified"};
    door_ = std::make_unique<Slurm>(site);
    node_.name = node_.slurm_name = "n1";
  }
  void by_hand(const std::string& state, const std::string& reason) {
    ProcessRequest request{
        .argv = {"scontrol", "update", "NodeName=n1", "State=" + state, "Reason=" + reason},
        .environment = {"SLURM_CONF=" + slurm_->configuration()}};
    asio::io_context io;
    const auto ran = run_to_end(io, run_process(std::move(request), Deadline::in(30s)));
    ASSERT_TRUE(ran && ran->exit_status == 0) << (ran ? ran->error : ran.error().what);
  }
  void hold(const std::string& reason) {
    asio::io_context io;
    const auto held = run_to_end(io, door_->hold(node_, reason, Deadline::in(30s)));
    ASSERT_TRUE(held) << held.error().what;
  }
  std::string release() {
    asio::io_context io;
    const auto left = run_to_end(io, door_->release(node_, Deadline::in(30s)));
    return left ? *left : left.error().what;
  }
  SlurmNode now() {
    asio::io_context io;
    return run_to_end(io, door_->node("n1", Deadline::in(30s))).value();
  }
  std::unique_ptr<testing::LoopbackSlurm> slurm_;
  std::unique_ptr<Slurm> door_;
  inventory::Node node_{};
};

TEST_F(SlurmHold, WhatCupelDrainedIsResumedAndSaysThatItIsQualifiedOnlyThen) {
  hold("cupel: not qualified (run 1)");
  EXPECT_THAT(release(), IsEmpty());
  EXPECT_FALSE(now().drained());
  EXPECT_THAT(now().features, ::testing::UnorderedElementsAre("own", "qualified"));

  hold("cupel: not qualified (run 2)");

  EXPECT_TRUE(now().drained());
  EXPECT_THAT(now().features, ::testing::ElementsAre("own"));
}

TEST_F(SlurmHold, APersonsDrainAndDownArePutBack) {
  for (const auto* state : {"DRAIN", "DOWN"}) {
    by_hand(state, "ticket 4711: PSU smells");
    hold("cupel: not qualified (run 1)");
    ASSERT_THAT(now().reason, StartsWith("cupel: not qualified (run 1) | before: "));
    hold("cupel: inconclusive: no evidence (run 1)");

    const auto left = release();

    EXPECT_THAT(left, HasSubstr("ticket 4711: PSU smells")) << state;
    EXPECT_THAT(left, HasSubstr("scontrol update nodename=n1 state=resume")) << state;
    EXPECT_EQ(now().reason, "ticket 4711: PSU smells") << state;
    EXPECT_TRUE(now().has(state)) << state;
    by_hand("RESUME", "x");
  }
}

}  // namespace
}  // namespace cupel::handoff
