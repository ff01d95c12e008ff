// The last look before an image is sent: what another controller, or another tool, has done since
// the plan was made.
#include <gmock/gmock.h>

#include "tests/orchestrator/updater_fixture.h"

namespace cupel::firmware {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LookAgain : public Updating {
 protected:
  /// `happens` once, when the update is planned and its image is checked.
  UpdaterInterfaces after_the_plan(std::function<void()> happens) {
    auto mine = doors();
    mine.image = [image = mine.image, happens = std::move(happens)](
                     FirmwareUpdate update, bmc::Identity who,
                     Deadline until) -> Task<Result<bmc::UpdateOrder>> {
      happens();
      auto order = co_await image(std::move(update), std::move(who), until);
      co_return order;
    };
    return mine;
  }
  /// `happens` once, when the power is held: what must precede the write begins.
  UpdaterInterfaces while_prepared(std::function<void()> happens) {
    auto mine = doors();
    mine.hold_power = [hold = mine.hold_power, happens = std::move(happens)](
                          const UpdateHandle& handle, std::chrono::seconds longest) mutable {
      if (longest > 0s && happens) std::exchange(happens, {})();
      return hold(handle, longest);
    };
    return mine;
  }
  Result<UpdateEnd> run_by(UpdaterInterfaces mine) {
    asio::io_context io;
    Updater updater{std::move(mine)};
    return run_to_end(io, updater.run(Deadline::in(60s)));
  }
};

TEST_F(LookAgain, StopsWhereAnotherVersionWasWrittenSinceThePlan) {
  const auto ended = run_by(after_the_plan([this] { machine.runs["BIOS"] = "2.2"; }));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_EQ(ended->detail,
            "bios 2.4: BIOS ran 2.0 when the update was planned, and runs 2.2 now: another "
            "controller or tool writes to it; nothing was sent");
  EXPECT_THAT(ended->advice, ElementsAre(HasSubstr("find out what else writes firmware")));
  EXPECT_THAT(machine.pushed, IsEmpty());
  EXPECT_THAT(kept, IsEmpty());
  EXPECT_FALSE(held);
}

TEST_F(LookAgain, WritesNothingTwiceWhereAnotherControllerHasWrittenTheSame) {
  const auto ended = run_by(after_the_plan([this] { machine.runs["BIOS"] = "2.4"; }));
  const auto later = run();

  ASSERT_TRUE(ended && later);
  EXPECT_EQ(ended->how, How::busy);
  EXPECT_THAT(ended->detail, HasSubstr("another controller or tool has written it"));
  EXPECT_EQ(later->how, How::at_baseline) << later->detail;
  EXPECT_THAT(machine.pushed, IsEmpty());
}

TEST_F(LookAgain, WaitsWhereAnotherUpdateBeganWhileTheMachineWasPrepared) {
  profile.firmware[0].before = {inventory::FirmwareReset::host_off};

  const auto ended =
      run_by(while_prepared([this] { machine.busy = {"/redfish/v1/TaskService/Tasks/9"}; }));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::busy);
  EXPECT_EQ(ended->detail,
            "bios 2.4: another update is at work on it, or waits for a restart: "
            "/redfish/v1/TaskService/Tasks/9");
  EXPECT_THAT(machine.pushed, IsEmpty());
  EXPECT_TRUE(machine.on);
  EXPECT_FALSE(held);
}

TEST_F(LookAgain, TakesAnEntryThatIsMissingWhileTheMachineIsOffForNoChange) {
  profile.firmware[0].before = {inventory::FirmwareReset::host_off};

  const auto ended = run_by(while_prepared([this] { machine.runs.erase("BIOS"); }));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_EQ(machine.pushed.size(), 1u);
}

}  // namespace
}  // namespace cupel::firmware
