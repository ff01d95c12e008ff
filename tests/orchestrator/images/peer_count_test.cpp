// Who gets a connection where there are few.
#include "orchestrator/images/peer_count.h"

#include <gtest/gtest.h>

namespace cupel::images {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::make_address;

const auto kServed = make_address("10.0.0.1");
const auto kOther = make_address("10.0.0.2");

TEST(PeerCount, OfOnePeerIsBounded) {
  PeerCount count{8, 2};
  EXPECT_TRUE(count.enter(kOther));
  EXPECT_TRUE(count.enter(kOther));

  EXPECT_FALSE(count.enter(kOther));
  EXPECT_TRUE(count.enter(kServed));
  count.leave(kOther);
  EXPECT_TRUE(count.enter(kOther));
}

TEST(PeerCount, OfIpv6CountsAHostsWholeNetworkAsOnePeer) {
  PeerCount count{8, 2};
  EXPECT_TRUE(count.enter(make_address("2001:db8:0:1::1")));
  EXPECT_TRUE(count.enter(make_address("2001:db8:0:1:ffff::2")));

  EXPECT_FALSE(count.enter(make_address("2001:db8:0:1::3")));
  EXPECT_TRUE(count.enter(make_address("2001:db8:0:2::1")));
  EXPECT_TRUE(count.enter(make_address("::ffff:10.0.0.2")));
  EXPECT_TRUE(count.enter(kOther));
  EXPECT_FALSE(count.enter(kOther)) << "mapped into IPv6 it is the same address";
  count.leave(make_address("2001:db8:0:1::9"));
  EXPECT_TRUE(count.enter(make_address("2001:db8:0:1::3")));
}

TEST(PeerCount, KeepsAQuarterForPeersThatWereServed) {
  const PeerCount::Clock::time_point now{};
  PeerCount count{4, 0};
  count.serve(kServed, now);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(count.enter(kOther, now));

  EXPECT_FALSE(count.enter(kOther, now));
  EXPECT_FALSE(count.enter(kServed, now + 1h)) << "it is remembered for an hour";
  EXPECT_TRUE(count.enter(kServed, now + 59min));
  EXPECT_FALSE(count.enter(kServed, now)) << "there are no more";
}

TEST(PeerCount, WhoIsServedLeavesRoomForOthers) {
  const PeerCount::Clock::time_point now{};
  PeerCount count{4, 0};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(count.enter(kServed, now));
  EXPECT_FALSE(count.enter(kOther, now));

  count.serve(kServed, now);

  EXPECT_TRUE(count.enter(kOther, now));
  for (int i = 0; i < 3; ++i) count.leave(kServed);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(count.enter(kOther, now));
  EXPECT_FALSE(count.enter(kOther, now));
}

}  // namespace
}  // namespace cupel::images
