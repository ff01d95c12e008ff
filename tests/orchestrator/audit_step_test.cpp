// The audit of what several looks at a node have told.
#include <gmock/gmock.h>

#include "inventory/expected_parts.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/steps/step_type.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::steps {
namespace {

using engine::EventKind;
using inventory::Part;
using inventory::PartKind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AuditStepTest : public store::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    store = open();
    ASSERT_TRUE(store);
    node.name = "n1";
    node.profile = "one";
    inventory::ExpectedParts gpus;
    gpus.kind = PartKind::gpu;
    gpus.count = 2;
    gpus.pci = {"1b:00.0", "43:00.0"};
    auto& profile = inventory.profiles["one"];
    profile.name = "one";
    profile.parts = {gpus};
    run = store->begin_run(run_on({"n1"})).value();
  }

  static std::vector<Part> gpus(int count) {
    constexpr std::array kSlots{"00000000:1B:00.0", "00000000:43:00.0", "00000000:52:00.0"};
    std::vector<Part> parts;
    for (int i = 0; i < count; ++i) {
      auto& gpu = parts.emplace_back();
      gpu.kind = PartKind::gpu;
      gpu.name = "gpu" + std::to_string(i);
      gpu.slot = kSlots.at(static_cast<std::size_t>(i));
      gpu.source = "nvidia-smi";
    }
    return parts;
  }

  /// A stage has ended, and saw these.
  void saw(const std::string& stage, std::vector<Part> parts) {
    auto ended = event(EventKind::step_ended, "n1", stage);
    burnin::Findings findings;
    findings.parts = std::move(parts);
    ended.data = record::to_json(findings);
    ended.data["outcome"] = "done";
    ASSERT_TRUE(store->append(run, ended));
  }

  std::vector<std::string> audited() {
    playbooks::PlannedStep planned;
    planned.kind = playbooks::StepKind::audit;
    planned.name = "audit";
    StepEnvironment doors{inventory, *store, {}, {}, nullptr};
    const auto stop = engine::Stop::no;
    const engine::StepRequest request{run,
                                      node,
                                      {},
                                      planned,
                                      1,
                                      {},
                                      Deadline::in(std::chrono::minutes{1}),
                                      stop,
                                      {},
                                      [](const std::string&) {}};
    asio::io_context io;
    const auto ended =
        run_to_end(io, step_type(playbooks::StepKind::audit).perform(doors, request));
    if (!ended) return {ended.error().what};
    std::vector<std::string> told;
    for (const auto& each : record::audit_from(&ended->found.at("audit")))
      told.push_back(std::string{to_string(each.finding)} + " " + each.part + ": " + each.observed +
                     " of " + each.expected);
    return told;
  }

  inventory::Node node{};
  inventory::Inventory inventory{};
  std::unique_ptr<store::Store> store{};
  engine::RunId run{};
};

TEST_F(AuditStepTest, CountsThePartsOfAStageThatWasDoneTwiceOnce) {
  saw("gpu-facts@before", gpus(2));
  saw("gpu-facts@after", gpus(2));

  EXPECT_THAT(audited(), IsEmpty());
}

TEST_F(AuditStepTest, UsesTheNewestReading) {
  saw("gpu-facts", gpus(2));
  saw("gpu-facts@after", gpus(1));

  EXPECT_THAT(audited(), ElementsAre("missing gpu1: 1 of 2 gpus"));
}

TEST_F(AuditStepTest, CountsThePartsOfEachStage) {
  saw("node-facts", {});
  saw("gpu-facts", gpus(3));

  EXPECT_THAT(audited(), ElementsAre("extra gpu: 3 of 2 gpus"));
}

}  // namespace
}  // namespace cupel::steps
