#include "orchestrator/engine/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/orchestrator/power_site.h"

namespace cupel::engine {
namespace {

using namespace std::chrono_literals;
using cupel::test::site_of;
using cupel::test::step_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using Ticket = Dispatcher::Ticket;
using Time = Dispatcher::Time;

constexpr Time kNoon{std::chrono::hours{12}};

Limits without_ramp() {
  Limits limits;
  limits.ramp = 0s;
  return limits;
}

Offer offer_of(const inventory::Node& node, const playbooks::PlannedStep& step,
               std::chrono::seconds path = 1h, RunId run = 1, int priority = 0) {
  return {run, priority, path, {&node}, &step};
}

Offer group_of(const inventory::Inventory& site, const playbooks::PlannedStep& step,
               std::vector<int> members) {
  Offer offer{1, 0, 1h, {}, &step};
  for (const int member : members) offer.nodes.push_back(&site.nodes[member]);
  return offer;
}

class Dispatching : public ::testing::Test {
 protected:
  void know(const test::SiteShape& shape, Limits limits = without_ramp()) {
    site_ = site_of(shape);
    dispatcher_.emplace(std::move(limits));
    dispatcher_->know(site_);
  }
  Ticket offer(int node, const playbooks::PlannedStep& step, std::chrono::seconds path = 1h,
               RunId run = 1, int priority = 0) {
    return dispatcher_->offer(offer_of(site_.nodes[node], step, path, run, priority), now_);
  }
  /// On the first so many nodes, each `pause` after the one before.
  std::vector<Ticket> begin_one_by_one(int nodes, const playbooks::PlannedStep& step,
                                       std::chrono::seconds pause) {
    std::vector<Ticket> begun;
    for (int node = 0; node < nodes; ++node) {
      begun.push_back(offer(node, step));
      start();
      now_ += pause;
    }
    return begun;
  }
  std::vector<Ticket> start() { return dispatcher_->start(now_); }
  std::string why(Ticket ticket) {
    for (const auto& each : dispatcher_->blocked())
      if (each.ticket == ticket) return each.why;
    return "";
  }

