// Power, on a virtual BMC of every vendor with that vendor's own behavior.
#include "tests/bmc/vendor_behavior/fixture.h"

namespace cupel::bmc {
namespace {

class VendorBehaviorOfPower : public OfEachVendor {};

TEST_P(VendorBehaviorOfPower, TheTableHasEveryVendorThatThereIs) {
  for (const auto& row : rehearsal::all_vendor_behaviors())
    EXPECT_TRUE(std::ranges::any_of(all_abilities(), [&](const auto& one) {
      return one.vendor == row.vendor;
    })) << row.vendor;
}

TEST_P(VendorBehaviorOfPower, TellsWhichResetsDoNoHarm) {
  auto expected = abilities().resets;
  for (const auto type : {ResetType::on, ResetType::force_off, ResetType::graceful_shutdown})
    expected.push_back(type);

  const auto ac = std::erase(expected, ResetType::ac_cycle);

  const auto reported = with_bmc([](Bmc& bmc) { return bmc.power.allowed_resets(soon()); });
  const auto has_ac = with_bmc([](Bmc& bmc) { return bmc.power.has_ac_cycle(soon()); });

  ASSERT_TRUE(reported && has_ac);
  EXPECT_THAT(*reported, ::testing::UnorderedElementsAreArray(expected));
  EXPECT_EQ(*has_ac, ac > 0);
}

TEST_P(VendorBehaviorOfPower, EveryResetDoesWhatItSaysOrSaysWhyNot) {
  int boots_before = 0;
  for (const auto type :
       {ResetType::force_restart, ResetType::graceful_restart, ResetType::power_cycle,
        ResetType::graceful_shutdown, ResetType::on, ResetType::force_off}) {
    const bool settles = type == ResetType::graceful_shutdown || type == ResetType::on ||
                         type == ResetType::force_off;
    const bool has =
        settles || std::ranges::find(abilities().resets, type) != abilities().resets.end();
    if (type != ResetType::on) ASSERT_TRUE(server().boot());
    boots_before = boots();

    const auto done = with_bmc([=](Bmc& bmc) { return bmc.power.reset(type, soon()); });

    if (!has) {
      ASSERT_FALSE(done) << to_string(type);
      EXPECT_EQ(done.error().code, Code::kUnsupported) << done.error().what;
      EXPECT_EQ(power(), rehearsal::Power::on) << "nothing was touched";
      continue;
    }
    ASSERT_TRUE(done) << to_string(type) << ": " << done.error().what;
    const bool ends_off = type == ResetType::force_off || type == ResetType::graceful_shutdown;
    if (ends_off) {
      EXPECT_TRUE(server().wait_until([](auto& machine) {
        return machine.power() == rehearsal::Power::off;
      })) << to_string(type);
    } else {
      EXPECT_TRUE(boots_reach(boots_before + 1)) << to_string(type);
    }
  }
}

TEST_P(VendorBehaviorOfPower, AResetIntoTheStateThatItIsInIsNoError) {
  const auto off = with_bmc([](Bmc& bmc) { return bmc.power.reset(ResetType::force_off, soon()); });
  ASSERT_TRUE(server().boot());
  const auto on = with_bmc([](Bmc& bmc) { return bmc.power.reset(ResetType::on, soon()); });

  EXPECT_TRUE(off) << off.error().what;
  EXPECT_TRUE(on) << on.error().what;
  EXPECT_EQ(boots(), 1);
}

TEST_P(VendorBehaviorOfPower, ARestartOfAMachineThatIsOffTurnsItOn) {
  const auto type = abilities().resets.front();

  const auto done = with_bmc([=](Bmc& bmc) { return bmc.power.reset(type, soon()); });

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_TRUE(boots_reach(1));
}

TEST_P(VendorBehaviorOfPower, TurnsTheMachineOn) {
  const auto done = with_bmc([](Bmc& bmc) { return ensure_on(bmc, soon(), kQuick); });

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(power(), rehearsal::Power::on);
}

TEST_P(VendorBehaviorOfPower, TurnsTheMachineOff) {
  ASSERT_TRUE(server().boot());

  const auto done = with_bmc([](Bmc& bmc) { return ensure_off(bmc, 5s, soon(), kQuick); });

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(power(), rehearsal::Power::off);
}

TEST_P(VendorBehaviorOfPower, CyclesTheMachine) {
  ASSERT_TRUE(server().boot());

  const auto done = with_bmc([](Bmc& bmc) { return cycle(bmc, 0ms, soon(), kQuick); });

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_TRUE(boots_reach(2));
}

TEST_P(VendorBehaviorOfPower, RestartsTheMachineWithoutHangingIt) {
  ASSERT_TRUE(server().boot());

  const auto done = with_bmc([](Bmc& bmc) { return restart(bmc, soon(), kQuick); });

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_TRUE(boots_reach(2));
}

TEST_P(VendorBehaviorOfPower, CutsTheStandbyPowerWhereTheBmcCanAndTouchesNothingElsewhere) {
  const auto& resets = abilities().resets;
  const bool can = std::ranges::find(resets, ResetType::ac_cycle) != resets.end();
  ASSERT_TRUE(server().boot());

  const auto done = with_bmc([](Bmc& bmc) { return ac_cycle(bmc, 0ms, soon(), kQuick); });

  if (!can) {
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::kUnsupported);
    EXPECT_THAT(done.error().what, HasSubstr("pull the cord, or use the rack's PDU"));
    EXPECT_EQ(power(), rehearsal::Power::on);
    return;
  }
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_TRUE(boots_reach(2));
}

// The 200 means "accepted": an XCC goes on telling the old state for eight seconds.
TEST_P(VendorBehaviorOfPower, IsNotDoneBeforeTheBmcItselfSaysSo) {
  become({.speed = 100});
  const auto reported = [](Bmc& bmc) -> Task<Result<PowerState>> {
    CO_TRY(co_await ensure_on(bmc, soon(), kQuick));
    CO_TRY(const PowerState state, co_await bmc.power.state(soon()));
    co_return state;
  };

  const auto state = with_bmc([=](Bmc& bmc) { return reported(bmc); });

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(*state, PowerState::on);
}

TEST_P(VendorBehaviorOfPower, LeavesNoSessionBehind) {
  const auto done = with_bmc([](Bmc& bmc) { return bmc.power.state(soon()); });

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(server().on([](auto&, auto& service) { return service.open_sessions(); }), 0u);
}

INSTANTIATE_TEST_SUITE_P(OfVendor, VendorBehaviorOfPower, ::testing::ValuesIn(all_abilities()),
                         name_of_vendor);

}  // namespace
}  // namespace cupel::bmc
