#include "orchestrator/controller/run_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "orchestrator/store/controller_lock.h"
#include "tests/support/captures.h"

namespace cupel::controller {
namespace {

using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr engine::WallTime kNoon{std::chrono::sys_days{std::chrono::year{2026} / 11 / 23} +
                                 std::chrono::hours{12}};

ControllerStatus two_runs() {
  RunStatus first{.run = 12, .ends = kNoon};
  first.held = {{"breaker a01/pdu1/b1: 9.8 of 11.0 kW taken", 2, "a01-n01", {"a01-n01", "a01-n02"}},
                {"a slot", 1, "a01-n03", {"a01-n03"}}};
  first.approvals = {{"go", 3}};
  first.hands_until = kNoon + std::chrono::minutes{15};
  first.halted = true;
  return {.pid = 4711, .runs = {first, {.run = 13, .ends = kNoon}}};
}

TEST(RunStatus, ReadsBackEveryMemberThatItWrote) {
  const auto written = two_runs();

  const auto read = controller_status_from(to_text(written));

  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(*read, written);
}

TEST(RunStatus, WritesTimesInUtcAndLeavesOutAWaitThatIsNone) {
  const auto status = two_runs();

  const auto first = to_json(status.runs[0]);
  const auto second = to_json(status.runs[1]);

  EXPECT_EQ(first.at("ends"), "2026-11-23T12:00:00Z");
  EXPECT_EQ(first.at("hands_until"), "2026-11-23T12:15:00Z");
  EXPECT_EQ(first.at("approvals"), (json::object{{"go", 3}}));
  EXPECT_FALSE(second.contains("hands_until"));
  EXPECT_EQ(second.at("held"), json::array{});
}

TEST(RunStatus, ReadsMembersOfAnotherTypeAsAbsent) {
  const auto read = controller_status_from(
      R"({"pid":"4711","runs":[7,{"run":12,"ends":[],"held":{"why":1},"approvals":[1]}]})");

  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(*read, (ControllerStatus{.pid = 0, .runs = {{.run = 12}}}));
  EXPECT_FALSE(controller_status_from("[1]"));
  EXPECT_FALSE(controller_status_from("{"));
}

TEST(RunStatus, NamesTheReasonOfEachNodeThatIsHeld) {
  const auto status = two_runs();

  EXPECT_THAT(held_of(status.find(12)),
              UnorderedElementsAre(Pair("a01-n01", "breaker a01/pdu1/b1: 9.8 of 11.0 kW taken"),
                                   Pair("a01-n02", "breaker a01/pdu1/b1: 9.8 of 11.0 kW taken"),
                                   Pair("a01-n03", "a slot")));
  EXPECT_TRUE(held_of(status.find(14)).empty());
}

TEST(RunStatus, IsOnlyReadOfTheControllerThatLives) {
  const test::TemporaryFolder folder;
  auto status = two_runs();
  status.pid = ::getpid();
  ASSERT_TRUE(write_status(folder.path(), to_text(status)));
  EXPECT_FALSE(read_status(folder.path())) << "nobody lives";

  const auto lock = store::ControllerLock::take(folder.path());
  ASSERT_TRUE(lock);
  const auto own = read_status(folder.path());
  status.pid = 1;
  ASSERT_TRUE(write_status(folder.path(), to_text(status)));
  const auto former = read_status(folder.path());
  remove_status(folder.path());

  ASSERT_TRUE(own);
  EXPECT_NE(find(own, 12), nullptr);
  EXPECT_EQ(find(own, 14), nullptr);
  EXPECT_FALSE(former) << "what a controller that died left behind";
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "controller.json"));
}

}  // namespace
}  // namespace cupel::controller
