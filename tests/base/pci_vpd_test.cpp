#include "base/pci_vpd.h"

#include <gmock/gmock.h>

#include <random>

namespace cupel {
namespace {

using ::testing::Eq;
using ::testing::Optional;

std::string large(unsigned char tag, const std::string& data) {
  return std::string{static_cast<char>(tag), static_cast<char>(data.size() & 0xFFU),
                     static_cast<char>(data.size() >> 8U)} +
         data;
}
std::string keyword(const std::string& name, const std::string& data) {
  return name + static_cast<char>(data.size()) + data;
}

/// Of a ConnectX-7, as `lspci -vv` shows it, with its checksum and a read-write resource behind it.
std::string card() {
  const std::string fields = keyword("PN", "MCX75310AAS-NEAT") + keyword("EC", "A9") +
                             keyword("V2", "MCX75310AAS-NEAT") +
                             keyword("SN", "MT2519J002PD            ") + "RV" + '\x02';
  // The checksum, and a byte that is reserved, are a part of the resource's length.
  auto bytes = large(0x82, "NVIDIA ConnectX-7 HHHL adapter Card");
  const auto whole = fields.size() + 2;
  bytes += std::string{'\x90', static_cast<char>(whole & 0xFFU), static_cast<char>(whole >> 8U)};
  bytes += fields;
  unsigned sum = 0;
  for (const char each : bytes) sum += static_cast<unsigned char>(each);
  bytes += static_cast<char>(0U - sum);
  bytes += '\0';
  return bytes + large(0x91, keyword("RW", std::string(20, '\0'))) + '\x78';
}

TEST(PciVpd, HasTheSerialNumberThatTheMakerWrote) {
  EXPECT_THAT(parse_pci_vpd(card()), Optional(Eq(PciVpd{"NVIDIA ConnectX-7 HHHL adapter Card",
                                                        "MCX75310AAS-NEAT", "MT2519J002PD"})));
}

TEST(PciVpd, IsReadWithoutAChecksumAndBehindSmallResources) {
  const auto bytes = std::string{'\x0A', 'a', 'b'} + large(0x90, keyword("SN", "X1")) + '\x78';

  EXPECT_THAT(parse_pci_vpd(bytes), Optional(Eq(PciVpd{"", "", "X1"})));
}

TEST(PciVpd, IsNoneWhereItsChecksumIsWrong) {
  auto bytes = card();
  bytes[bytes.find("MT2519")] = 'N';

  EXPECT_EQ(parse_pci_vpd(bytes), std::nullopt);
}

TEST(PciVpd, IsNoneWhereAFieldOrAResourceGoesBeyondItsEnd) {
  const auto whole = card();
  const auto end_of_fields = whole.find("RV") + 4;
  for (std::size_t size = 0; size < end_of_fields; ++size)
    EXPECT_EQ(parse_pci_vpd(whole.substr(0, size)), std::nullopt) << size;
  EXPECT_EQ(parse_pci_vpd(large(0x90, "SN\xFFshort")), std::nullopt);
  EXPECT_EQ(parse_pci_vpd("\x78"), std::nullopt) << "no read-only resource";
  EXPECT_EQ(parse_pci_vpd(std::string(64, '\xFF')), std::nullopt) << "an erased memory";
  EXPECT_EQ(parse_pci_vpd(std::string(kMostVpd * 2, '\0')), std::nullopt);
}

TEST(PciVpd, SurvivesAnyBytesAndPrintsOnlyText) {
  std::mt19937 random{7};
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = card();
    for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % (bytes.size() + 1));
    const auto vpd = parse_pci_vpd(bytes);
    if (!vpd) continue;
    for (const char each : vpd->serial + vpd->part_number)
      EXPECT_FALSE(each >= 0 && each < ' ') << round;
  }
}

}  // namespace
}  // namespace cupel
