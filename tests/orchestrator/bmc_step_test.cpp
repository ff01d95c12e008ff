// How a step ends whose BMC hangs, or reports "off" whatever is done.
#include <gmock/gmock.h>

#include "inventory/expected_parts.h"
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
using ::testing::Not;

class BmcStep : public ::testing::Test {
 protected:
  void SetUp() override {
    node.name = "a01-n01";
    node.profile = "lab";
    inventory.profiles["lab"].patience.bmc_restart = 300s;
  }
  engine::StepEnd perform(playbooks::StepKind kind, std::chrono::milliseconds limit) {
    planned.kind = kind;
    StepEnvironment environment{
        inventory,
        *store,
        [this](const inventory::Node&) { return std::make_unique<test::FakeBmc>(machine); },
        {},
        nullptr};
    environment.budget = [this](const inventory::Node&) { return budget; };
    const engine::StepRequest request{
        1, node, {}, planned, 1, {}, Deadline::in(limit), stop, {}, [](const std::string&) {}};
    NodeSteps steps{environment};
    asio::io_context io;
    return run_to_end(io, steps.perform(request)).value();
  }

  inventory::Node node{};
  inventory::Inventory inventory{};
  playbooks::PlannedStep planned{};
  const engine::Stop stop = engine::Stop::no;
  test::FakeMachine machine{};
  std::optional<bmc::Budget> budget{};
  test::TemporaryFolder folder{};
  std::unique_ptr<store::Store> store = store::Store::open(folder.path()).value();
};

class HungBmc : public BmcStep {
 protected:
  HungBmc() { machine.all = Error{Code::kTimeout, "GET /redfish/v1: Timeout was reached"}; }
  engine::StepEnd turn_off() { return perform(playbooks::StepKind::power_off, 60s); }
};

TEST_F(HungBmc, IsNotTriedAgainOnceARestartWouldBeOver) {
  budget = bmc::Budget{.silent = 5, .silent_for = 301s};

  const auto end = turn_off();

  EXPECT_EQ(end.outcome, Outcome::bmc_unresponsive);
  EXPECT_THAT(end.detail, HasSubstr("not retried: the BMC accepted 5 connections in 301 s and "
                                    "answered none; a restart takes at most 300 s"));
  EXPECT_TRUE(end.found.contains("hands"));
}

TEST_F(HungBmc, IsTriedAgainWhileItMayBeRestarting) {
  budget = bmc::Budget{.silent = 5, .silent_for = 299s};

  EXPECT_EQ(turn_off().outcome, Outcome::retry);
}

TEST_F(HungBmc, IsTriedAgainAfterOneLongRequestAlone) {
  budget = bmc::Budget{.silent = 1, .silent_for = 400s};

  EXPECT_EQ(turn_off().outcome, Outcome::retry);
}

TEST_F(HungBmc, IsNoneThatIsBusyOrOffTheNetwork) {
  for (const auto code : {Code::kBusy, Code::kUnreachable}) {
    machine.all = Error{code, "POST /redfish/v1/SessionService/Sessions"};
    budget = bmc::Budget{};

    EXPECT_EQ(turn_off().outcome, Outcome::retry) << to_string(code);
  }
}

TEST_F(HungBmc, LeavesAnErrorThatNoRetryHelpsAsItIs) {
  machine.all = Error{Code::kRefused, "HTTP 401"};
  budget = bmc::Budget{.silent = 5, .silent_for = 301s};

  const auto end = turn_off();

  EXPECT_EQ(end.outcome, Outcome::reject);
  EXPECT_THAT(end.detail, Not(HasSubstr("not retried")));
}

/// The first try of a reading began three minutes ago.
class UnansweredReading : public BmcStep {
 protected:
  UnansweredReading() { planned.deadline = 15min; }
  engine::StepEnd read(std::string answer) {
    planned.with = {{"answer", std::move(answer)}};
    return perform(playbooks::StepKind::bmc_facts, 12min);
  }
};

TEST_F(UnansweredReading, EndsWithTheTimeThatThePlaybookWaitsForABmc) {
  for (const auto& [code, at_last] : {std::pair{Code::kUnreachable, Outcome::needs_operator},
                                      std::pair{Code::kTimeout, Outcome::bmc_unresponsive}}) {
    machine.all = Error{code, "GET /redfish/v1"};

    const auto end = read("2m");

    EXPECT_EQ(end.outcome, at_last) << to_string(code);
    EXPECT_THAT(end.detail, HasSubstr("(not retried: no answer in "));
    EXPECT_THAT(end.detail, HasSubstr(" s, and this playbook waits 120 s)"));
    EXPECT_TRUE(end.found.contains("hands"));
  }
}

