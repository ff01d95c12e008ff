// The step that sets a BIOS back to its maker's defaults, and sees after a boot what came of it.
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/settings/bios_defaults.h"
#include "orchestrator/steps/step_type.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/orchestrator/store_fixture.h"
#include "tests/support/fake_bmc.h"

namespace cupel::steps {
namespace {

using namespace std::chrono_literals;
using bmc::BiosRule;
using bmc::BiosValue;
using engine::Outcome;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

BiosValue text_value(const char* text) { return std::string{text}; }

class BiosReset : public store::StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    store = open();
    ASSERT_TRUE(store);
    node.name = "n1";
    node.profile = "one";
    inventory.profiles["one"].name = "one";
    run = store->begin_run(run_on({"n1"})).value();
    registry.rules = {
        {"Sriov", {.allowed = {"On", "Off"}, .usual = text_value("Off")}},
        {"Delay", {.usual = BiosValue{std::int64_t{120}}}},
        {"Port", {.usual = BiosValue{std::int64_t{65535}}}},
        {"AssetTag", {.usual = text_value("none")}},
        {"Model", {.allowed = {"A", "B"}, .read_only = true, .usual = text_value("A")}},
        {"Tpm", {.allowed = {"On", "Off"}}}};
    settings.current = {{"Sriov", text_value("On")}, {"Delay", std::int64_t{120}},
                        {"Port", std::int64_t{443}}, {"AssetTag", text_value("rack 7")},
                        {"Model", text_value("B")},  {"Tpm", text_value("On")}};
  }

  std::unique_ptr<bmc::Bmc> make_bmc() {
    auto made = std::make_unique<test::FakeBmc>(machine);
    made->bios.read = [this](Deadline) -> Task<Result<bmc::BiosSettings>> { co_return settings; };
    made->bios.reset = [this](Deadline) -> Task<Result<bmc::Protocol>> {
      ++resets;
      co_return bmc::Protocol::redfish;
    };
    made->settings.bios_registry = [this](Deadline) -> Task<Result<bmc::BiosRegistry>> {
      co_return registry;
    };
    return made;
  }
  engine::StepEnd step(const std::string& verify = "no") {
    playbooks::PlannedStep planned;
    planned.kind = playbooks::StepKind::bios_reset;
    planned.name = "bios-reset";
    planned.with = {{"verify", verify}};
    StepEnvironment doors{
        inventory, *store, [this](const inventory::Node&) { return make_bmc(); }, {}, nullptr};
    const auto stop = engine::Stop::no;
    const engine::StepRequest request{
        run, node, {}, planned, 1, {}, Deadline::in(60s), stop, {}, [](const std::string&) {}};
    asio::io_context io;
    auto ended = run_to_end(io, step_type(planned.kind).perform(doors, request));
    EXPECT_TRUE(ended) << ended.error().what;
    return ended ? *std::move(ended) : engine::StepEnd{};
  }
  /// Asked for, and in the journal.
  void reset() {
    auto end = step();
    auto ended = event(engine::EventKind::step_ended, "n1", "bios-reset");
    ended.data = end.found;
    ended.data["outcome"] = "done";
    ASSERT_TRUE(store->append(run, ended));
  }

  test::FakeMachine machine{};
  bmc::BiosSettings settings{};
  bmc::BiosRegistry registry{};
  int resets = 0;
  inventory::Node node{};
  inventory::Inventory inventory{};
  std::unique_ptr<store::Store> store{};
  engine::RunId run{};
};

TEST_F(BiosReset, ComparesWhatMayBeWrittenAndHasADefaultThatIsNoText) {
  const auto defaults = cupel::settings::bios_defaults(settings, registry);

  EXPECT_EQ(defaults.compared, 3u);
  EXPECT_THAT(defaults.off, ElementsAre("Port", "Sriov"));
}

TEST_F(BiosReset, AsksForItAndKeepsWhatWasNotAsTheMakers) {
  const auto end = step();

  ASSERT_EQ(end.outcome, Outcome::done) << end.detail;
  EXPECT_EQ(resets, 1);
  EXPECT_EQ(end.detail,
            "the next boot sets the BIOS to its maker's defaults; now 2 of 3 attributes are not as "
            "its registry has them");
  EXPECT_EQ(end.found.at("facts").at("bios.not_default"), "Port,Sriov");
}

TEST_F(BiosReset, WaitsForABootThatChangesSomethingAndNamesWhatFirmwareKeeps) {
  reset();

  const auto early = step("yes");
  settings.current["Sriov"] = text_value("Off");
  const auto later = step("yes");

  EXPECT_EQ(early.outcome, Outcome::wait) << early.detail;
  EXPECT_EQ(early.at_last, Outcome::reject);
  EXPECT_THAT(early.detail, HasSubstr("no boot has reset the BIOS yet"));
  EXPECT_EQ(later.outcome, Outcome::done) << later.detail;
  EXPECT_EQ(later.detail,
            "2 of 3 BIOS attributes are as their maker's registry has them; not so: Port");
  EXPECT_EQ(later.found.at("facts").at("bios.defaults"), "2 of 3");
  EXPECT_EQ(resets, 1) << "verify changes nothing";
}

TEST_F(BiosReset, HasNoBootToWaitForWhereAllWasAsTheMakers) {
  settings.current["Sriov"] = text_value("Off");
  settings.current["Port"] = std::int64_t{65535};
  reset();

  const auto end = step("yes");

  EXPECT_EQ(end.outcome, Outcome::done) << end.detail;
  EXPECT_EQ(end.detail, "3 of 3 BIOS attributes are as their maker's registry has them");
}

TEST_F(BiosReset, IsNotVerifiedWhereTheRegistryNamesNoDefaults) {
  registry = {};
  reset();

  const auto end = step("yes");

  EXPECT_EQ(end.outcome, Outcome::done) << end.detail;
  EXPECT_THAT(end.detail, HasSubstr("what came of it is not verified"));
  EXPECT_EQ(end.found.at("facts").at("bios.defaults"), "not verified");
}

TEST_F(BiosReset, IsNotVerifiedByARunThatHasNotAskedForIt) {
  const auto end = step("yes");

  EXPECT_EQ(end.outcome, Outcome::reject);
  EXPECT_EQ(end.detail,
            "no reset of the BIOS was asked for in this run: put a bios-reset before it");
}

}  // namespace
}  // namespace cupel::steps
