#include "inventory/identity.h"

#include <gmock/gmock.h>

namespace cupel::inventory {
namespace {

TEST(CanonicalHost, IsTheSameForAllWaysToWriteAnAddress) {
  EXPECT_EQ(canonical_host("127.9.3.1"), "127.9.3.1");
  EXPECT_EQ(canonical_host("::ffff:127.9.3.1"), "127.9.3.1");
  EXPECT_EQ(canonical_host("::FFFF:7f09:0301"), "127.9.3.1");
  EXPECT_EQ(canonical_host("fd00:0:0::1"), "fd00::1");
  EXPECT_EQ(canonical_host("[FD00::0001]"), "fd00::1");
  EXPECT_EQ(canonical_host("fe80::1%eth0"), "fe80::1%eth0");
}

TEST(CanonicalHost, IsTheSameForANameInAnyCase) {
  EXPECT_EQ(canonical_host("BMC6.Example."), "bmc6.example");
  EXPECT_EQ(canonical_host("bmc6"), "bmc6");
  EXPECT_EQ(canonical_host("999.1.1.1"), "999.1.1.1");
}

TEST(MachineNames, KnowAMachineInAnyCaseAndWithItsDomain) {
  MachineNames names;
  names.add("a01-n01");
  names.add("B01-N01.east");
  names.add("b01-n02.east");
  names.add("b01-n02.west");

  EXPECT_EQ(names.known("A01-N01"), "a01-n01");
  EXPECT_EQ(names.known("a01-n01.cluster.local"), "a01-n01");
  EXPECT_EQ(names.known("b01-n01"), "B01-N01.east");
  EXPECT_EQ(names.known("b01-n01.west"), "b01-n01.west") << "another domain";
  EXPECT_EQ(names.known("b01-n02"), "b01-n02") << "either";
  EXPECT_EQ(names.known("b01-n02.EAST"), "b01-n02.east");
  EXPECT_EQ(names.known("new"), "new");
}

TEST(NoSerial, MatchesPlaceholderTexts) {
  for (const auto* text :
       {"", " ", "NA", "N/A", "Default string", "0123456789", "123456789", "1234567890",
        "To Be Filled By O.E.M.", "To be filled by OEM", "None", "00000000", "........", "XXXXXXXX",
        "0x00000000", "System Serial Number", "Not Specified", "FFFFFFFF"})
    EXPECT_TRUE(is_no_serial(text)) << text;
  for (const auto* text : {"1660102733911", "MT2519J002PD", "S64H9600203572", "G1", "80CE012345",
                           "SGH500AA01", "0EF89C42", "J1000A"})
    EXPECT_FALSE(is_no_serial(text)) << text;
}

TEST(ReportedSerial, IsEmptyWhereItIsNone) {
  EXPECT_EQ(reported_serial(" MT2519J002PD "), "MT2519J002PD");
  for (const auto* text : {"NA", " n/a", "Default string", "0000000000", "To be filled by O.E.M."})
    EXPECT_EQ(reported_serial(text), "") << text;
}

}  // namespace
}  // namespace cupel::inventory
