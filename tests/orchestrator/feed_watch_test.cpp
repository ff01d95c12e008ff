// One feed after the other taken away from a machine that is watched: against a PDU and a BMC in
// memory, with real readings between.
#include "orchestrator/steps/feed_watch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/all_or_none.h"
#include "burnin/board/feeds.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "playbooks/plan.h"
#include "tests/support/captures.h"
#include "tests/support/fake_bmc.h"

namespace cupel::steps {
namespace {

using namespace std::chrono_literals;
using bmc::PowerState;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// One PDU, and the two supplies that hang on it: outlet A1 is psu0's, A2 is psu1's.
struct FakeRack {
  test::FakeMachine machine{};
  std::map<std::string, PowerState> outlets{{"A1", PowerState::on}, {"A2", PowerState::on}};
  std::optional<std::chrono::seconds> off_for = 30s;
  bool stays_off = false;       // the outlet
  bool node_goes_down = false;  // with its first feed
  std::string fed_by_other{};   // an outlet behind which there is none of its supplies
  std::string unwell{};         // an outlet whose supply is not well, whatever is read of it
  std::vector<std::string> cycled{};
  int looks = 0, logged_out = 0;

  FakeRack() {
    machine.power = PowerState::on;
    tell();
  }
  void tell() {
    bmc::Sensors sensors;
    int number = 0;
    for (const auto& [name, power] : outlets) {
      const bool well = power == PowerState::on || name == fed_by_other;
      sensors.sensors.push_back({.kind = bmc::SensorKind::power,
                                 .name = "PSU" + std::to_string(number++) + " output",
                                 .value = well ? 1000 : 0,
                                 .health = !well            ? "Critical"
                                           : name == unwell ? "Warning"
                                                            : "OK"});
    }
    machine.sensors = sensors;
  }
};

class FakePdu final : public bmc::Pdu {
 public:
  explicit FakePdu(FakeRack& rack) : rack_{rack} {}
  Task<Result<std::vector<bmc::Outlet>>> outlets(std::vector<std::string> names,
                                                 Deadline) override {
    std::vector<bmc::Outlet> all;
    for (const auto& name : names) {
      auto& power = rack_.outlets.at(name);
      all.push_back({name, "/outlet/" + name, power, rack_.off_for, "/cycle"});
      // On again when it is looked at once more.
      if (power == PowerState::off && !rack_.stays_off) power = PowerState::on;
    }
    if (++rack_.looks > 1 && all.front().power == PowerState::on) rack_.tell();
    co_return all;
  }
  Task<Result<void>> cycle(bmc::Outlet outlet, Deadline) override {
    rack_.cycled.push_back(outlet.name);
    rack_.outlets.at(outlet.name) = PowerState::off;
    rack_.tell();
    if (rack_.node_goes_down) rack_.machine.power = PowerState::off;
    co_return ok();
  }
  Task<void> log_out() override {
    ++rack_.logged_out;
    co_return;
  }

 private:
  FakeRack& rack_;
};

class Feeds : public ::testing::Test {
 protected:
  void SetUp() override {
    node.name = "a01-n01";
    node.feeds = {"a01/p1/b1", "a01/p1/b2"};
    node.outlets = {"A1", "A2"};
    inventory.pdus.push_back(
        {.name = "a01/p1", .endpoint = {}, .user = "ops", .password = {}, .trust = {}});
    planned.name = "psu";
    planned.with = {{"feeds", "yes"}};
  }
  /// What comes of it, and what was found.
  Result<std::vector<bool>> take() {
    StepEnvironment doors{
        inventory,
        *store,
        [this](const inventory::Node&) { return std::make_unique<test::FakeBmc>(rack.machine); },
        {},
        nullptr};
    doors.board->logs[node.name] = {std::string{}, boost::json::array{}};
    doors.pdu = [this](const inventory::Pdu&) { return std::make_unique<FakePdu>(rack); };
    const engine::StepRequest request{
        1, node, {}, planned, 1, {}, Deadline::in(limit), stop, {}, [](const std::string&) {}};
    SensorWatch sensors{doors, request};
    FeedWatch feeds{doors, request, sensors};
    sensors.heard(
        "cupel-phase: wave 1\n"
        R"({"kind":"phase","name":"feeds","seconds":0})"
        "\n");
    const auto work = [&](bool takes) { return takes ? take_then_end(feeds) : read(sensors); };
    auto ended = run_to_end(io, all_or_none<bool>(std::vector<char>{1, 0}, work));
    done = feeds.done();
    went_down = feeds.went_down();
    sensors.heard("cupel-phase: feeds 9\n");
    burnin::add_feeds(burnin::read_transcript(sensors.reported()), found);
    return ended;
  }
  static Task<Result<bool>> take_then_end(FeedWatch& feeds) {
    CO_TRY(co_await feeds.take_each());
    co_return Error{Code::kFailed, "taken"};
  }
  static Task<Result<bool>> read(SensorWatch& sensors) {
    co_await sensors.read();
    co_return true;
  }
  std::vector<std::string> reported() const {
    std::vector<std::string> all;
    for (const auto& each : found.measurements)
      all.push_back(fmt::format("{} {} {}", each.part, each.name, each.value));
    return all;
  }
  std::string why() const { return found.measurements.front().traced_to; }

