// What the hand-off says to the scheduler of a node's NVLink domain, and when.
#include <gmock/gmock.h>

#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/profile.h"
#include "orchestrator/handoff/scheduler.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/steps/step_type.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/support/captures.h"

namespace cupel::steps {
namespace {

using namespace std::chrono_literals;
using burnin::Decision;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kDomain = "0a1b2c3d-0000-4000-8000-000000000001.32766";

/// Keeps in which order it was asked.
struct AskedScheduler final : handoff::Scheduler {
  std::string_view name() const override { return "Kubernetes"; }
  std::vector<std::string_view> keys() const override { return {"kubernetes"}; }
  const std::string& signature() const override { return signature_; }
  Task<Result<handoff::NodeState>> look(const inventory::Node&, const inventory::Profile&,
                                        Deadline) override {
    co_return handoff::NodeState{.name = "n1", .drained = asked.back() == "hold"};
  }
  Task<Result<void>> hold(const inventory::Node&, std::string, Deadline) override {
    asked.push_back("hold");
    co_return ok();
  }
  Task<Result<std::string>> release(const inventory::Node&, Deadline) override {
    asked.push_back("release");
    co_return std::string{};
  }
  Task<Result<void>> place(const inventory::Node&, const inventory::NvlinkDomain& domain,
                           Deadline) override {
    if (fails) co_return Error{Code::kUnreachable, "Kubernetes does not answer"};
    asked.push_back("place " + domain.text());
    co_return ok();
  }

  bool fails = false;
  std::vector<std::string> asked{};

 private:
  std::string signature_ = "cupel";
};

class HandOffDomain : public ::testing::Test {
 protected:
  HandOffDomain() {
    inventory_.profiles["tray"] = {.name = "tray"};
    node_.name = "n1";
    node_.profile = "tray";
    step_.kind = playbooks::StepKind::hand_off;
    step_.name = "hand-off";
  }

  void append(engine::EventKind kind, const char* step, boost::json::object data) {
    engine::Event event;
    event.kind = kind;
    event.node = "n1";
    event.step = step;
    event.data = std::move(data);
    ASSERT_TRUE(store_->append(run_, event));
  }
  /// A run that has read this fact of the node, and has come to this verdict.
  engine::StepEnd handed_off(const std::string& fact, const std::string& value,
                             Decision decision = Decision::pass) {
    store::Run run;
    run.nodes = {"n1"};
    run_ = store_->begin_run(run).value();
    boost::json::object facts;
    facts[fact] = value;
    append(engine::EventKind::step_began, "bmc-facts", {{"attempt", 1}});
    append(engine::EventKind::step_ended, "bmc-facts", {{"outcome", "done"}, {"facts", facts}});
    burnin::Verdict verdict;
    verdict.decision = decision;
    auto judged = record::to_json(verdict);
    judged["outcome"] = "done";
    append(engine::EventKind::step_began, "verdict", {{"attempt", 1}});
    append(engine::EventKind::step_ended, "verdict", std::move(judged));
    StepEnvironment world{inventory_, *store_, {}, {}, nullptr};
    world.scheduler_of = [this](const inventory::Node&) { return scheduler_; };
    NodeSteps steps{std::move(world)};
    const auto stop = engine::Stop::no;
    asio::io_context io{1};
    return run_to_end(io, steps.perform({.run = run_,
                                         .node = node_,
                                         .step = step_,
                                         .handle = {},
                                         .deadline = Deadline::in(60s),
                                         .stop = stop,
                                         .started = {},
                                         .waiting = [](std::string) {}}))
        .value();
  }

  inventory::Node node_{};
  inventory::Inventory inventory_{};
  playbooks::PlannedStep step_{};
  test::TemporaryFolder folder_{};
  std::unique_ptr<store::Store> store_ = store::Store::open(folder_.path()).value();
  std::shared_ptr<AskedScheduler> scheduler_ = std::make_shared<AskedScheduler>();
  engine::RunId run_ = 0;
};

TEST_F(HandOffDomain, IsSaidBeforeTheNodeIsReleased) {
  const auto end = handed_off("nvlink.domain", kDomain);

  EXPECT_EQ(end.detail, "resumed in Kubernetes");
  EXPECT_THAT(scheduler_->asked, ElementsAre(std::string{"place "} + kDomain, "release"));
}

TEST_F(HandOffDomain, IsNotSaidOfANodeThatReportsNoneOrSeveral) {
  handed_off("nvlink.domains", std::string{kDomain} + ": gpu0");

  EXPECT_THAT(scheduler_->asked, ElementsAre("release"));
}

TEST_F(HandOffDomain, IsNotSaidOfANodeThatStaysDrained) {
  handed_off("nvlink.domain", kDomain, Decision::fail);

  EXPECT_THAT(scheduler_->asked, ElementsAre("hold"));
}

TEST_F(HandOffDomain, KeepsTheNodeWhereItCannotBeSaid) {
  scheduler_->fails = true;

  const auto end = handed_off("nvlink.domain", kDomain);

  EXPECT_THAT(end.detail, HasSubstr("Kubernetes does not answer"));
  EXPECT_THAT(scheduler_->asked, ElementsAre());
}

}  // namespace
}  // namespace cupel::steps
