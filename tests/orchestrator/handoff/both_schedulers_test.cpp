// Who gives a node to jobs: the inventory's Slurm, its Kubernetes, or both of them.
#include "orchestrator/handoff/both_schedulers.h"

#include <gmock/gmock.h>

#include "inventory/model.h"
#include "inventory/node.h"

namespace cupel::handoff {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Keeps what it was asked to do.
struct Recorded : Scheduler {
  explicit Recorded(std::string name) : own{std::move(name)} {}
  std::string_view name() const override { return own; }
  std::vector<std::string_view> keys() const override { return {own}; }
  const std::string& signature() const override { return own; }
  Task<Result<NodeState>> look(const inventory::Node&, const inventory::Profile&,
                               Deadline) override {
    co_return state;
  }
  Task<Result<void>> hold(const inventory::Node&, std::string reason, Deadline) override {
    if (fails) co_return Error{Code::kUnreachable, own + " does not answer"};
    done.push_back("hold " + reason);
    co_return ok();
  }
  Task<Result<std::string>> release(const inventory::Node&, Deadline) override {
    if (fails) co_return Error{Code::kUnreachable, own + " does not answer"};
    done.push_back("release");
    co_return left;
  }
  Task<Result<void>> place(const inventory::Node&, const inventory::NvlinkDomain& domain,
                           Deadline) override {
    if (fails) co_return Error{Code::kUnreachable, own + " does not answer"};
    done.push_back("place " + domain.text());
    co_return ok();
  }

  std::string own;
  NodeState state{};
  std::string left{};
  bool fails = false;
  std::vector<std::string> done{};
};

struct BothTest : ::testing::Test {
  template <class T>
  T ended(Task<T> task) {
    return run_to_end(io, std::move(task));
  }
  Result<NodeState> look() { return ended(both.look(node, profile, Deadline::in(30s))); }

  asio::io_context io{1};
  inventory::Node node{};
  inventory::Profile profile{};
  std::shared_ptr<Recorded> slurm = std::make_shared<Recorded>("Slurm");
  std::shared_ptr<Recorded> kubernetes = std::make_shared<Recorded>("Kubernetes");
  BothSchedulers both{slurm, kubernetes};
};

TEST_F(BothTest, HoldsAndReleasesInBoth) {
  ASSERT_TRUE(ended(both.hold(node, "cupel: x", Deadline::in(30s))));
  const auto left = ended(both.release(node, Deadline::in(30s)));

  ASSERT_TRUE(left);
  EXPECT_EQ(*left, "");
  EXPECT_THAT(slurm->done, ElementsAre("hold cupel: x", "release"));
  EXPECT_THAT(kubernetes->done, ElementsAre("hold cupel: x", "release"));
  EXPECT_EQ(both.name(), "Slurm and Kubernetes");
  EXPECT_THAT(both.keys(), ElementsAre("Slurm", "Kubernetes"));
}

TEST_F(BothTest, SaysToBothWhichNvlinkDomainTheNodeIsIn) {
  const inventory::NvlinkDomain domain{"0a1b2c3d-0000-4000-8000-000000000001", 5};

  ASSERT_TRUE(ended(both.place(node, domain, Deadline::in(30s))));
  EXPECT_EQ(slurm->done, kubernetes->done);
  EXPECT_THAT(slurm->done, ElementsAre("place 0a1b2c3d-0000-4000-8000-000000000001.5"));

  kubernetes->fails = true;
  EXPECT_EQ(ended(both.place(node, domain, Deadline::in(30s))).error().code, Code::kUnreachable);
}

TEST_F(BothTest, WhatOneOfThemRefusesIsAnError) {
  kubernetes->fails = true;

  EXPECT_EQ(ended(both.hold(node, "cupel: x", Deadline::in(30s))).error().what,
            "Kubernetes does not answer");
  EXPECT_EQ(ended(both.release(node, Deadline::in(30s))).error().code, Code::kUnreachable);
}

TEST_F(BothTest, WhatAPersonHoldsBackInOneOfThemIsGivenToNeither) {
  slurm->left = "drained by alice";
  const auto by_slurm = ended(both.release(node, Deadline::in(30s)));
  const auto asked = kubernetes->done;
  slurm->left.clear();
  slurm->done.clear();
  kubernetes->left = "cordoned by bob";
  const auto by_kubernetes = ended(both.release(node, Deadline::in(30s)));

  ASSERT_TRUE(by_slurm && by_kubernetes);
  EXPECT_EQ(*by_slurm, "drained by alice");
  EXPECT_THAT(asked, ElementsAre());
  EXPECT_EQ(*by_kubernetes, "cordoned by bob");
  EXPECT_THAT(slurm->done, ElementsAre("release", "hold Slurm: cordoned by bob"));
}

TEST_F(BothTest, IsDrainedWhereBothHaveDrainedItAndBusyWhereOneIs) {
  slurm->state = {.name = "n1", .drained = true, .reason = "cupel: x"};
  kubernetes->state = {.name = "n1.lab", .busy = true, .jobs = {"train"}};
  const auto one = look();
  kubernetes->state = {.name = "n1.lab", .drained = true, .reason = "cupel: x"};
  const auto two = look();

  ASSERT_TRUE(one && two);
  EXPECT_FALSE(one->drained);
  EXPECT_TRUE(one->busy);
  EXPECT_THAT(one->jobs, ElementsAre("train"));
  EXPECT_THAT(one->silent, HasSubstr("Slurm has it drained and Kubernetes has not"));
  EXPECT_TRUE(two->drained);
  EXPECT_FALSE(two->busy);
  EXPECT_EQ(two->silent, "");
  EXPECT_EQ(two->reason, "cupel: x");
}

TEST(SchedulerOf, IsTheOneOfTheNode) {
  inventory::Inventory inventory;
  inventory::Node node;
  EXPECT_EQ(scheduler_of(inventory, "cupel")(node), nullptr);
  inventory.slurm.emplace();
  EXPECT_EQ(scheduler_of(inventory, "cupel")(node)->name(), "Slurm");
  inventory.kubernetes.emplace();
  const auto of = scheduler_of(inventory, "cupel REHEARSAL");
  EXPECT_EQ(of(node)->name(), "Slurm and Kubernetes");
  node.schedulers.kubernetes = true;
  EXPECT_EQ(of(node)->name(), "Kubernetes");
  EXPECT_EQ(of(node)->signature(), "cupel REHEARSAL");
  node.schedulers.slurm = true;
  EXPECT_EQ(of(node)->name(), "Slurm and Kubernetes");
  inventory.slurm.reset();
  EXPECT_EQ(scheduler_of(inventory, "cupel")(node)->name(), "Kubernetes");
}

}  // namespace
}  // namespace cupel::handoff
