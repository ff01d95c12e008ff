// The audit of what several looks at a node have reported.
#include <gmock/gmock.h>

#include "inventory/expected_parts.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/steps/part_places.h"
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

  Result<engine::StepEnd> audit() {
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
                                      [](const std::string&) {},
                                      &state};
    asio::io_context io;
    return run_to_end(io, step_type(playbooks::StepKind::audit).perform(doors, request));
  }
  std::vector<std::string> audited() {
    const auto ended = audit();
    if (!ended) return {ended.error().what};
    std::vector<std::string> reported;
    for (const auto& each : record::audit_from(&ended->found.at("audit")))
      reported.push_back(std::string{to_string(each.finding)} + " " + each.part + ": " +
                         each.observed + " of " + each.expected);
    return reported;
  }

  inventory::Node node{};
  inventory::Inventory inventory{};
  std::unique_ptr<store::Store> store{};
  engine::RunId run{};
  engine::RunState state{};
};

TEST_F(AuditStepTest, CountsThePartsOfAStageThatWasDoneTwiceOnce) {
  saw("gpu-facts@before", gpus(2));
  saw("gpu-facts@after", gpus(2));

  EXPECT_THAT(audited(), IsEmpty());
}

TEST_F(AuditStepTest, NamesWhoWasNotReadWhereItFindsNothing) {
  auto by_bmc = event(EventKind::step_ended, "n1", "bmc-facts");
  by_bmc.data["outcome"] = "done";
  by_bmc.data["bmc_parts"] = record::to_json(gpus(2));
  ASSERT_TRUE(store->append(run, by_bmc));
  const auto alone = audit();
  saw("gpu-facts", gpus(2));
  const auto both = audit();

  ASSERT_TRUE(alone && both);
  EXPECT_EQ(alone->detail, "as the profile says, by the BMC alone: the node itself was not read");
  EXPECT_EQ(both->detail, "as the profile says");
}

TEST_F(AuditStepTest, HoldsVersionsAgainstTheSecurityFloor) {
  auto seen = gpus(2);
  seen.push_back({.kind = PartKind::firmware, .name = "driver", .firmware = "535.54.03"});
  saw("node-facts", std::move(seen));
  inventory.floor = {.fails = true,
                     .rows = {{.component = "driver",
                               .branch = "535",
                               .at_least = "535.309.01",
                               .advisory = "NVIDIA 5821",
                               .date = "2026-05-19"}}};

  const auto ended = audit();

  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->outcome, engine::Outcome::done);
  EXPECT_EQ(ended->detail,
            "as the profile says, by the node alone: its BMC was not read; below the security "
            "floor: driver 535.54.03, at least 535.309.01 (NVIDIA 5821, 2026-05-19)");
  const inventory::FloorLook look{
      .policy = "fail",
      .read = {"driver"},
      .below = {{"driver", "driver", "535.54.03", "535.309.01", "NVIDIA 5821", "2026-05-19"}}};
  EXPECT_EQ(record::floor_from(&ended->found.at("security_floor")), look);
}

TEST_F(AuditStepTest, HoldsABiosAgainstTheRowsOfItsMachinesModel) {
  auto seen = gpus(2);
  seen.push_back({.kind = PartKind::system, .name = "system", .model = "PowerEdge R760"});
  seen.push_back({.kind = PartKind::firmware, .name = "bios", .firmware = "2.1.5"});
  saw("node-facts", std::move(seen));
  inventory.floor = {.rows = {{.component = "bios",
                               .branch = "2",
                               .at_least = "2.4.1",
                               .models = {"*R760*"},
                               .advisory = "DSA-2",
                               .date = "2026-01-01"}}};

  const auto ended = audit();

  ASSERT_TRUE(ended);
  const inventory::FloorLook look{
      .policy = "warn",
      .read = {"bios"},
      .below = {{"bios", "bios", "2.1.5", "2.4.1", "DSA-2", "2026-01-01"}}};
  EXPECT_EQ(record::floor_from(&ended->found.at("security_floor")), look);
}

TEST_F(AuditStepTest, UsesTheNewestReading) {
  saw("gpu-facts", gpus(2));
  saw("gpu-facts@after", gpus(1));

  EXPECT_THAT(audited(), ElementsAre("missing gpu1: 1 of 2 gpus"));
}

