// Lines as dnsmasq 2.90 wrote them, and what they mean.
#include "orchestrator/netboot/dhcp_log.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace cupel::netboot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<DhcpNode> kNodes{{"a01-n01", {"52:54:00:aa:00:01"}, "10.77.0.11"}};

/// "unknown-mac", "offered a01-n01"
std::vector<std::string> causes(const std::vector<std::string>& lines) {
  DhcpLog log{kNodes};
  std::vector<std::string> found;
  for (const auto& line : lines)
    if (const auto event = log.read(line))
      found.push_back((event->is_problem ? "!" : "") + event->cause +
                      (event->node.empty() ? "" : " " + event->node));
  return found;
}

TEST(DhcpLog, FollowsABoot) {
  EXPECT_THAT(
      causes({"dnsmasq-dhcp[13858]: DHCP, IP range 10.77.0.100 -- 10.77.0.200, lease time 10m",
              "dnsmasq-dhcp[13858]: DHCPDISCOVER(br0) 52:54:00:aa:00:01 ",
              "dnsmasq-dhcp[13858]: DHCPOFFER(br0) 10.77.0.11 52:54:00:aa:00:01 ",
              "dnsmasq-dhcp[13858]: DHCPREQUEST(br0) 10.77.0.11 52:54:00:aa:00:01 ",
              "dnsmasq-dhcp[13858]: 702021530 DHCPACK(br0) 10.77.0.11 52:54:00:aa:00:01 ",
              "dnsmasq-tftp[13858]: error 8 User aborted the transfer received from 10.77.0.11",
              "dnsmasq-tftp[13858]: sent /tmp/cupel-dhcp-x/tftp/snponly.efi to 10.77.0.11"}),
      ElementsAre("offered a01-n01", "acknowledged a01-n01", "sent a01-n01"));
}

TEST(DhcpLog, ReportsAnUnknownMacOnce) {
  EXPECT_THAT(causes({"dnsmasq-dhcp[1]: DHCPDISCOVER(br0) 52:54:00:aa:00:09 ignored",
                      "dnsmasq-dhcp[1]: 769925910 DHCPDISCOVER(br0) 52:54:00:aa:00:09 ignored",
                      "dnsmasq-dhcp[1]: 180828571 PXE(br0) 52:54:00:aa:00:08 proxy-ignored"}),
              ElementsAre("!unknown-mac", "!unknown-mac"));
}

TEST(DhcpLog, ReportsAnOfferThatIsNotTakenAfterThree) {
  const std::string offer = "dnsmasq-dhcp[1]: DHCPOFFER(br0) 10.77.0.11 52:54:00:aa:00:01 ";
  const std::string request = "dnsmasq-dhcp[1]: DHCPREQUEST(br0) 10.77.0.11 52:54:00:aa:00:01 ";

  EXPECT_THAT(causes({offer, offer, request, offer, offer}),
              ElementsAre("offered a01-n01", "offered a01-n01"));
  EXPECT_THAT(causes({offer, offer, offer, offer}),
              ElementsAre("offered a01-n01", "!offer-not-taken a01-n01"));
}

TEST(DhcpLog, NamesWhatElseGoesWrong) {
  EXPECT_THAT(causes({"dnsmasq-dhcp[1]: DHCPNAK(br0) 10.77.0.55 52:54:00:aa:00:01 wrong server-ID",
                      "dnsmasq-dhcp[1]: DHCPDISCOVER(br0) 52:54:00:aa:00:01 no address available",
                      "dnsmasq-dhcp[1]: DHCPDECLINE(br0) 10.77.0.11 52:54:00:aa:00:01 ",
                      "dnsmasq-dhcp[1]: 1674413112 DHCPDISCOVER(br0) 52:54:00:aa:00:01 ignored",
                      "dnsmasq-dhcp[1]: no address range available for DHCP request via br0",
                      "dnsmasq-tftp[1]: file /tmp/tftp/nothere.efi not found for 10.77.0.11",
                      "dnsmasq-tftp[1]: cannot access /tmp/tftp/../conf: Permission denied",
                      "dnsmasq-tftp[1]: failed sending /tmp/tftp/snponly.efi to 10.77.0.11",
                      "dnsmasq-tftp[1]: error 3 Disk full received from 10.77.0.11"}),
              ElementsAre("!second-server a01-n01", "!no-address a01-n01",
                          "!address-in-use a01-n01", "!no-program a01-n01", "!no-range",
                          "!tftp-missing", "!tftp-missing", "!tftp-timeout", "!tftp-error"));
}

TEST(DhcpLog, TheNameThatAMachineGivesItselfIsNoCause) {
  EXPECT_THAT(causes({"dnsmasq-dhcp[1]: DHCPACK(br0) 10.77.0.11 52:54:00:aa:00:01 ignored"}),
              ElementsAre("acknowledged a01-n01"));
}

TEST(DhcpLog, SaysNothingOfLinesThatAreNone) {
  EXPECT_THAT(causes({"", "dnsmasq-dhcp", "dnsmasq-dhcp[1]: DHCPACK(br0)", "DHCPACK(br0) a b c",
                      "dnsmasq-dhcp[1]: DHCPOFFER) 10.77.0.11 52:54:00:aa:00:01(", ") PXE(",
                      std::string(100'000, 'x'), "dnsmasq[1]: DHCPACK(br0) 1 52:54:00:aa:00:01 "}),
              IsEmpty());
}

TEST(DhcpLog, WhatAMachineSentIsPrintable) {
  DhcpLog log{kNodes};

  const auto event = log.read("dnsmasq-tftp[1]: error 3 \x1b[31m received from 10.77.0.11");

  ASSERT_TRUE(event);
  EXPECT_EQ(event->text.find('\x1b'), std::string::npos);
  EXPECT_THAT(event->text, HasSubstr("TFTP"));
}

}  // namespace
}  // namespace cupel::netboot
