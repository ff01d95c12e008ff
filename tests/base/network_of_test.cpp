#include "base/network_of.h"

#include <gmock/gmock.h>

namespace cupel {
namespace {

TEST(NetworkOf, IsTheAddressOfIpv4AndThe64OfIpv6) {
  EXPECT_EQ(network_of("10.0.0.5"), "10.0.0.5");
  EXPECT_EQ(network_of("::ffff:10.0.0.5"), "10.0.0.5");
  EXPECT_EQ(network_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
  EXPECT_EQ(network_of("2001:db8:1:2:ffff::1"), "2001:db8:1:2::");
  EXPECT_EQ(network_of("unix"), "unix");
}

}  // namespace
}  // namespace cupel