TEST_F(AuditStepTest, MissesNothingThatAReadingOfTheBmcCouldNotList) {
  auto ended = event(EventKind::step_ended, "n1", "bmc-facts");
  ended.data["outcome"] = "done";
  ended.data["bmc_parts"] = record::to_json(gpus(1));
  ended.data["bmc_partial"] = record::to_json(std::vector<inventory::PartialList>{
      {PartKind::gpu, "/redfish/v1/Systems/1/Processors/GPU_2", "HTTP 503", true}});
  ASSERT_TRUE(store->append(run, ended));

  EXPECT_THAT(audited(),
              ElementsAre("not observed gpu: 1 listed by the BMC, which could not be read whole: "
                          "/redfish/v1/Systems/1/Processors/GPU_2: HTTP 503 of 2 gpus"));
  saw("gpu-facts", gpus(2));
  EXPECT_THAT(audited(), IsEmpty()) << "the driver lists them";
}

TEST_F(AuditStepTest, MissesNothingThatAStageCouldNotList) {
  auto ended = event(EventKind::step_ended, "n1", "gpu-facts");
  burnin::Findings findings;
  findings.parts = gpus(1);
  findings.partial = {{PartKind::gpu, "nvidia-smi -q -x", "its output is cut short", true}};
  ended.data = record::to_json(findings);
  ended.data["outcome"] = "done";
  ASSERT_TRUE(store->append(run, ended));

  EXPECT_THAT(audited(), ElementsAre(::testing::StartsWith("not observed gpu: 1 listed by the "
                                                           "node")));
}

/// Another node of the run, where it is seen from the others.
class AuditBesidePeers : public AuditStepTest {
 protected:
  void SetUp() override {
    AuditStepTest::SetUp();
    inventory.nodes = {node};
    auto& profile = inventory.profiles["one"];
    profile.parts[0].kind = PartKind::nvme;
    profile.parts[0].count = 3;
    profile.parts[0].pci.clear();
    state.nodes["n1"];
  }

  static std::vector<Part> drives(std::initializer_list<int> buses) {
    std::vector<Part> parts;
    for (const int bus : buses)
      parts.push_back({.kind = PartKind::nvme,
                       .name = "nvme" + std::to_string(parts.size()),
                       .slot = "0000:0" + std::to_string(bus) + ":00.0"});
    return parts;
  }
  void peer(const std::string& name, std::vector<Part> parts) {
    auto& other = inventory.nodes.emplace_back(node);
    other.name = name;
    for (const auto& [fact, value] : place_facts(parts, false))
      state.nodes[name].facts[std::string{fact}] = value.as_string();
  }
};

TEST_F(AuditBesidePeers, NamesTheDriveThatIsMissingByItsPlaceInOtherNodes) {
  saw("node-facts", drives({1, 3}));
  EXPECT_THAT(audited(), ElementsAre("missing nvme: 2 of 3 nvmes")) << "nobody says which";

  peer("n2", drives({1, 2, 3}));
  peer("n3", drives({1, 2}));
  EXPECT_THAT(audited(), ElementsAre("missing nvme at 0000:02:00.0: 2 of 3 nvmes"));
}

TEST_F(AuditBesidePeers, NamesNoneWhereOtherNodesHaveThemInDifferentPlaces) {
  saw("node-facts", drives({1, 3}));
  peer("n2", drives({1, 2, 3}));
  peer("n3", drives({1, 3, 4}));

  EXPECT_THAT(audited(), ElementsAre("missing nvme: 2 of 3 nvmes"));
}

TEST_F(AuditBesidePeers, NamesItInTheVerdictOnceTheOthersHaveReported) {
  record::NodeRecord record;
  record.findings["node-facts"].parts = drives({1, 3});
  record.steps = {{.name = "node-facts", .outcome = "done"}};
  record.audit = {
      {inventory::Finding::missing, "nvme", "3 nvmes", "2", "", "", inventory::PartCount{2, 3}}};
  peer("n2", drives({1, 2, 3}));

  name_missing_parts(record, inventory, node, state);

  ASSERT_EQ(record.audit->size(), 1u);
  EXPECT_EQ(record.audit->front().part, "nvme at 0000:02:00.0");
}

TEST_F(AuditStepTest, CountsThePartsOfEachStage) {
  saw("node-facts", {});
  saw("gpu-facts", gpus(3));

  EXPECT_THAT(audited(), ElementsAre("extra gpu: 3 of 2 gpus"));
}

}  // namespace
}  // namespace cupel::steps
