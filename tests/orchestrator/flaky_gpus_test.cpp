// GPUs that needed a reset: which causes a verdict leaves out, and which stay whatever the playbook
// lets pass.
#include "orchestrator/steps/flaky_gpus.h"

#include <gmock/gmock.h>

namespace cupel::steps {
namespace {

using burnin::Cause;
using record::NodeRecord;
using record::StepRecord;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

StepRecord step(std::string name, std::string outcome = "done") {
  StepRecord record;
  record.name = std::move(name);
  record.outcome = std::move(outcome);
  return record;
}

/// gpu2 had Xid 95 under gemm, was reset, and did gemm again.
NodeRecord reset_node(double may_pass = 1, double done = 1) {
  NodeRecord record;
  record.node = "n1";
  record.steps = {step("gpu-facts"), step("gemm"), step("gpu-reset"), step("gemm@reset"),
                  step("gpu-facts@after")};
  record.findings["kernel-log@gemm"].measurements = {{"kernel.xid", "gpu2", 95},
                                                     {"first.kernel.xid.95", "gpu2", 4711, "s"},
                                                     {"first.kernel.xid.45", "gpu2", 4712, "s"}};
  record.findings["gpu-reset"].measurements = {
      {"gpu.reset.needed", "", 1},
      {"gpu.reset.needed", "gpu1", 0},
      {"gpu.reset.needed", "gpu2", 1, "", "Xid 95 at 4711 s; reset"},
      {"gpu.reset.done", "gpu2", done},
      {"gpu.reset.may_pass", "gpu2", may_pass}};
  record.findings["gemm@reset"].measurements = {{"gemm.bf16.rate", "gpu2", 700, "TFLOP/s"}};
  return record;
}

Cause cause(std::string criterion, std::string stage, double value = 1, std::string part = "gpu2") {
  Cause cause;
  cause.criterion = std::move(criterion);
  cause.part = std::move(part);
  cause.stages = {std::move(stage)};
  cause.quantity.value = value;
  return cause;
}

std::vector<std::string> left(const NodeRecord& record, std::vector<Cause> causes) {
  let_pass_after_reset(record, causes);
  std::vector<std::string> names;
  for (const auto& each : causes) names.push_back(each.criterion);
  return names;
}

std::vector<Cause> of_the_reset() {
  return {cause("gpu.reset.needed", "gpu-reset"), cause("kernel.xid", "kernel-log@gemm", 95),
          cause("gpu.xid", "gemm", 95), cause("gpu.xid", "gpu-facts@after", 95),
          cause("gpu.reset_required", "gpu-facts")};
}

TEST(FlakyGpus, AreSaidWithTheErrorAndWhatWasDone) {
  EXPECT_THAT(flaky_gpus(reset_node()), ElementsAre("gpu2 is flaky: Xid 95 at 4711 s; reset"));
  EXPECT_THAT(flaky_gpus(NodeRecord{}), IsEmpty());
}

TEST(FlakyGpus, PassWhereThePlaybookLetsThemAndTheyWorkedSince) {
  EXPECT_THAT(left(reset_node(), of_the_reset()), IsEmpty());
}

TEST(FlakyGpus, FailAsBeforeWhereThePlaybookDoesNotLetThemPass) {
  EXPECT_EQ(left(reset_node(0), of_the_reset()).size(), of_the_reset().size());
}

TEST(FlakyGpus, FailWhereNothingHasWorkedOnThemSince) {
  auto none = reset_node(), failed = reset_node();
  none.findings.erase("gemm@reset");
  failed.steps[3].outcome = "failed";

  EXPECT_EQ(left(none, of_the_reset()).size(), of_the_reset().size());
  EXPECT_EQ(left(failed, of_the_reset()).size(), of_the_reset().size());
}

TEST(FlakyGpus, FailWhereAnythingIsFoundSince) {
  auto causes = of_the_reset();
  causes.push_back(cause("gpu.reset_required", "gpu-facts@after"));

  EXPECT_EQ(left(reset_node(), causes).size(), causes.size());
}

TEST(FlakyGpus, KeepWhatNoResetMends) {
  auto causes = of_the_reset();
  causes.push_back(cause("gemm.errors", "gemm"));
  causes.push_back(cause("gpu.remap.failed", "gpu-facts"));
  causes.push_back(cause("kernel.xid", "kernel-log@gemm", 95, "gpu3"));

  EXPECT_THAT(left(reset_node(), causes),
              ElementsAre("gemm.errors", "gpu.remap.failed", "kernel.xid"));
}

TEST(FlakyGpus, KeepAnXidBesideOneThatNoResetAnswers) {
  auto record = reset_node();
  record.findings["kernel-log@gemm"].measurements.push_back(
      {"first.kernel.xid.79", "gpu2", 4713, "s"});
  auto unknown = reset_node();
  unknown.findings["kernel-log@gemm"].measurements.resize(1);

  // It counts as found since: nothing of the GPU is left out.
  EXPECT_EQ(left(record, of_the_reset()).size(), of_the_reset().size());
  EXPECT_EQ(left(unknown, of_the_reset()).size(), of_the_reset().size())
      << "which Xids there were is not known";
}

TEST(FlakyGpus, ReadLogsThatWereKeptWhenTheirStepCameAgain) {
  auto record = reset_node();
  record.findings["kernel-log@gemm@before-retry"] = record.findings["kernel-log@gemm"];

  EXPECT_THAT(left(record, {cause("kernel.xid", "kernel-log@gemm@before-retry", 95)}), IsEmpty());
}

TEST(FlakyGpus, ThatNeededARestartPassOnceTheMachineHadOne) {
  auto without = reset_node(1, 0), with = reset_node(1, 0);
  with.steps.insert(with.steps.begin() + 3, step("power-cycle@reset"));

  EXPECT_EQ(left(without, of_the_reset()).size(), of_the_reset().size());
  EXPECT_THAT(left(with, of_the_reset()), IsEmpty());
}

TEST(FlakyGpus, FailWhereARowWasRemappedSince) {
  const std::vector<Cause> causes{cause("gpu.remap.new", "gpu-facts@after")};
  auto since = reset_node();
  since.findings["kernel-log@gemm@reset"].measurements = {
      {"first.kernel.xid.63", "gpu2", 5000, "s"}};

  EXPECT_THAT(left(reset_node(), causes), IsEmpty());
  EXPECT_EQ(left(since, causes).size(), 1u);
}

}  // namespace
}  // namespace cupel::steps
