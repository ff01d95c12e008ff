#include "bmc/fallback_bmc.h"

#include <gmock/gmock.h>

#include "tests/support/fake_bmc.h"

namespace cupel::bmc {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Identity identity(std::string vendor, std::string model, std::string serial) {
  Identity identity;
  identity.vendor = std::move(vendor);
  identity.model = std::move(model);
  identity.serial = std::move(serial);
  return identity;
}

class OneBmcTest : public ::testing::Test {
 protected:
  OneBmcTest() { ipmi.by = Protocol::ipmi; }

  template <class T>
  T run(Task<T> task) {
    return run_to_end(io, std::move(task));
  }
  static Deadline soon() { return Deadline::in(std::chrono::minutes{1}); }

  asio::io_context io;
  test::FakeMachine redfish;
  test::FakeMachine ipmi;
  std::unique_ptr<Bmc> bmc =
      first_of(std::make_unique<test::FakeBmc>(redfish), std::make_unique<test::FakeBmc>(ipmi));
};

TEST_F(OneBmcTest, AsksRedfishAloneWhereThatAnswers) {
  redfish.power = PowerState::on;
  ipmi.power = PowerState::off;

  const auto reported = run(bmc->power.state(soon()));

  ASSERT_TRUE(reported);
  EXPECT_EQ(*reported, (Sourced<PowerState>{PowerState::on, Protocol::redfish}));
  EXPECT_THAT(ipmi.asked, IsEmpty());
}

TEST_F(OneBmcTest, WhatRedfishLacksComesFromIpmiAndSaysSo) {
  ipmi.sensors = Sensors{.by = Protocol::ipmi};

  const auto reported = run(bmc->sensors.read(soon()));

  ASSERT_TRUE(reported) << reported.error().what;
  EXPECT_EQ(reported->by, Protocol::ipmi);
}

TEST_F(OneBmcTest, DoesNotAskRedfishAgainForAVerbThatItDoesNotHave) {
  ipmi.sensors = Sensors{.by = Protocol::ipmi};
  ipmi.power = PowerState::on;

  for (int i = 0; i < 3; ++i) ASSERT_TRUE(run(bmc->sensors.read(soon())));
  ASSERT_TRUE(run(bmc->power.state(soon())));

  EXPECT_THAT(redfish.asked, ElementsAre("sensors", "power"));
}

TEST_F(OneBmcTest, AsksRedfishAgainOnceItCanBeReachedAgain) {
  ipmi.power = PowerState::off;
  redfish.power = PowerState::on;
  redfish.all = Error{Code::kUnreachable, "no route"};
  ASSERT_EQ(run(bmc->power.state(soon()))->by, Protocol::ipmi);
  redfish.all.reset();

  const auto reported = run(bmc->power.state(soon()));

  EXPECT_EQ(reported->by, Protocol::redfish);
}

TEST_F(OneBmcTest, NeverGoesAroundARefusalByTheOtherProtocol) {
  ipmi.power = PowerState::on;
  for (const auto code : {Code::kRefused, Code::kUntrusted, Code::kBusy, Code::kCancelled,
                          Code::kConflict, Code::kFailed, Code::kMalformed}) {
    redfish.all = Error{code, "no"};

    const auto reported = run(bmc->power.state(soon()));

    ASSERT_FALSE(reported);
    EXPECT_EQ(reported.error().code, code);
    EXPECT_EQ(reported.error().what, "no");
  }
  EXPECT_THAT(ipmi.asked, IsEmpty());
}

TEST_F(OneBmcTest, NeverRestartsAMachineTwiceBecauseTheFirstAnswerWasLost) {
  redfish.all = Error{Code::kUnreachable, "connection broke"};
  redfish.power = ipmi.power = PowerState::on;

  const auto cycled = run(bmc->power.reset(ResetType::power_cycle, soon()));
  const auto restarted = run(bmc->manager.reset(soon()));
  const auto on = run(bmc->power.reset(ResetType::on, soon()));

  EXPECT_EQ(cycled.error().code, Code::kUnreachable);
  EXPECT_EQ(restarted.error().code, Code::kUnreachable);
  EXPECT_EQ(on.value(), Protocol::ipmi);
  EXPECT_THAT(ipmi.asked, ElementsAre("reset On"));
}

/// A model whose restart by Redfish cuts its DPUs' power leaves it to IPMI.
class RestartLeftToIpmi : public OneBmcTest {
 protected:
  RestartLeftToIpmi() {
    redfish.power = ipmi.power = alone.power = PowerState::on;
    redfish.fails.emplace("reset ForceRestart", Error{Code::kUnsupported, "by IPMI it does not"});
    bmc = first_of(std::make_unique<test::FakeBmc>(redfish), std::make_unique<test::FakeBmc>(ipmi),
                   std::make_unique<test::FakeBmc>(alone));
  }
  auto restart() { return run(bmc->power.reset(ResetType::force_restart, soon())); }

