// VendorBehavior of BMCs that ipmi_sim does not have.
#include "tests/bmc/ipmi/fixture.h"
#include "tests/bmc/ipmi/hexes.h"
#include "tests/bmc/ipmi/scripted_bmc.h"

namespace cupel::bmc::ipmi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WithVendorBehavior : public WithTransport {
 protected:
  ScriptedBmc machine(ScriptedBmc::Script script, Suite suite = kSuite17) {
    return {io.get_executor(), suite, std::move(script)};
  }
};

int word(std::uint8_t function, std::uint8_t code) { return function << 8 | code; }

TEST_F(WithVendorBehavior, Suite17IsTakenFirst) {
  auto machine = this->machine([](auto...) { return Reply{0, {0x01, 0, 0}}; });
  const auto bmc = open_at(machine.endpoint());

  const auto state = run(bmc->power.state(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(*state, PowerState::on);
  EXPECT_EQ(machine.handshakes, 1);
  EXPECT_THAT(machine.asked, ElementsAre("00 01", "06 3c"));
}

TEST_F(WithVendorBehavior, ABmcThatOffersNoSuite17IsAskedByThreeFromThenOn) {
  auto machine = this->machine([](auto...) { return Reply{0, {0x00, 0, 0}}; }, kSuite3);

  const auto first = run(open_at(machine.endpoint())->power.state(soon()));
  const int handshakes = machine.handshakes;
  const auto second = run(open_at(machine.endpoint())->power.state(soon()));

  EXPECT_TRUE(first && second);
  EXPECT_EQ(handshakes, 2);
  EXPECT_EQ(machine.handshakes, 3);
}

TEST_F(WithVendorBehavior, AUserWhoMayNotBeAdministratorGetsWhatHeMayBe) {
  auto machine = this->machine([](auto...) { return Reply{0, {0x01, 0, 0}}; });
  machine.highest_role = 3;
  const auto bmc = open_at(machine.endpoint());

  const auto state = run(bmc->power.state(soon()));
  const auto reset = run(bmc->power.reset(ResetType::force_restart, soon()));

  EXPECT_TRUE(state);
  EXPECT_TRUE(reset) << reset.error().what;
  EXPECT_EQ(machine.handshakes, 2);
  EXPECT_THAT(machine.asked, ElementsAre("00 01", "06 3b", "00 02"));
}

TEST_F(WithVendorBehavior, ASessionIsRaisedWhereABmcAsksForMoreThanTheStandard) {
  bool raised = false;
  auto machine = this->machine([&](auto function, auto code, View) -> Reply {
    if (word(function, code) == 0x063b) raised = true;
    return raised ? Reply{0, {0x01, 0, 0}} : Reply{.completion = 0xd4};
  });
  const auto bmc = open_at(machine.endpoint());

  const auto state = run(bmc->power.state(soon()));

  EXPECT_TRUE(state);
  EXPECT_THAT(machine.asked, ElementsAre("00 01", "06 3b", "00 01"));
}

TEST_F(WithVendorBehavior, ABusyNodeIsAskedAFewTimes) {
  auto machine = this->machine([](auto...) { return Reply{.completion = 0xc0}; });
  const auto bmc = open_at(machine.endpoint());

  const auto state = run(bmc->power.state(soon()));

  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, Code::kBusy);
  EXPECT_EQ(state.error().what, "a01-n01: Get Chassis Status: node busy (0xc0)");
  EXPECT_EQ(machine.asked.size(), 4u);
}

/// Boot flags as a BMC keeps them.
struct Flags {
  Bytes kept = Bytes(5, 0);
  bool remote_discs = true;

  Reply operator()(std::uint8_t function, std::uint8_t code, View data) {
    if (word(function, code) == 0x0009) {
      Bytes reported{1, 5};
      put(reported, kept);
      return {0, reported};
    }
    if (word(function, code) != 0x0008) return {0, {4}};
    if (data[0] != 5) return {.completion = 0x80};  // it has none of the other parameters
    if (!remote_discs && data[2] == 0x20) return {.completion = 0xcc};
    kept.assign(data.begin() + 1, data.end());
    return {};
  }
};

TEST_F(WithVendorBehavior, ABootOverrideIsSetAndReadBack) {
  Flags flags;
  auto machine = this->machine([&](auto... all) { return flags(all...); });
  const auto bmc = open_at(machine.endpoint());
  const BootOverride requested{.target = BootTarget::pxe, .once = true};

  const auto set = run(bmc->boot.set(requested, soon()));
  const auto reported = run(bmc->boot.read(soon()));
  const auto taken_back = run(bmc->boot.set({}, soon()));

  ASSERT_TRUE(set) << set.error().what;
  EXPECT_EQ(reported->value, requested);
  EXPECT_TRUE(taken_back);
  EXPECT_EQ(flags.kept, Bytes(5, 0));
}

TEST_F(WithVendorBehavior, AVirtualDiscIsAnyDiscWhereABmcKnowsOneKindOnly) {
  Flags flags{.remote_discs = false};
  auto machine = this->machine([&](auto... all) { return flags(all...); });
  const auto bmc = open_at(machine.endpoint());

  const auto set = run(bmc->boot.set({.target = BootTarget::virtual_cd, .once = true}, soon()));

  ASSERT_TRUE(set) << set.error().what;
  EXPECT_EQ(flags.kept, from_hex("a0 14 00 00 00"));
}

/// An SDR repository of one record, in pieces of at most `most` bytes, whose reservation somebody
/// else takes `thefts` times.
struct Records {
  Bytes record = from_hex(
      "0300 51 02 1e  20 00 03 0a 01 7f 40 08 6f  ff7f 0000 ff7f"
      "c0 00 00 01 00 00 00 00 00 00 00 c3 505355");
  std::size_t most = 255;
  int thefts = 0;
  std::uint16_t next = 0xffff;
  int reservations = 0;

  Reply operator()(std::uint8_t function, std::uint8_t code, View data) {
    switch (word(function, code)) {
      case 0x0a22:
        return {0, {static_cast<std::uint8_t>(++reservations), 0}};
      case 0x0a23:
        return read(data);
      case 0x042d:
        return {0, {0, 0xc0, 0x01, 0x80}};
      default:
        return {.completion = 0xc1};
    }
  }

  Reply read(View data) {
    const std::size_t from = data[4], count = data[5];
    if (from > 0 && thefts > 0 && thefts-- > 0) return {.completion = 0xc5};
    if (data[0] != reservations) return {.completion = 0xc5};
    if (count > most) return {.completion = 0xca};
    Bytes reported;
    put16(reported, next);
    const auto rest = View{record}.subspan(std::min(from, record.size()));
    put(reported, rest.first(std::min(count, rest.size())));
    return {0, reported};
  }
};

TEST_F(WithVendorBehavior, RecordsAreReadInPiecesWhereTheBmcHandsOutNoWholeOnes) {
  for (const std::size_t most : {255u, 16u, 5u}) {
    Records records{.most = most};
    auto machine = this->machine([&](auto... all) { return records(all...); });

    const auto sensors = run(open_at(machine.endpoint())->sensors.read(soon()));

    ASSERT_TRUE(sensors) << most << ": " << sensors.error().what;
    ASSERT_EQ(sensors->sensors.size(), 1u) << most;
    EXPECT_EQ(sensors->sensors[0].name, "PSU");
    EXPECT_EQ(sensors->sensors[0].state, "Presence detected");
  }
}

TEST_F(WithVendorBehavior, ALostReservationIsTakenAgain) {
  Records records{.most = 16, .thefts = 3};
  auto machine = this->machine([&](auto... all) { return records(all...); });

  const auto sensors = run(open_at(machine.endpoint())->sensors.read(soon()));

  ASSERT_TRUE(sensors) << sensors.error().what;
  EXPECT_EQ(sensors->sensors.size(), 1u);
  EXPECT_EQ(records.reservations, 4);
}

TEST_F(WithVendorBehavior, AReservationThatIsAlwaysLostIsGivenUp) {
  Records records{.most = 16, .thefts = 1000};
  auto machine = this->machine([&](auto... all) { return records(all...); });

  const auto sensors = run(open_at(machine.endpoint())->sensors.read(soon()));

  EXPECT_EQ(sensors.error().code, Code::kBusy);
}

TEST_F(WithVendorBehavior, RecordsThatGoInACircleEnd) {
  Records records{.next = 0};
  auto machine = this->machine([&](auto... all) { return records(all...); });

  const auto sensors = run(open_at(machine.endpoint())->sensors.read(soon()));

  EXPECT_EQ(sensors.error().code, Code::kMalformed);
  EXPECT_THAT(sensors.error().what, HasSubstr("circle"));
}

TEST_F(WithVendorBehavior, AnswersWithoutAnyDataCostOneFactAndNotTheMachine) {
  auto machine = this->machine([](auto...) { return Reply{}; });
  const auto bmc = open_at(machine.endpoint());

  const auto state = run(bmc->power.state(soon()));
  const auto identity = run(bmc->facts.identity(soon()));
  const auto log = run(bmc->log.read({}, 10, soon()));
  const auto clock = run(bmc->manager.clock(soon()));
  const auto accounts = run(bmc->accounts.read(soon()));

  EXPECT_EQ(*state, PowerState::unknown);
  ASSERT_TRUE(identity) << identity.error().what;
  EXPECT_EQ(identity->serial, "");
  EXPECT_TRUE(log);
  EXPECT_EQ(clock.error().code, Code::kMalformed);
  EXPECT_EQ(accounts.error().code, Code::kMalformed);
}

}  // namespace
}  // namespace cupel::bmc::ipmi