  asio::io_context io;
  FakeRack rack;
  inventory::Node node{};
  inventory::Inventory inventory{};
  playbooks::PlannedStep planned{};
  const engine::Stop stop = engine::Stop::no;
  std::chrono::seconds limit = 60s;
  test::TemporaryFolder folder{};
  std::unique_ptr<store::Store> store = store::Store::open(folder.path()).value();
  burnin::Findings found{};
  bool done = false, went_down = false;
};

TEST_F(Feeds, AreTakenOneAfterTheOtherAndComeBack) {
  const auto ended = take();

  EXPECT_EQ(ended.error().what, "taken");
  EXPECT_TRUE(done);
  EXPECT_THAT(rack.cycled, ElementsAre("A1", "A2"));
  EXPECT_EQ(rack.logged_out, 2);
  EXPECT_THAT(reported(), ElementsAre("feed1 psu.feed.tested 1", "feed1 psu.feed.carried 1",
                                      "feed1 psu.feed.lost 1", "feed1 psu.feed.back 1",
                                      "feed2 psu.feed.tested 1", "feed2 psu.feed.carried 1",
                                      "feed2 psu.feed.lost 1", "feed2 psu.feed.back 1"));
}

TEST_F(Feeds, AreNotTakenFromANodeWhoseSuppliesAreNotWell) {
  rack.unwell = "A2";
  rack.tell();
  limit = 3s;

  (void)take();

  EXPECT_THAT(rack.cycled, IsEmpty());
  EXPECT_THAT(reported(), ElementsAre("feed1 psu.feed.tested 0", "feed2 psu.feed.tested 0"));
  EXPECT_THAT(why(), HasSubstr("nothing is taken away from a node that may need it"));
}

TEST_F(Feeds, AreNotSwitchedOffByWhatWouldNotSwitchThemOnAgain) {
  rack.off_for.reset();
  (void)take();
  EXPECT_THAT(why(), HasSubstr("outlet A1 does not cycle by itself"));

  rack.off_for = 5s;
  found = {};
  (void)take();
  EXPECT_THAT(why(), HasSubstr("outlet A1 would be off for 5 s: set its PowerCycleDelaySeconds"));

  rack.off_for = 30s;
  rack.outlets["A1"] = PowerState::off;
  rack.stays_off = true;
  node.feeds.pop_back();
  found = {};
  (void)take();
  EXPECT_THAT(why(), HasSubstr("outlet A1 is not on"));
  EXPECT_THAT(rack.cycled, IsEmpty());
}

TEST_F(Feeds, WithoutWhichTheNodeGoesDownEndTheStage) {
  rack.node_goes_down = true;

  const auto ended = take();

  EXPECT_THAT(ended.error().what, HasSubstr("it went down when its feed a01/p1/b1 was off"));
  EXPECT_TRUE(went_down);
  EXPECT_THAT(rack.cycled, ElementsAre("A1"));
  EXPECT_THAT(reported(), ElementsAre("feed1 psu.feed.tested 1", "feed1 psu.feed.carried 0"));
}

TEST_F(Feeds, ThatNoSupplyMissesAreSaidToBeAnothers) {
  rack.fed_by_other = "A1";

  (void)take();

  EXPECT_THAT(reported(), ::testing::Contains("feed1 psu.feed.lost 0"));
  EXPECT_THAT(reported(), ::testing::Contains("feed2 psu.feed.lost 1"));
}

TEST_F(Feeds, OfWhichNoOutletIsKnownAreSaidSo) {
  node.outlets = {"A1", ""};

  (void)take();

  EXPECT_THAT(rack.cycled, ElementsAre("A1"));
  EXPECT_THAT(reported(), ::testing::Contains("feed2 psu.feed.tested 0"));
}

}  // namespace
}  // namespace cupel::steps
