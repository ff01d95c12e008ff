#include "base/nccl_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cupel {
namespace {

using ::testing::HasSubstr;

/// As NCCL 2.28.9 made it with NCCL_SOCKET_IFNAME=lo.
std::string captured() { return "9a5de56de6ae7fa60200987b7f000001" + std::string(224, '0'); }

std::string with(std::size_t byte, const std::string& digits) {
  auto hex = captured();
  hex.replace(2 * byte, digits.size(), digits);
  return hex;
}

TEST(NcclId, DecodesTheAddressThatNcclWroteIntoIt) {
  const auto id = decode_nccl_id("  " + captured() + "\n");

  ASSERT_TRUE(id) << id.error().what;
  EXPECT_EQ(*id, (NcclId{captured(), "127.0.0.1", 39035}));
}

TEST(NcclId, DecodesIpv6BehindItsFlowInformation) {
  const auto id = decode_nccl_id(with(8, "0a00987b00000000fd000000000000000000000000000007"));

  ASSERT_TRUE(id) << id.error().what;
  EXPECT_EQ(id->address, "fd00::7");
  EXPECT_EQ(id->port, 39035);
}

TEST(NcclId, TakesUpperCaseAndWritesLowerCase) {
  auto upper = captured();
  for (auto& c : upper) c = static_cast<char>(std::toupper(c));

  EXPECT_EQ(decode_nccl_id(upper)->hex, captured());
}

TEST(NcclId, RefusesWhatIsNoAddressOfAnotherNode) {
  const std::pair<std::string, std::string> cases[] = {
      {with(0, "0000000000000000"), "first 8 bytes are 0"},
      {with(8, "0100"), "address family 1"},
      {with(10, "0000"), "port is 0"},
      {with(12, "00000000"), "0.0.0.0"},
      {with(12, "e0000001"), "no host's"},
      {with(12, "ffffffff"), "no host's"},
      {with(8, "0a00987b" + std::string(40, '0')), "address is ::"},
      {with(8, "0a00987b00000000ff02000000000000"), "multicast"},
      {with(8, "0a00987b0000000000000000000000000000ffff0a000001"), "IPv4 address written as IPv6"},
      {captured().substr(2), "254 characters"},
      {captured() + "00", "258 characters"},
      {with(3, "g0"), "character 7"},
      {"", "0 characters"}};
  for (const auto& [hex, why] : cases) {
    const auto id = decode_nccl_id(hex);

    ASSERT_FALSE(id) << hex;
    EXPECT_EQ(id.error().code, Code::kMalformed);
    EXPECT_THAT(id.error().what, HasSubstr(why));
  }
}

TEST(NcclId, EveryCutIsRefused) {
  const auto bytes = *bytes_of_nccl_id(captured());
  const auto* begin = reinterpret_cast<const unsigned char*>(bytes.data());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decode_nccl_id(std::span{begin, size})) << size;
}

}  // namespace
}  // namespace cupel
