// Breakers, and who is cut by them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inventory/model.h"
#include "inventory/node.h"
#include "rehearsal/physics/power_cords.h"

namespace cupel::rehearsal {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kRated = 10000;
constexpr VirtualTime kHour{3600};

std::optional<VirtualTime> trips(double times) {
  Breaker breaker{kRated};
  breaker.draw(times * kRated, VirtualTime{0});
  return breaker.trips_at();
}

// IEC 60898-1, table 7, and IEC 60947-2, table 6: from cold.
TEST(BreakerTest, TripsWithinTheTimesOfTheStandards) {
  EXPECT_EQ(trips(1.0), std::nullopt);
  EXPECT_EQ(trips(1.05), std::nullopt);
  EXPECT_EQ(trips(1.13), std::nullopt);
  ASSERT_TRUE(trips(1.30));
  EXPECT_LT(*trips(1.30), 2 * kHour);
  EXPECT_LT(*trips(1.45), kHour);
  EXPECT_GT(*trips(2.55), VirtualTime{1});
  EXPECT_LT(*trips(2.55), VirtualTime{60});
  EXPECT_LT(*trips(10), VirtualTime{0.1});
}

TEST(BreakerTest, TripsSoonerTheMoreItCarriesAndTheWarmerItIs) {
  auto before = 2 * kHour;
  for (double times = 1.25; times < 12; times += 0.05) {
    ASSERT_TRUE(trips(times)) << times;
    EXPECT_LE(*trips(times), before) << times;
    before = *trips(times);
  }
  Breaker warm{kRated};
  warm.draw(kRated, VirtualTime{0});
  warm.draw(1.5 * kRated, kHour);
  EXPECT_LT(*warm.trips_at() - kHour, *trips(1.5));
}

TEST(BreakerTest, KnowsNoDifferenceBetweenOneLoadAndTheSameOneManyTimes) {
  Breaker often{kRated};
  for (double s = 0; s < 60; s += 0.25) often.draw(1.5 * kRated, VirtualTime{s});

  EXPECT_NEAR(often.trips_at()->count(), trips(1.5)->count(), 1e-6);
}

TEST(BreakerTest, ForgivesAPeakThatIsShort) {
  Breaker breaker{kRated};
  for (int i = 0; i < 100; ++i) {
    breaker.draw(1.5 * kRated, VirtualTime{i * 60.0});
    breaker.draw(0.5 * kRated, VirtualTime{i * 60.0 + 20});
    EXPECT_FALSE(breaker.tripped(VirtualTime{i * 60.0 + 59})) << i;
  }
}

FeedPlan two_feeds() {
  return {.breakers = {{"a", kRated}, {"b", kRated}},
          .feeds = {{"n1", {"a", "b"}}, {"n2", {"a", "b"}}, {"n3", {"b"}}, {"n4", {}}}};
}

TEST(PowerFeedsTest, SharesANodesWattsAmongItsFeeds) {
  PowerFeeds feeds{two_feeds()};
  feeds.draw("n1", 4000, VirtualTime{0});
  feeds.draw("n3", 1000, VirtualTime{0});

  EXPECT_EQ(feeds.breaker("a")->watts(), 2000);
  EXPECT_EQ(feeds.breaker("b")->watts(), 3000);
  EXPECT_EQ(feeds.next_trip(), std::nullopt);
}

TEST(PowerFeedsTest, OneBreakerTakesTheOtherWithIt) {
  PowerFeeds feeds{two_feeds()};
  feeds.draw("n1", 9000, VirtualTime{0});
  feeds.draw("n2", 9000, VirtualTime{0});
  feeds.draw("n3", 6000, VirtualTime{0});  // a: 9000, b: 15000
  const auto first = feeds.next_trip();
  ASSERT_TRUE(first);

  EXPECT_THAT(feeds.trip(*first), ElementsAre("n3"));
  EXPECT_THAT(feeds.tripped(), ElementsAre("b"));
  EXPECT_EQ(feeds.breaker("a")->watts(), 18000);
  EXPECT_TRUE(feeds.powered("n1"));
  const auto second = feeds.next_trip();
  ASSERT_TRUE(second);
  EXPECT_THAT(feeds.trip(*second), ElementsAre("n1", "n2"));
  EXPECT_TRUE(feeds.powered("n4"));
}

TEST(PowerFeedsTest, ComesBackWhenSomebodyClosesTheBreaker) {
  PowerFeeds feeds{two_feeds()};
  feeds.draw("n3", 30000, VirtualTime{0});
  feeds.trip(*feeds.next_trip());
  ASSERT_FALSE(feeds.powered("n3"));
  feeds.draw("n3", 0, VirtualTime{100});

  EXPECT_THAT(feeds.close("b", VirtualTime{200}), ElementsAre("n3"));
  EXPECT_TRUE(feeds.powered("n3"));
  EXPECT_THAT(feeds.tripped(), IsEmpty());
  EXPECT_THAT(feeds.close("b", VirtualTime{200}), IsEmpty());
  EXPECT_EQ(feeds.next_trip(), std::nullopt);
}

TEST(PowerFeedsTest, ACordThatIsCutLeansOnTheOthersAndTripsThemIfItIsTooMuch) {
  PowerFeeds feeds{two_feeds()};
  feeds.draw("n1", 18000, VirtualTime{0});
  ASSERT_EQ(feeds.next_trip(), std::nullopt);

  EXPECT_TRUE(feeds.plug("n1", {{.breaker = "a", .cut = true}, {"b"}}, VirtualTime{10}));

  EXPECT_EQ(feeds.breaker("a")->watts(), 0);
  EXPECT_EQ(feeds.breaker("b")->watts(), 18000);
  EXPECT_EQ(feeds.live("n1"), (std::vector{false, true}));
  ASSERT_TRUE(feeds.next_trip());
  EXPECT_THAT(feeds.trip(*feeds.next_trip()), ElementsAre("n1", "n3"));
}

TEST(PowerFeedsTest, ANodeIsDarkOnceAllItsCordsAreCutAndLitByOne) {
  PowerFeeds feeds{two_feeds()};
  feeds.draw("n1", 4000, VirtualTime{0});

  feeds.plug("n1", {{.breaker = "a", .cut = true}, {.breaker = "b", .cut = true}}, VirtualTime{1});
  const bool dark = !feeds.powered("n1");
  const bool again = feeds.plug(
      "n1", {{.breaker = "a", .cut = true}, {.breaker = "b", .cut = true}}, VirtualTime{2});
  feeds.plug("n1", {{"a"}, {.breaker = "b", .cut = true}}, VirtualTime{3});

  EXPECT_TRUE(dark);
  EXPECT_FALSE(again) << "nothing was new";
  EXPECT_TRUE(feeds.powered("n1"));
  EXPECT_EQ(feeds.breaker("a")->watts(), 4000);
  EXPECT_EQ(feeds.breaker("b")->watts(), 0);
}

TEST(PowerFeedsTest, ABreakerThatIsClosedLightsNobodyWhoseOutletIsOff) {
  PowerFeeds feeds{two_feeds()};
  feeds.plug("n3", {{.breaker = "b", .cut = true}}, VirtualTime{0});
  feeds.draw("n1", 30000, VirtualTime{0});
  feeds.plug("n1", {{"b"}}, VirtualTime{0});

  EXPECT_THAT(feeds.trip(*feeds.next_trip()), ElementsAre("n1"));
  feeds.draw("n1", 0, VirtualTime{100});
  EXPECT_THAT(feeds.close("b", VirtualTime{200}), ElementsAre("n1"));
}

/// One node on two PDUs; the second feed's outlets are a group.
inventory::Inventory corded(const std::string& first, const std::string& second) {
  inventory::Inventory site;
  for (const auto* name : {"r/p1", "r/p2"}) {
    inventory::Pdu pdu;
    pdu.name = name;
    site.pdus.push_back(pdu);
  }
  inventory::Node node;
  node.name = "n1";
  node.feeds = {"r/p1/b1", "r/p2/b1"};
  node.outlets = {first, second};
  site.nodes.push_back(node);
  return site;
}

std::vector<std::string> outlets_of(const std::vector<Cord>& cords) {
  std::vector<std::string> names;
  for (const auto& cord : cords) names.push_back(cord.outlet);
  return names;
}

TEST(PowerCordsTest, FeedsTakeTurnsAndSoDoTheOutletsOfEach) {
  PowerCords cords{corded("A1+A2+A3", "feed1")};

  ASSERT_TRUE(cords.set("r/p1", "A2", false));
  const auto all = cords.of("n1", {});

  EXPECT_THAT(outlets_of(all), ElementsAre("r/p1/A1", "r/p2/feed1", "r/p1/A2", "r/p2/feed1",
                                           "r/p1/A3", "r/p2/feed1"));
  EXPECT_EQ(all[2], (Cord{"r/p1/b1", "r/p1/A2", true}));
  EXPECT_EQ(std::ranges::count(all, true, &Cord::cut), 1);
  EXPECT_FALSE(cords.set("r/p1", "A4", false));
  EXPECT_FALSE(cords.set("r/p9", "A1", false));
  EXPECT_EQ(cords.outlet("r/p2", "A1"), nullptr);
}

TEST(PowerCordsTest, HangOtherwiseThanTheInventorySaysWhereAFaultDoes) {
  const PowerCords cords{corded("A1", "A1")};
  const std::vector<Fault> same{{.kind = FaultKind::cords_on_one_feed}};
  const std::vector<Fault> second{{.kind = FaultKind::outlet_elsewhere}};
  const std::vector<Fault> first{{.kind = FaultKind::outlet_elsewhere, .number = 1}};

  EXPECT_EQ(cords.of("n1", same),
            (std::vector<Cord>{{"r/p1/b1", "r/p1/A1"}, {"r/p1/b1", "r/p1/A1"}}));
  EXPECT_EQ(cords.of("n1", second), (std::vector<Cord>{{"r/p1/b1", "r/p1/A1"}, {"r/p2/b1"}}));
  EXPECT_EQ(cords.of("n1", first), (std::vector<Cord>{{"r/p1/b1"}, {"r/p2/b1", "r/p2/A1"}}));
}

}  // namespace
}  // namespace cupel::rehearsal
