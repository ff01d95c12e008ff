// A BMC that offers a way to take images and does not have it: the next way is tried, once.
#include <gmock/gmock.h>

#include "tests/orchestrator/updater_fixture.h"

namespace cupel::firmware {
namespace {

using Phase = UpdateHandle::Phase;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr auto kServed = "http://10.0.0.1/images/one";

class AnotherWay : public Updating {
 protected:
  AnotherWay() {
    machine.ways = {"store", "simple"};
    machine.first_way_fails = refusal("HTTP 405");
  }
  static Error refusal(const std::string& status) {
    return {Code::kUnsupported, status + "; " + std::string{bmc::kTakesNoImage}};
  }
  UpdaterInterfaces serving() {
    auto mine = doors();
    mine.serve = [this](bmc::UpdateOrder, std::vector<std::string>,
                        Deadline) -> Task<Result<std::string>> {
      served.emplace_back(kServed);
      co_return served.back();
    };
    mine.serve_no_more = [this](const std::string& url) { std::erase(served, url); };
    return mine;
  }
  Result<UpdateEnd> run_by(UpdaterInterfaces mine) {
    asio::io_context io;
    Updater updater{std::move(mine)};
    return run_to_end(io, updater.run(Deadline::in(60s)));
  }
  std::ptrdiff_t tries() const { return std::ranges::count(machine.asked, "push BIOS=2.4"); }

  std::vector<std::string> served{};
};

TEST_F(AnotherWay, FollowsOneThatTookNothingAndTheJournalNamesThatOne) {
  const auto ended = run_by(serving());

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_EQ(tries(), 2);
  ASSERT_EQ(machine.pushed.size(), 1u);
  EXPECT_EQ(machine.pushed[0].refused_way, "store");
  EXPECT_EQ(machine.pushed[0].pull_uri, kServed);
  ASSERT_GE(kept.size(), 4u);
  EXPECT_EQ(kept[1].phase, Phase::refused);
  EXPECT_EQ(kept[2].phase, Phase::pushing);
  EXPECT_EQ(kept[2].refused_way, "store");
  EXPECT_THAT(served, IsEmpty());
  EXPECT_FALSE(held);
}

TEST_F(AnotherWay, IsNotTriedAfterAnyOtherRefusal) {
  machine.first_way_fails = Error{Code::kUnsupported, "HTTP 400: the BMC needs a licence for this"};

  const auto ended = run_by(serving());

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_EQ(tries(), 1);
}

TEST_F(AnotherWay, IsTriedOnce) {
  machine.ways = {"multipart", "store", "simple"};
  machine.push_fails = refusal("HTTP 404");

  const auto ended = run_by(serving());

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("HTTP 404"));
  EXPECT_EQ(tries(), 2);
  EXPECT_THAT(machine.pushed, IsEmpty());
  EXPECT_FALSE(held);
}

TEST_F(AnotherWay, IsNotTriedWhileTheBmcIsAtWork) {
  auto mine = serving();
  mine.keep = [this, keep = mine.keep](UpdateHandle handle) -> Task<Result<void>> {
    if (handle.phase == Phase::refused) machine.busy = {"/redfish/v1/TaskService/Tasks/9"};
    return keep(std::move(handle));
  };

  const auto ended = run_by(std::move(mine));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::busy);
  EXPECT_THAT(ended->detail, HasSubstr("HTTP 405"));
  EXPECT_THAT(ended->detail, HasSubstr("another update is at work"));
  EXPECT_EQ(tries(), 1);
  EXPECT_FALSE(held);
}

constexpr auto kNoServe =
    "fetch images itself (SimpleUpdate), and no image is served: firmware: has no serve: in the "
    "inventory";

TEST_F(AnotherWay, ThatFetchesTheImageIsNoneWhereNoImageIsServedAndTheSettingIsNamed) {
  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("HTTP 405"));
  EXPECT_THAT(ended->detail, HasSubstr(kNoServe));
  EXPECT_THAT(ended->advice, ElementsAre(HasSubstr("add serve: ADDRESS:PORT")));
  EXPECT_EQ(tries(), 1);
  EXPECT_FALSE(held);
}

TEST_F(AnotherWay, ThatDoesNotExistNamesNoSetting) {
  machine.ways = {"store"};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, Not(HasSubstr("serve:")));
  EXPECT_THAT(ended->advice, IsEmpty());
}

TEST_F(AnotherWay, IsNotTriedWhereTheOnlyOneFetchesTheImageAndNoneIsServed) {
  machine.ways = {"simple"};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("no image is served: firmware: has no serve:"));
  EXPECT_THAT(ended->advice, ElementsAre(HasSubstr("add serve: ADDRESS:PORT")));
  EXPECT_EQ(tries(), 0);
}

TEST_F(AnotherWay, IsNotTheRefusedOneAgainWhereTheFirstThatIsOfferedCannotBeGone) {
  machine.ways = {"simple", "store"};

  const auto ended = run();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::failed);
  EXPECT_THAT(ended->detail, HasSubstr("HTTP 405"));
  EXPECT_EQ(tries(), 1);
  EXPECT_FALSE(held);
}

TEST_F(AnotherWay, IsTheFirstForAControllerThatComesAfterACrash) {
  auto from = handle(Phase::pushing);
  from.refused_way = "store";
  asio::io_context io;
  Updater updater{serving()};

  const auto ended = run_to_end(io, updater.resume(std::move(from), Deadline::in(60s)));

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::at_baseline) << ended->detail;
  EXPECT_EQ(tries(), 1);
  ASSERT_EQ(machine.pushed.size(), 1u);
  EXPECT_EQ(machine.pushed[0].pull_uri, kServed);
}

}  // namespace
}  // namespace cupel::firmware