  test::FakeMachine alone;
};

TEST_F(RestartLeftToIpmi, IsIpmisWhereThatAnswers) {
  const auto restarted = restart();

  EXPECT_EQ(restarted.value(), Protocol::ipmi);
  EXPECT_THAT(ipmi.asked, ElementsAre("power", "reset ForceRestart"));
  EXPECT_THAT(alone.asked, IsEmpty());
}

TEST_F(RestartLeftToIpmi, IsRedfishsAfterAllWhereIpmiDoesNotAnswer) {
  ipmi.all = Error{Code::kTimeout, "RMCP+: no answer"};

  const auto restarted = restart();

  EXPECT_EQ(restarted.value(), Protocol::redfish);
  EXPECT_THAT(ipmi.asked, ElementsAre("power")) << "no restart is on its way";
  EXPECT_THAT(alone.asked, ElementsAre("reset ForceRestart"));
}

TEST_F(RestartLeftToIpmi, IsNotRepeatedOnceIpmiWasAskedForIt) {
  ipmi.fails.emplace("reset ForceRestart", Error{Code::kTimeout, "no answer"});

  const auto restarted = restart();

  EXPECT_EQ(restarted.error().code, Code::kTimeout);
  EXPECT_THAT(alone.asked, IsEmpty()) << "it may have been done";
}

TEST_F(RestartLeftToIpmi, IsRefusedWhereIpmiRefusesUs) {
  ipmi.all = Error{Code::kRefused, "RAKP: wrong password"};

  const auto restarted = restart();

  EXPECT_EQ(restarted.error().code, Code::kRefused);
  EXPECT_THAT(alone.asked, IsEmpty());
}

TEST_F(OneBmcTest, OneResetThatIsMissingIsNotAllOfThem) {
  redfish.power = ipmi.power = PowerState::on;
  redfish.fails.emplace("reset PowerCycle", Error{Code::kUnsupported, "not among the allowed"});

  const auto cycled = run(bmc->power.reset(ResetType::power_cycle, soon()));
  const auto off = run(bmc->power.reset(ResetType::force_off, soon()));

  EXPECT_EQ(cycled.value(), Protocol::ipmi);
  EXPECT_EQ(off.value(), Protocol::redfish);
}

TEST_F(OneBmcTest, TellsBothErrorsWhereBothFail) {
  redfish.all = Error{Code::kUnreachable, "HTTPS: connection refused"};
  ipmi.all = Error{Code::kTimeout, "RMCP+: no answer"};

  const auto reported = run(bmc->power.state(soon()));

  ASSERT_FALSE(reported);
  EXPECT_EQ(reported.error().code, Code::kTimeout);
  EXPECT_THAT(reported.error().what,
              AllOf(HasSubstr("HTTPS: connection refused"), HasSubstr("RMCP+: no answer")));
}

TEST_F(OneBmcTest, StaysTransientWhereOnlyTheUnreachableOneCouldHaveDoneIt) {
  redfish.all = Error{Code::kUnreachable, "gone"};

  const auto reported = run(bmc->sensors.read(soon()));

  EXPECT_EQ(reported.error().code, Code::kUnreachable)
      << "IPMI has no such verb; Redfish may return";
}

TEST_F(OneBmcTest, FillsWhatRedfishDoesNotTellOfTheMachineFromIpmi) {
  redfish.identity = identity("NVIDIA", "GB200", "");
  redfish.parts = {{.kind = inventory::PartKind::gpu, .name = "gpu0", .source = "/redfish/v1/a"}};
  ipmi.identity = identity("Quanta", "X", "S123");
  ipmi.power = PowerState::on;
  ipmi.parts = {{.kind = inventory::PartKind::gpu, .name = "gpu9", .source = "ipmi:fru/0x01"},
                {.kind = inventory::PartKind::psu, .name = "psu0", .source = "ipmi:fru/0x02"}};

  const auto seen = run(bmc->facts.observe(soon()));

  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->identity, identity("NVIDIA", "GB200", "S123"));
  EXPECT_EQ(seen->power, PowerState::on);
  ASSERT_EQ(seen->parts.size(), 2);
  EXPECT_EQ(seen->parts[1].source, "ipmi:fru/0x02");
}

TEST_F(OneBmcTest, AnInventoryIsNotLostBecauseIpmiDoesNotAnswer) {
  redfish.identity = identity("NVIDIA", "", "");
  ipmi.all = Error{Code::kTimeout, "RMCP+: no answer"};

  const auto seen = run(bmc->facts.observe(soon()));

  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->unknown.size(), 1);
  EXPECT_THAT(seen->unknown.front().why, HasSubstr("no answer"));
}

TEST_F(OneBmcTest, TheConsoleIsSerialOverLan) {
  test::FakeLine line;
  ipmi.lines = {&line};

  const auto console = run(bmc->console.open(soon()));

  EXPECT_TRUE(console);
  EXPECT_THAT(redfish.asked, IsEmpty());
}

TEST_F(OneBmcTest, LogsOutOfBoth) {
  run_to_end(io, [](Bmc& one) -> Task<bool> {
    co_await one.log_out();
    co_return true;
  }(*bmc));

  EXPECT_EQ(redfish.logged_out, 1);
  EXPECT_EQ(ipmi.logged_out, 1);
}

}  // namespace
}  // namespace cupel::bmc
