// How often each peer may ask, and what a guess costs it.
#include "orchestrator/netboot/peer_limits.h"

#include <gtest/gtest.h>

namespace cupel::netboot {
namespace {

using boost::asio::ip::make_address;

const PeerLimits::Clock::time_point kNow{};

TEST(PeerLimits, OfIpv6SlowDownAHostsWholeNetwork) {
  PeerLimits limits{1};
  for (const auto* address : {"2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:1:ffff::3",
                              "2001:db8:0:1:ffff:ffff:ffff:4"})
    EXPECT_TRUE(limits.allow(make_address(address), kNow)) << address;

  EXPECT_FALSE(limits.allow(make_address("2001:db8:0:1::5"), kNow));
  EXPECT_TRUE(limits.allow(make_address("2001:db8:0:2::5"), kNow)) << "another network";
}

TEST(PeerLimits, AGuessCostsItsNetworkAndNoOther) {
  PeerLimits limits{10};
  for (int i = 0; i < 2; ++i) limits.count_guess(make_address("2001:db8:0:1::1"), kNow);

  EXPECT_FALSE(limits.allow(make_address("2001:db8:0:1::2"), kNow));
  EXPECT_TRUE(limits.allow(make_address("2001:db8:0:2::2"), kNow));
  EXPECT_TRUE(limits.allow(make_address("10.0.0.1"), kNow));
}

}  // namespace
}  // namespace cupel::netboot
