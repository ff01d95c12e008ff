#include "orchestrator/handoff/slurm_job.h"

#include <gmock/gmock.h>

namespace cupel::handoff {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(SlurmJobStates, AreReadFromSqueueAndSacctTheOldestFirst) {
  EXPECT_THAT(parse_job_states("104|PENDING|ReqNodeNotAvail, UnavailableNodes:n1\n"
                               "99|CANCELLED by 1000|None\n"),
              ElementsAre(SlurmJobState{"99", "CANCELLED", "None"},
                          SlurmJobState{"104", "PENDING", "ReqNodeNotAvail, UnavailableNodes:n1"}));
}

TEST(SlurmJobStates, AreBoundedAndPassOverWhatIsNoJob) {
  for (const auto* text : {"", "\n", "17", "17|RUNNING", "x|RUNNING|None", "17||None",
                           "slurm_load_jobs error: x|y|z", "17|RUNNING|None|more"})
    EXPECT_THAT(parse_job_states(text), IsEmpty()) << text;
  EXPECT_EQ(parse_job_states("17|RUNNING|a\x1b[31mb\n").front().reason, "a[31mb");
  std::string many;
  for (int i = 0; i < 200; ++i) many += std::to_string(i) + "|RUNNING|None\n";
  EXPECT_THAT(parse_job_states(many), SizeIs(100));
}

TEST(SlurmJobStates, SayWhetherTheJobWaitsRunsOrIsOver) {
  const auto is = [](const char* state, const char* reason = "None") {
    return SlurmJobState{"17", state, reason};
  };
  EXPECT_TRUE(is("PENDING", "Resources").waits());
  EXPECT_FALSE(is("PENDING", "Resources").is_hopeless());
  EXPECT_TRUE(is("PENDING", "PartitionTimeLimit").is_hopeless());
  EXPECT_FALSE(is("RUNNING", "PartitionTimeLimit").is_hopeless());
  for (const auto* state : {"RUNNING", "COMPLETING", "SUSPENDED", "a new one"}) {
    EXPECT_FALSE(is(state).waits()) << state;
    EXPECT_FALSE(is(state).over()) << state;
  }
  for (const auto* state : {"FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "CANCELLED",
                            "PREEMPTED", "BOOT_FAIL", "DEADLINE", "REVOKED"}) {
    EXPECT_TRUE(is(state).over()) << state;
    EXPECT_FALSE(is(state).is_good()) << state;
  }
  for (const auto* state : {"REQUEUED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "CONFIGURING"})
    EXPECT_TRUE(is(state).waits() && !is(state).over()) << state;
  EXPECT_TRUE(is("COMPLETED").over() && is("COMPLETED").is_good());
}

}  // namespace
}  // namespace cupel::handoff
