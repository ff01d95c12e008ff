// Where a RAM system finds its ticket, and which it does not take.
#include "burnin/agent/node/boot/ticket.h"

#include <gmock/gmock.h>

#include "tests/agent/node_tree.h"

namespace cupel::agent::boot {
namespace {

using ::testing::HasSubstr;

constexpr const char* kTicket = "/boot/0123456789abcdef0123456789abcdef/";

class BootTicketOf : public ::testing::Test {
 protected:
  void lease(const std::string& server) {
    node_.write("/run/cupel/lease", "bootfile=" + server + kTicket + "ram.efi\n");
  }
  std::string found() const {
    const auto ticket = find_ticket(node_.tree());
    return ticket ? std::string{ticket->from} + " " + ticket->url : ticket.error().text;
  }
  const NodeTree node_;
};

TEST_F(BootTicketOf, ALeaseAndTheCommandLineBeforeIt) {
  node_.write("/etc/cupel/any-boot-server", "");
  lease("http://10.0.0.1:8080");
  EXPECT_EQ(found(), std::string{"dhcp http://10.0.0.1:8080"} + kTicket);

  node_.write("/proc/cmdline", std::string{"quiet cupel.boot=http://10.0.0.2:8080"} + kTicket);
  EXPECT_EQ(found(), std::string{"cmdline http://10.0.0.2:8080"} + kTicket);
}

TEST_F(BootTicketOf, ASystemWithoutCertificatesTakesNoneUnlessItWasBuiltToObeyEachServer) {
  for (const auto* server : {"http://10.0.0.66:8080", "https://10.0.0.66:8081"}) {
    lease(server);
    EXPECT_THAT(found(), HasSubstr("this system has no certificates to check its boot server with: "
                                   "build it with --ca, or with --any-boot-server"));
    EXPECT_FALSE(ticket_of(node_.tree(), std::string{server} + kTicket));
  }

  node_.write("/etc/cupel/any-boot-server", "");
  EXPECT_EQ(found(), std::string{"dhcp https://10.0.0.66:8081"} + kTicket);
}

TEST_F(BootTicketOf, ASystemWithBothChecksCertificates) {
  node_.write("/etc/cupel/ca.pem", "-----BEGIN CERTIFICATE-----\n");
  node_.write("/etc/cupel/any-boot-server", "");
  lease("http://10.0.0.66:8080");
  EXPECT_THAT(found(), HasSubstr("one of plain HTTP, and this system checks certificates"));
}

TEST_F(BootTicketOf, ASystemThatChecksCertificatesTakesNoneOfPlainHttp) {
  node_.write("/etc/cupel/ca.pem", "-----BEGIN CERTIFICATE-----\n");
  lease("http://10.0.0.66:8080");
  EXPECT_THAT(found(), HasSubstr("one of plain HTTP, and this system checks certificates"));

  node_.write("/proc/cmdline", "quiet cupel.http=yes");
  EXPECT_EQ(found(), std::string{"dhcp http://10.0.0.66:8080"} + kTicket);

  node_.write("/proc/cmdline", "quiet");
  lease("https://boot.example");
  EXPECT_EQ(found(), std::string{"dhcp https://boot.example"} + kTicket);
}

TEST_F(BootTicketOf, ASystemThatIsBuiltForOneServerTakesNoneOfAnotherHolderOfACertificate) {
  node_.write("/etc/cupel/ca.pem", "-----BEGIN CERTIFICATE-----\n");
  node_.write("/etc/cupel/boot-host", "10.0.0.1");
  for (const auto* other :
       {"https://10.0.0.66:8081", "https://10.0.0.10", "https://10.0.0.1.example:8081",
        "https://10.0.0.1:", "https://10.0.0.1:80a", "https://[10.0.0.1]:8081"}) {
    lease(other);
    EXPECT_THAT(found(), HasSubstr(std::string{"which has "} + other +
                                   ", and this system was built for the boot server 10.0.0.1"));
  }

  lease("http://10.0.0.1:8081");
  EXPECT_THAT(found(), HasSubstr("one of plain HTTP"));
  lease("https://10.0.0.1:8081");
  EXPECT_EQ(found(), std::string{"dhcp https://10.0.0.1:8081"} + kTicket);

  // What a stick or a lease names first hides no other way.
  node_.write("/proc/cmdline", std::string{"cupel.boot=https://10.0.0.66:8081"} + kTicket);
  EXPECT_EQ(found(), std::string{"dhcp https://10.0.0.1:8081"} + kTicket);
}

TEST_F(BootTicketOf, AUrlThatIsTypedIsTakenByTheSameRules) {
  const auto typed = [this](const std::string& server) {
    const auto ticket = ticket_of(node_.tree(), server + kTicket + "ram.efi");
    return ticket ? ticket->url : ticket.error().text;
  };
  node_.write("/etc/cupel/any-boot-server", "");
  EXPECT_EQ(typed("http://10.0.0.66:8080"), std::string{"http://10.0.0.66:8080"} + kTicket);
  EXPECT_THAT(typed("http://10.0.0.66:8080/x"), HasSubstr("--url is not the URL of a boot ticket"));

  node_.write("/etc/cupel/ca.pem", "-----BEGIN CERTIFICATE-----\n");
  EXPECT_THAT(typed("http://10.0.0.66:8080"), HasSubstr("one of plain HTTP"));
  EXPECT_EQ(typed("https://10.0.0.66:8081"), std::string{"https://10.0.0.66:8081"} + kTicket);

  node_.write("/etc/cupel/boot-host", "10.0.0.1");
  EXPECT_THAT(typed("https://10.0.0.66:8081"),
              HasSubstr("in --url (which has https://10.0.0.66:8081, and this system was built for "
                        "the boot server 10.0.0.1 alone (--boot-host))"));
  EXPECT_EQ(typed("https://10.0.0.1:8081"), std::string{"https://10.0.0.1:8081"} + kTicket);
}

TEST_F(BootTicketOf, ASystemThatIsBuiltForAnIpv6ServerComparesTheAddressInItsBrackets) {
  node_.write("/etc/cupel/ca.pem", "-----BEGIN CERTIFICATE-----\n");
  node_.write("/etc/cupel/boot-host", "2001:db8::1");
  lease("https://[2001:db8::1]:8081");
  EXPECT_EQ(found(), std::string{"dhcp https://[2001:db8::1]:8081"} + kTicket);

  lease("https://[2001:db8::10]:8081");
  EXPECT_THAT(found(), HasSubstr("built for the boot server 2001:db8::1 alone"));
}

TEST_F(BootTicketOf, ASystemWhoseServerIsNotReadableTakesNone) {
  node_.write("/etc/cupel/ca.pem", "-----BEGIN CERTIFICATE-----\n");
  node_.write("/etc/cupel/boot-host", "");
  lease("https://10.0.0.1:8081");
  EXPECT_THAT(found(), HasSubstr("built for the boot server without an address alone"));
}

}  // namespace
}  // namespace cupel::agent::boot
