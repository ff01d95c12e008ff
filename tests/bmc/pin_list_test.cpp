// Certificates that are known before any BMC was asked.
#include "bmc/pin_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/certificate.h"

namespace cupel::bmc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kDigits(64, 'a');

TEST(PinList, TakesNamesAndAddressesWithFingerprintsAsOpensslPrintsThem) {
  std::string colons = "AA";
  for (int i = 1; i < 32; ++i) colons += ":AA";

  const auto list = parse_pin_list("# of the vendor\n\na01-n07  SHA256:" + kDigits +
                                       "\n10.0.1.12:443 sha256:" + colons + " # spare\n",
                                   "pins.txt");

  EXPECT_THAT(list.problems, IsEmpty());
  EXPECT_THAT(list.pins,
              ElementsAre(ListedPin{"a01-n07", "SHA256:" + kDigits, {"pins.txt", 3, 1}},
                          ListedPin{"10.0.1.12:443", "SHA256:" + kDigits, {"pins.txt", 4, 1}}));
}

TEST(PinList, TakesTheFirstCertificateBelowAName) {
  const auto own = test::make_certificate();
  const auto authority = test::make_certificate();

  const auto list = parse_pin_list(
      "a01-n07\n" + own.certificate_pem + authority.certificate_pem + "a01-n08 SHA256:" + kDigits,
      "bundle.pem");

  EXPECT_THAT(list.problems, IsEmpty());
  ASSERT_EQ(list.pins.size(), 2);
  EXPECT_EQ(list.pins[0].certificate, own.fingerprint);
}

TEST(PinList, SaysEveryMistakeWithItsLine) {
  const auto list = parse_pin_list(
      "a01-n01 SHA1:1234\n"
      "a01-n02\n"
      "a01-n03 SHA256:12 again\n"
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
      "a01-n05\n"
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
      "a01-n06\n-----BEGIN CERTIFICATE-----\n",
      "pins.txt");

  EXPECT_EQ(inventory::to_string(list.problems),
            "pins.txt:1:1: 'SHA1:1234' is no fingerprint: SHA256: and 64 hexadecimal digits\n"
            "pins.txt:3:1: a line is a name and SHA256:..., or a name alone with a PEM certificate "
            "below it\n"
            "pins.txt:4:1: this is no PEM certificate\n"
            "pins.txt:8:1: this is no PEM certificate\n"
            "pins.txt:11:1: no certificate for a01-n06\n"
            "pins.txt:12:1: a certificate without its END line\n");
  EXPECT_THAT(list.pins, IsEmpty());
}

}  // namespace
}  // namespace cupel::bmc
