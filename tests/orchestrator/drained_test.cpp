// What a run that was cancelled says of Slurm is what it did there.
#include "orchestrator/report/drained.h"

#include <gtest/gtest.h>

namespace cupel::report {
namespace {

engine::Event done_on(const std::string& node, boost::json::object data) {
  engine::Event event;
  event.kind = engine::EventKind::step_ended;
  event.node = node;
  event.step = "drain";
  event.data = std::move(data);
  event.data["outcome"] = "done";
  return event;
}

TEST(Drained, NamesTheNodesThatTheRunDrainedAndHasNotResumed) {
  const std::vector<engine::Event> events{
      done_on("a01-n01", {{"reason_before", ""}}), done_on("a01-n02", {{"reason_before", ""}}),
      done_on("a01-n03", {{"reason_before", ""}}), done_on("a01-n01", {{"slurm", "resumed"}}),
      done_on("a01-n03", {{"slurm", "drained"}})};

  EXPECT_EQ(still_drained(events), "; a01-n[02-03] stay drained in Slurm");
}

TEST(Drained, NamesTheSchedulersOfTheRun) {
  const std::vector<engine::Event> both{
      done_on("a01-n01", {{"reason_before", ""}, {"scheduler", "Slurm"}}),
      done_on("a01-n02", {{"reason_before", ""}, {"scheduler", "Kubernetes"}})};
  const std::vector<engine::Event> kubernetes{done_on("a01-n01", {{"kubernetes", "drained"}})};

  EXPECT_EQ(still_drained(both), "; a01-n[01-02] stay drained in Slurm and Kubernetes");
  EXPECT_EQ(still_drained(kubernetes), "; a01-n01 stays drained in Kubernetes");
}

TEST(Drained, SaysNothingOfARunThatDrainedNothing) {
  const std::vector<engine::Event> events{done_on("a01-n01", {{"detail", "on"}})};

  EXPECT_EQ(still_drained(events), "");
}

}  // namespace
}  // namespace cupel::report
