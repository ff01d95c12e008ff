// Updates in a maintenance window: none is begun that might not end in it.
#include <gmock/gmock.h>

#include "tests/orchestrator/updater_fixture.h"

namespace cupel::firmware {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// The clock of the fixture begins on a Monday at 13:46:40, and the first look is 10 s later.
class InWindow : public Updating {
 protected:
  Result<UpdateEnd> run_in(std::string_view window) {
    auto mine = doors();
    mine.window = inventory::maintenance_window(window).value();
    asio::io_context io;
    Updater updater{std::move(mine)};
    auto ended = run_to_end(io, updater.run(Deadline::in(60s)));
    done = updater.done();
    return ended;
  }
};

TEST_F(InWindow, AnUpdateBeginsThatEndsInIt) {
  const auto ended = run_in("Mon 13:00 +1h");

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_THAT(machine.pushed, SizeIs(1));
}

TEST_F(InWindow, AnUpdateThatWouldNotEndInItIsNotBegunAndIsNamed) {
  profile.firmware[0].takes = 1000s;

  const auto ended = run_in("Mon 13:00 +1h");

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::not_begun);
  EXPECT_EQ(ended->detail,
            "the window Mon 13:00 +1h (UTC) has 13m left, and bios 2.4 takes 17m; it opens again "
            "1970-01-19 13:00 UTC; left: bios 2.4");
  EXPECT_THAT(ended->advice, ElementsAre("once the window is open: cupel retry RUN NODE"));
  EXPECT_THAT(machine.pushed, IsEmpty());
  EXPECT_FALSE(held);
}

TEST_F(InWindow, NothingBeginsWhereItIsClosed) {
  const auto ended = run_in("Tue 02:00 +1h");

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::not_begun);
  EXPECT_EQ(ended->detail,
            "the window Tue 02:00 +1h (UTC) is closed; it opens again 1970-01-13 02:00 UTC; left: "
            "bios 2.4");
  EXPECT_THAT(machine.pushed, IsEmpty());
}

TEST_F(InWindow, WhatFitsIsWrittenAndTheRestIsLeft) {
  profile.firmware = {component("bmc", "BMC", "1.1"), component("bios", "BIOS", "2.4")};
  profile.firmware[1].takes = 3000s;

  const auto ended = run_in("Mon 13:00 +1h");

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::not_begun);
  EXPECT_THAT(ended->detail, ::testing::EndsWith("left: bios 2.4"));
  EXPECT_EQ(machine.runs["BMC"], "1.1");
  EXPECT_THAT(machine.pushed, SizeIs(1));
  EXPECT_THAT(done, SizeIs(1));
}

TEST_F(InWindow, AnUpdateThatFitsIntoNoSuchWindowIsNamedSo) {
  profile.firmware[0].takes = 2h;

  const auto ended = run_in("Mon 13:00 +1h");

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->detail,
            "the window Mon 13:00 +1h (UTC) has 13m left, and bios 2.4 takes 120m; bios 2.4 takes "
            "120m and fits into no such window; left: bios 2.4");
  EXPECT_THAT(ended->advice,
              ElementsAre("begin it in a longer window: cupel run firmware --nodes NODE --set "
                          "'window=Mon 13:00 +3h'"));
}

}  // namespace
}  // namespace cupel::firmware
