// The step that clears a BMC's event log before a machine leaves.
#include <gmock/gmock.h>

#include "base/json.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/steps/node_steps.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/support/captures.h"
#include "tests/support/fake_bmc.h"

namespace cupel::steps {
namespace {

using namespace std::chrono_literals;
using engine::Outcome;
using ::testing::HasSubstr;

class BmcClear : public ::testing::Test {
 protected:
  BmcClear() {
    node.name = "a01-n01";
    node.profile = "lab";
    inventory.profiles["lab"].patience.bmc_restart = 300s;
    machine.log.emplace().entries = {{.id = "1", .message = "fan 3 lost"},
                                     {.id = "2", .message = "fan 3 back"}};
  }

  std::unique_ptr<bmc::Bmc> make_bmc() {
    auto made = std::make_unique<test::FakeBmc>(machine);
    made->log.clear = [this](Deadline) -> Task<Result<bmc::Protocol>> {
      ++cleared;
      co_return bmc::Protocol::redfish;
    };
    made->accounts.read =
        [this](Deadline) -> Task<Result<bmc::Sourced<std::vector<bmc::Account>>>> {
      co_return bmc::Sourced<std::vector<bmc::Account>>{accounts, bmc::Protocol::redfish};
    };
    return made;
  }
  engine::StepEnd clear() {
    planned.kind = playbooks::StepKind::bmc_clear;
    StepEnvironment environment{
        inventory, *store, [this](const inventory::Node&) { return make_bmc(); }, {}, nullptr};
    const engine::StepRequest request{
        1, node, {}, planned, 1, {}, Deadline::in(60s), stop, {}, [](const std::string&) {}};
    NodeSteps steps{environment};
    asio::io_context io;
    return run_to_end(io, steps.perform(request)).value();
  }

  inventory::Node node{};
  inventory::Inventory inventory{};
  playbooks::PlannedStep planned{};
  const engine::Stop stop = engine::Stop::no;
  test::FakeMachine machine{};
  std::vector<bmc::Account> accounts{{.id = "1", .user = "cupel"},
                                     {.id = "2", .user = "tenant"},
                                     {.id = "3", .user = "old", .enabled = false}};
  int cleared = 0;
  test::TemporaryFolder folder{};
  std::unique_ptr<store::Store> store = store::Store::open(folder.path()).value();
};

TEST_F(BmcClear, KeepsTheLogAsEvidenceAndListsWhoCanLogIn) {
  const auto end = clear();

  ASSERT_EQ(end.outcome, Outcome::done) << end.detail;
  EXPECT_EQ(end.detail,
            "event log cleared, 2 entries kept as evidence; accounts that can log in to the BMC: "
            "cupel, tenant");
  EXPECT_EQ(cleared, 1);
  const auto kept = store->evidence(text_at(end.found, "evidence").value_or(""));
  ASSERT_TRUE(kept) << kept.error().what;
  EXPECT_THAT(*kept, HasSubstr("fan 3 lost"));
  EXPECT_EQ(end.found.at("facts").at("bmc.accounts"), "cupel, tenant");
}

TEST_F(BmcClear, ClearsNoLogThatItCouldNotReadWhole) {
  machine.log->cut = true;

  const auto end = clear();

  EXPECT_NE(end.outcome, Outcome::done);
  EXPECT_THAT(end.detail, HasSubstr("the BMC's event log was not read whole (more than 2 entries), "
                                    "so it is not cleared"));
  EXPECT_EQ(cleared, 0);
}

TEST_F(BmcClear, SaysThatAccountsAreNotReportedAndNotThatThereAreNone) {
  accounts.clear();

  EXPECT_THAT(clear().detail, HasSubstr("log in to the BMC: not reported"));
}

TEST_F(BmcClear, IsNotDoneWhereTheLogCannotBeRead) {
  machine.log.reset();

  EXPECT_NE(clear().outcome, Outcome::done);
  EXPECT_EQ(cleared, 0);
}

}  // namespace
}  // namespace cupel::steps
