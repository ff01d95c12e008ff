// Firmware that DHCP sent to the boot server, without a ticket: known by its MAC address.
#include "orchestrator/netboot/neighbour.h"
#include "tests/orchestrator/netboot/boot_fixture.h"

namespace cupel::netboot {
namespace {

using test::fetch;
using ::testing::HasSubstr;

constexpr std::string_view kTable =
    "IP address       HW type     Flags       HW address            Mask     Device\n"
    "10.77.0.11       0x1         0x2         52:54:00:aa:00:01     *        br0\n"
    "10.77.0.12       0x1         0x0         00:00:00:00:00:00     *        br0\n"
    "10.77.0.13       0x1         0x6         52:54:00:AA:00:03     *        br0\n";

TEST(Neighbours, HaveTheMacThatTheKernelResolved) {
  EXPECT_EQ(mac_in_table(kTable, "10.77.0.11"), "52:54:00:aa:00:01");
  EXPECT_EQ(mac_in_table(kTable, "10.77.0.13"), "52:54:00:aa:00:03");
  for (const auto* none : {"10.77.0.12", "10.77.0.1", "", "IP"})
    EXPECT_EQ(mac_in_table(kTable, none), std::nullopt) << none;
  EXPECT_EQ(mac_in_table("10.77.0.11 0x1 2 52:54:00:aa:00:01\n10.77.0.11", "10.77.0.11"),
            std::nullopt);
}

class BootingByDhcp : public Booting {
 protected:
  /// Peers 127.0.0.1 and 127.0.0.2 are neighbours with a MAC; others came through a router.
  void start_with_neighbours() {
    start({.neighbour = [](const asio::ip::address& peer) -> std::optional<std::string> {
      if (peer.to_string() == "127.0.0.1") return "52:54:00:aa:00:01";
      if (peer.to_string() == "127.0.0.2") return "52:54:00:aa:00:02";
      return std::nullopt;
    }});
  }
  BootOrder order_by_dhcp() const {
    auto made = order();
    made.by_dhcp = true;
    return made;
  }
  test::Fetched ask(const std::string& name, const std::string& from = "127.0.0.1") const {
    return fetch({.url = service->url() + "/dhcp/" + name, .from = from});
  }
};

TEST_F(BootingByDhcp, GivesTheTicketOfTheNodeToItsMacAlone) {
  start_with_neighbours();
  const auto ticket = service->issue(order_by_dhcp()).value();

  EXPECT_THAT(ask("boot.ipxe").body, HasSubstr("cupel.boot=" + ticket.base_url));
  EXPECT_EQ(heard(ticket), "fetched boot.ipxe");
  EXPECT_THAT(ask("ram.efi").body, HasSubstr("cupel.boot=" + ticket.base_url));
  for (const auto* other : {"127.0.0.2", "127.0.0.3"}) {
    EXPECT_EQ(ask("boot.ipxe", other).status, 404) << other;
    EXPECT_EQ(ask("ram.efi", other).status, 404) << other;
  }
}

TEST_F(BootingByDhcp, GivesNothingButWhatIsBootedFirst) {
  start_with_neighbours();
  const auto ticket = service->issue(order_by_dhcp()).value();

  for (const auto* name : {"image", "vmlinuz", "hello", "seed/user-data", "", "../boot/"})
    EXPECT_EQ(ask(name).status, 404) << name;
}

TEST_F(BootingByDhcp, EndsWithTheHelloOfTheMachine) {
  start_with_neighbours();
  const auto ticket = service->issue(order_by_dhcp()).value();
  ASSERT_EQ(ask("boot.ipxe").status, 200);

  ASSERT_EQ(say(ticket, "hello", hello(first)).status, 200);

  EXPECT_EQ(ask("boot.ipxe").status, 410);
  EXPECT_EQ(ask("ram.efi").status, 410);
  EXPECT_EQ(fetch({.url = ticket.base_url + "vmlinuz"}).status, 200);
}

TEST_F(BootingByDhcp, EndsWithTheTicket) {
  start_with_neighbours();
  const auto ticket = service->issue(order_by_dhcp()).value();

  service->revoke(ticket.token);

  EXPECT_EQ(ask("boot.ipxe").status, 404);
}

TEST_F(BootingByDhcp, ATicketForAnotherWayIsNotFound) {
  start_with_neighbours();
  const auto ticket = service->issue(order()).value();

  EXPECT_EQ(ask("boot.ipxe").status, 404);
}

TEST_F(BootingByDhcp, ThroughARouterTheAddressOfTheInventoryCounts) {
  start_with_neighbours();
  auto routed = order_by_dhcp();
  routed.address = "127.0.0.3";
  const auto ticket = service->issue(std::move(routed)).value();

  EXPECT_EQ(ask("boot.ipxe", "127.0.0.3").status, 200);
  EXPECT_EQ(ask("boot.ipxe", "127.0.0.4").status, 404);
}

TEST_F(BootingByDhcp, ANeighbourWithTheAddressAndAnotherMacIsNotIt) {
  start_with_neighbours();
  auto taken = order_by_dhcp();
  taken.address = "127.0.0.2";
  const auto ticket = service->issue(std::move(taken)).value();

  EXPECT_EQ(ask("boot.ipxe", "127.0.0.2").status, 404);
}

TEST_F(BootingByDhcp, ANewTicketOfTheNodeTakesTheOldOnesPlace) {
  start_with_neighbours();
  const auto old_ticket = service->issue(order_by_dhcp()).value();
  const auto ticket = service->issue(order_by_dhcp()).value();

  service->revoke(old_ticket.token);

  EXPECT_THAT(ask("boot.ipxe").body, HasSubstr(ticket.base_url));
}

TEST_F(BootingByDhcp, TwoNodesWithOneMacAreNamed) {
  start_with_neighbours();
  const auto ticket = service->issue(order_by_dhcp()).value();
  auto same = order_by_dhcp();
  same.machine.node = "a01-n02";

  const auto refused = service->issue(std::move(same));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_THAT(refused.error().what, HasSubstr("a01-n02 and a01-n01 both have 52:54:00:aa:00:01"));
}

TEST_F(BootingByDhcp, ASignedProgramWithoutItsTicketIsRefusedByName) {
  put("ram.efi", test::small_program({.cmdline = "quiet", .certificates = 64}));
  start_with_neighbours();
  const auto ticket = service->issue(order_by_dhcp()).value();

  EXPECT_EQ(ask("ram.efi").status, 403);
  EXPECT_EQ(heard(ticket), "refused signed");
  EXPECT_EQ(ask("boot.ipxe").status, 200);
}

TEST_F(BootingByDhcp, AMachineThatHasNoMacOfTheNodeIsRefusedAtItsHello) {
  start_with_neighbours();
  const auto ticket = service->issue(order_by_dhcp()).value();
  auto other = first;
  other.macs = {"52:54:00:aa:00:77"};

  EXPECT_EQ(say(ticket, "hello", hello(other)).status, 403);
  EXPECT_EQ(heard(ticket), "refused wrong-mac");
}

}  // namespace
}  // namespace cupel::netboot