  inventory::Inventory site_{};
  std::optional<Dispatcher> dispatcher_{};
  Time now_ = kNoon;
  const playbooks::PlannedStep soak_ = step_of("soak", 1.0);
  const playbooks::PlannedStep look_ = step_of("look", 0.0);
};

TEST_F(Dispatching, HigherPriorityThenFewerAtWorkThenLongerPathThenTheInventorysOrder) {
  know({.nodes = 8});
  const auto short_path = offer(0, look_, 1h);
  const auto later_in_order = offer(2, look_, 2h);
  const auto long_path = offer(1, look_, 2h);
  const auto other_run = offer(3, look_, 1min, 2);
  const auto urgent = offer(4, look_, 1s, 3, 5);

  const auto begun = start();

  EXPECT_THAT(begun, ElementsAre(urgent, long_path, other_run, later_in_order, short_path));
}

TEST_F(Dispatching, ANodeDoesOneStepAtATimeEvenOfTwoRuns) {
  know({});
  const auto first = offer(0, look_, 2h, 1);
  const auto second = offer(0, soak_, 1h, 2);

  EXPECT_THAT(start(), ElementsAre(first));
  EXPECT_EQ(why(second), "a01-n01 is busy with look");
  dispatcher_->ended(first, now_);
  EXPECT_THAT(start(), ElementsAre(second));
}

TEST_F(Dispatching, AnInventoryAtTheAddressesOfOneThatWentIsKnownByItsNames) {
  know({.nodes = 2});
  dispatcher_->let_go(site_);
  std::swap(site_.nodes[0].name, site_.nodes[1].name);
  dispatcher_->know(site_);

  const auto first = offer(0, look_, 2h, 1);
  const auto second = offer(0, look_, 1h, 2);

  EXPECT_THAT(start(), ElementsAre(first));
  EXPECT_EQ(why(second), "a01-n02 is busy with look");
}

TEST_F(Dispatching, ABreakerCarriesAsManyLoadsAsItsWattsSay) {
  know({.nodes = 4, .breaker_watts = 24'000});  // four idle: 8 kW; each load 8 kW more
  std::vector<Ticket> soaks;
  for (int node = 0; node < 4; ++node) soaks.push_back(offer(node, soak_));

  EXPECT_THAT(start(), ElementsAre(soaks[0], soaks[1]));
  EXPECT_EQ(why(soaks[2]), "breaker a01/p1/b1: 24 of 24 kW taken, needs 8 kW");
  EXPECT_EQ(dispatcher_->draw().at("a01/p1/b1"), 24'000);
  EXPECT_THAT(start(), IsEmpty());
  dispatcher_->ended(soaks[0], now_);
  EXPECT_THAT(start(), ElementsAre(soaks[2]));
}

TEST_F(Dispatching, ANodeCountsFullyOnEachFeedAndOnceAboveThePdus) {
  know({.nodes = 1, .pdus = 2});
  offer(0, soak_);

  start();

  const auto draw = dispatcher_->draw();
  EXPECT_EQ(draw.at("a01/p1/b1"), 10'000);
  EXPECT_EQ(draw.at("a01/p2/b1"), 10'000);
  EXPECT_EQ(draw.at("a01/p1"), 10'000);
  EXPECT_EQ(draw.at("a01/p2"), 10'000);
  EXPECT_EQ(draw.at("a01"), 10'000);
  EXPECT_EQ(draw.at("hall"), 10'000);
}

TEST_F(Dispatching, EveryLevelLimits) {
  struct Case {
    const char* what;
    test::SiteShape shape;
    std::size_t begin;
  };
  const double two_loads = 4 * 2000 + 2 * 8000, three_loads = 8 * 2000 + 3 * 8000;
  const std::vector<Case> cases{
      {"breaker", {.racks = 2, .breaker_watts = two_loads}, 4},
      {"pdu", {.racks = 2, .pdu_watts = two_loads}, 4},
      {"rack", {.racks = 2, .rack_watts = two_loads}, 4},
      {"room", {.racks = 2, .room_watts = three_loads}, 3},
      {"none", {.racks = 2}, 8},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    know(each.shape);
    for (int node = 0; node < 8; ++node) offer(node, soak_);

    EXPECT_THAT(start(), SizeIs(each.begin));
  }
}

TEST_F(Dispatching, AShareOfTheWattsMayBePlannedWith) {
  auto limits = without_ramp();
  limits.power_share = 0.8;
  know({.nodes = 2, .breaker_watts = 20'000}, limits);
  offer(0, soak_);
  offer(1, soak_);

  EXPECT_THAT(start(), SizeIs(1));
}

TEST_F(Dispatching, StepsThatDrawNothingMoreBeginThoughALevelIsFull) {
  know({.nodes = 4, .breaker_watts = 4000});
  const auto look = offer(0, look_);

  EXPECT_THAT(start(), ElementsAre(look));
}

TEST_F(Dispatching, LoadsBehindOneBreakerBeginOneAfterAnother) {
  know({.nodes = 4, .breakers = 2}, Limits{});
  std::vector<Ticket> soaks;
  for (int node = 0; node < 4; ++node) soaks.push_back(offer(node, soak_));

  EXPECT_THAT(start(), ElementsAre(soaks[0], soaks[1]));
  EXPECT_EQ(why(soaks[2]), "breaker a01/p1/b1: another node's load has just begun");
  ASSERT_EQ(dispatcher_->next_look(), now_ + 2s);
  now_ += 1s;
  EXPECT_THAT(start(), IsEmpty());
  now_ += 1s;
  EXPECT_THAT(start(), ElementsAre(soaks[2], soaks[3]));
  EXPECT_EQ(dispatcher_->next_look(), std::nullopt);
}

TEST_F(Dispatching, ClaimsAreCountedForEachNodeRackOrTheSite) {
  using Scope = playbooks::Claim::Scope;
  const std::vector<std::pair<Scope, std::size_t>> cases{
      {Scope::node, 8}, {Scope::rack, 4}, {Scope::site, 2}};
  for (const auto& [scope, begin] : cases) {
    auto limits = without_ramp();
    limits.slots["push"] = 2;
    know({.racks = 2}, limits);
    auto push = look_;
    push.claims = {{"push", scope, 1}, {"nobody counts this", Scope::site, 100}};
    for (int node = 0; node < 8; ++node) offer(node, push);

    EXPECT_THAT(start(), SizeIs(begin));
  }
}

TEST_F(Dispatching, AFurtherRunsSmallerCountHolds) {
  auto limits = without_ramp();
  limits.slots["push"] = 3;
  know({}, limits);
  auto push = look_;
  push.claims = {{"push", playbooks::Claim::Scope::rack, 1}};
  for (int node = 0; node < 2; ++node) offer(node, push);
  EXPECT_THAT(start(), SizeIs(2));
  const auto third = offer(2, push);

  dispatcher_->limit({{"push", 2}});

  EXPECT_THAT(start(), IsEmpty());
  EXPECT_EQ(why(third), "push in rack a01: 2 of 2 taken");
}

TEST_F(Dispatching, AGroupBeginsWithAllOrNot) {
  know({.nodes = 4, .breaker_watts = 40'000});
  const auto busy = offer(1, soak_, 9h);
  ASSERT_THAT(start(), ElementsAre(busy));
  const auto group = dispatcher_->offer(group_of(site_, soak_, {0, 1, 2}), now_);

  EXPECT_THAT(start(), IsEmpty());
  EXPECT_EQ(dispatcher_->draw().at("hall"), 16'000);
  dispatcher_->ended(busy, now_);
  EXPECT_THAT(start(), ElementsAre(group));
  EXPECT_EQ(dispatcher_->draw().at("hall"), 32'000);
  dispatcher_->ended(group, now_);
  EXPECT_EQ(dispatcher_->draw().at("hall"), 8000);
}

TEST_F(Dispatching, AGroupIsNotPassedOverForEver) {
  auto limits = without_ramp();
  know({.nodes = 4, .breaker_watts = 24'000}, limits);  // two loads at a time
  const auto first = offer(2, soak_, 9h);
  ASSERT_THAT(start(), ElementsAre(first));
  const auto group = dispatcher_->offer(group_of(site_, soak_, {0, 1}), now_);

  // Single soaks of less rank come for ever, overlapping so that two loads are never free at once.
  Ticket left = first, right = 0;
  Time began{};
  for (int minutes = 0; minutes < 120 && began == Time{}; minutes += 5) {
    now_ += 5min;
    if (left != 0) dispatcher_->ended(std::exchange(left, std::exchange(right, 0)), now_);
    const auto next = offer(2 + (minutes / 5) % 2, soak_, 1min);
    for (const auto ticket : start()) {
      if (ticket == group) began = now_;
      if (ticket == next) (left == 0 ? left : right) = next;
    }
    if (right == 0 && left == next) {
      const auto another = offer(2 + (minutes / 5 + 1) % 2, soak_, 1min);
      for (const auto ticket : start())
        if (ticket == another) right = another;
    }
  }

  EXPECT_NE(began, Time{});
  EXPECT_LE(began - kNoon, 30min);
}

TEST_F(Dispatching, SaysWhyAStepCouldNeverBegin) {
  auto limits = without_ramp();
  limits.slots["push"] = 2;
  struct Case {
    test::SiteShape shape;
    double load;
    int claims;
    std::vector<int> nodes;
    const char* why;
  };
  const std::vector<Case> cases{
      {{.nodes = 1, .breaker_watts = 8800, .idle = 2300, .loaded = 10'200},
       1,
       1,
       {0},
       "a01-n01 needs 10.2 kW, breaker a01/p1/b1 carries 8.8 kW"},
      {{.nodes = 4, .rack_watts = 15'000},
       1,
       1,
       {1},
       "a01-n02 needs 10 kW besides 6 kW of 3 idle nodes, rack a01 carries 15 kW"},
      {{.nodes = 4, .rack_watts = 30'000},
       1,
       1,
       {0, 1, 2},
       "a01-n[01-03] needs 30 kW besides 2 kW of 1 idle node, rack a01 carries 30 kW"},
      {{.nodes = 1}, 0, 3, {0}, "step of a01-n01 needs 3 of push, there are 2"},
  };
  for (const auto& each : cases) {
    know(each.shape, limits);
    auto step = step_of("step", each.load);
    step.claims = {{"push", playbooks::Claim::Scope::site, each.claims}};

    const auto offer = group_of(site_, step, each.nodes);
    EXPECT_EQ(dispatcher_->impossible(offer), each.why);
    const auto ticket = dispatcher_->offer(offer, now_);
    EXPECT_THAT(start(), IsEmpty());
    EXPECT_EQ(why(ticket), each.why);
    dispatcher_->ended(ticket, now_);
    EXPECT_THAT(dispatcher_->blocked(), IsEmpty());
  }
}

TEST_F(Dispatching, WhatIsMeasuredIsNeverReckonedAsLessAndForgottenAfterFiveMinutes) {
  know({.nodes = 4, .breaker_watts = 32'000});
  const auto soak = offer(0, soak_);
  start();
  ASSERT_EQ(dispatcher_->draw().at("hall"), 16'000);

  dispatcher_->measured("a01-n01", 4000, now_);  // less than the profile says: it may yet rise
  EXPECT_EQ(dispatcher_->draw().at("hall"), 16'000);
  dispatcher_->measured("a01-n02", 5500, now_);  // idle, and yet
  EXPECT_EQ(dispatcher_->draw().at("hall"), 19'500);
  dispatcher_->measured("nobody", 5500, now_);
  now_ += 5min;
  start();
  EXPECT_EQ(dispatcher_->draw().at("hall"), 16'000);

  dispatcher_->measured("a01-n01", 11'500, now_);
  EXPECT_EQ(dispatcher_->draw().at("hall"), 17'500);
  dispatcher_->ended(soak, now_);
  EXPECT_EQ(dispatcher_->draw().at("hall"), 8000);
}

TEST_F(Dispatching, ShedsTheYoungestAndNoMoreThanNeeded) {
  know({.nodes = 4, .breaker_watts = 40'000});
  const auto soaks = begin_one_by_one(4, soak_, 1min);
  EXPECT_THAT(dispatcher_->shed(now_), IsEmpty());
  dispatcher_->measured("a01-n01", 13'000, now_);

  EXPECT_THAT(dispatcher_->shed(now_), ElementsAre(soaks[3]));
  EXPECT_THAT(dispatcher_->shed(now_), IsEmpty());
  dispatcher_->ended(soaks[3], now_);
  EXPECT_THAT(dispatcher_->shed(now_), IsEmpty());
  const auto again = offer(3, soak_);
  EXPECT_THAT(start(), IsEmpty());
  dispatcher_->ended(soaks[1], now_);
  EXPECT_THAT(start(), ElementsAre(again));
}

TEST_F(Dispatching, WhatWasShedForASmallLoadIsNotBegunAgainBeforeThereIsRoomForWhatItDrew) {
  know({.nodes = 4, .breaker_watts = 40'000});
  const auto small = step_of("cpu", 0.25);
  const auto loads = begin_one_by_one(4, small, 1s);
  for (const auto each : loads) dispatcher_->draws(each);
  dispatcher_->measured("a01-n04", 30'000, now_);
  ASSERT_THAT(dispatcher_->shed(now_), ElementsAre(loads[3]));
  dispatcher_->ended(loads[3], now_);

  const auto again = offer(3, small);

  EXPECT_THAT(start(), IsEmpty());
  dispatcher_->ended(loads[0], now_);
  EXPECT_THAT(start(), ElementsAre(again));
}

TEST_F(Dispatching, ShedsFirstWhatHasStartedNothingYet) {
  know({.nodes = 4, .breaker_watts = 40'000});
  const auto soaks = begin_one_by_one(4, soak_, 1min);
  for (const int started : {0, 2, 3}) dispatcher_->draws(soaks[started]);
  dispatcher_->measured("a01-n01", 13'000, now_);

  EXPECT_THAT(dispatcher_->shed(now_), ElementsAre(soaks[1]));
}

TEST_F(Dispatching, OfWhatAnotherControllerBeganFirstShedsWhatIsNotSeenToDraw) {
  know({.nodes = 2, .breaker_watts = 21'000});
  dispatcher_->measured("a01-n02", 13'000, now_);
  const auto under_way = [&](int node) {
    auto offer = offer_of(site_.nodes[node], soak_, 1h, 1, 0);
    offer.under_way = true;
    return dispatcher_->offer(std::move(offer), now_);
  };
  const auto unseen = under_way(0);
  under_way(1);
  start();

  // It may be about to start what the other controller wrote down and did not come to.
  EXPECT_THAT(dispatcher_->shed(now_), ElementsAre(unseen));
}

TEST_F(Dispatching, NobodyGetsTheWattsOfAShedLoadBeforeItIsOffThem) {
  know({.nodes = 3, .breaker_watts = 28'000});
  offer(0, soak_);
  start();
  now_ += 1min;
  const auto young = offer(1, soak_);
  start();
  now_ += 1min;
  const auto next = offer(2, soak_);
  ASSERT_THAT(start(), IsEmpty());
  dispatcher_->measured("a01-n01", 17'000, now_);
  ASSERT_THAT(dispatcher_->shed(now_), ElementsAre(young));
  dispatcher_->measured("a01-n01", 10'000, now_);

  const auto while_it_ends = start();
  dispatcher_->ended(young, now_);

  EXPECT_THAT(while_it_ends, IsEmpty());
  EXPECT_THAT(start(), ElementsAre(next));
}

TEST_F(Dispatching, AShedLoadThatDrawsMoreThanItsProfileDoesNotComeBackToShedAgain) {
  know({.nodes = 2, .breaker_watts = 21'000});
  const auto cool = offer(0, soak_);
  const auto hot = offer(1, soak_);
  start();
  for (const auto each : {cool, hot}) dispatcher_->draws(each);
  dispatcher_->measured("a01-n02", 13'000, now_);
  ASSERT_THAT(dispatcher_->shed(now_), ElementsAre(hot));
  dispatcher_->ended(hot, now_);

  const auto again = offer(1, soak_);

  EXPECT_THAT(start(), IsEmpty());
  EXPECT_EQ(why(again), "breaker a01/p1/b1: 12 of 21 kW taken, needs 11 kW");
}

TEST_F(Dispatching, WhatIsNotWantedAnyMoreNeverBegins) {
  know({});
  const auto first = offer(0, soak_), second = offer(1, soak_);
  dispatcher_->ended(first, now_);
  dispatcher_->ended(first, now_);
  dispatcher_->ended(4711, now_);

  EXPECT_THAT(start(), ElementsAre(second));
}

}  // namespace
}  // namespace cupel::engine