TEST_F(UnansweredReading, IsTriedForTheLastTimeWhenThatTimeIsOver) {
  machine.all = Error{Code::kUnreachable, "GET /redfish/v1"};

  const auto end = read("220s");

  EXPECT_EQ(end.outcome, Outcome::retry);
  EXPECT_THAT(end.retry_after, ::testing::AllOf(::testing::Gt(0ms), ::testing::Le(40s)));
}

TEST_F(UnansweredReading, IsTriedAgainUntilTheStepsDeadlineWhereThePlaybookSaysNothing) {
  machine.all = Error{Code::kUnreachable, "GET /redfish/v1"};
  planned.with.clear();

  const auto end = perform(playbooks::StepKind::bmc_facts, 1min);

  EXPECT_EQ(end.outcome, Outcome::retry);
  EXPECT_EQ(end.retry_after, 0ms);
}

TEST_F(UnansweredReading, IsNoneOfABmcThatAnswersThatItIsBusy) {
  machine.all = Error{Code::kBusy, "HTTP 503"};

  EXPECT_EQ(read("2m").outcome, Outcome::retry);
}

/// A BMC that restarts while it is read.
class PartialBmc : public BmcStep {
 protected:
  PartialBmc() {
    machine.identity.emplace().vendor = "NVIDIA";
    machine.parts = {{.kind = inventory::PartKind::dimm, .name = "dimm A1"}};
    machine.partial = {
        {inventory::PartKind::dimm, "/redfish/v1/Systems/1/Memory/7", "HTTP 503", true}};
    inventory.profiles["lab"].parts = {{.kind = inventory::PartKind::dimm, .count = 2}};
  }
};

TEST_F(PartialBmc, IsReadAgainAndWhatWasReadStandsWhereNoReadingIsWhole) {
  const auto end = perform(playbooks::StepKind::bmc_facts, 60s);

  EXPECT_EQ(end.outcome, Outcome::retry);
  EXPECT_EQ(end.at_last, Outcome::done);
  EXPECT_THAT(end.detail, HasSubstr("could not list all dimms: /redfish/v1/Systems/1/Memory/7: "
                                    "HTTP 503; dimms are read again"));
  EXPECT_EQ(end.found.at("bmc_partial").as_array().size(), 1u);
}

TEST_F(PartialBmc, IsReadAgainWhereItWentAwayBeforeItListedAVersionOfTheProfile) {
  machine.parts.push_back(machine.parts.front());
  inventory.profiles["lab"].firmware = {{.component = "HostBIOS_0"}};

  const auto end = perform(playbooks::StepKind::bmc_facts, 60s);

  EXPECT_EQ(end.outcome, Outcome::retry);
  EXPECT_THAT(end.detail, HasSubstr("; versions are read again"));

  machine.parts.push_back(
      {.kind = inventory::PartKind::firmware, .name = "HostBIOS_0", .firmware = "1.2"});
  EXPECT_EQ(perform(playbooks::StepKind::bmc_facts, 60s).outcome, Outcome::done);
}

TEST_F(PartialBmc, TellsTheAddressesOfAllItsPorts) {
  machine.identity->bmc_macs = {"5c:ff:35:00:00:01", "5c:ff:35:00:00:02"};

  const auto end = perform(playbooks::StepKind::bmc_facts, 60s);

  EXPECT_EQ(end.found.at("facts").at("bmc.mac").as_string(), "5c:ff:35:00:00:01 5c:ff:35:00:00:02");
}

TEST_F(PartialBmc, IsNotReadAgainForWhatIsThereOrWillNotBe) {
  machine.parts.push_back(machine.parts.front());
  EXPECT_EQ(perform(playbooks::StepKind::bmc_facts, 60s).outcome, Outcome::done)
      << "both are there";

  machine.parts.pop_back();
  machine.partial.front().passing = false;
  EXPECT_EQ(perform(playbooks::StepKind::bmc_facts, 60s).outcome, Outcome::done) << "HTTP 404";
}

TEST_F(BmcStep, AsksFirstWhetherTheMachineRunsWhereTheBmcReportsOffAfterPowerOn) {
  machine.power = bmc::PowerState::off;
  machine.allowed = std::vector{bmc::ResetType::on};

  auto limit = 100ms;  // enough for the reset and a look behind it
  auto end = perform(playbooks::StepKind::power_on, limit);
  while (end.outcome != Outcome::needs_operator && limit < 10s)
    end = perform(playbooks::StepKind::power_on, limit *= 4);

  EXPECT_EQ(end.outcome, Outcome::needs_operator);
  EXPECT_THAT(end.detail, HasSubstr("which still reports off, not on"));
  const auto hands = boost::json::serialize(end.found.at("hands"));
  EXPECT_LT(hands.find("look whether the machine runs"), hands.find("power supplies"));
  EXPECT_THAT(hands, HasSubstr("cupel bmc NODE reset"));
}

}  // namespace
}  // namespace cupel::steps
