// Firmware that DHCP sent to the boot server, without a ticket: known by its MAC address.
#include "orchestrator/netboot/neighbour.h"
#include "tests/orchestrator/netboot/boot_fixture.h"

namespace cupel::netboot {
namespace {

using test::fetch;
using ::testing::HasSubstr;
using ::testing::Not;

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
  /// Peers 127.0.0.1, .2, .5 and .6 are neighbours with a MAC; others came through a router.
  void start_with_neighbours() {
    start({.neighbour = [](const asio::ip::address& peer) -> std::optional<std::string> {
      if (peer.to_string() == "127.0.0.1") return "52:54:00:aa:00:01";
      if (peer.to_string() == "127.0.0.2") return "52:54:00:aa:00:02";
      if (peer.to_string() == "127.0.0.5") return "52:54:00:aa:00:99";  // no node's
      if (peer.to_string() == "127.0.0.6") return "52:54:00:aa:00:01";  // as 127.0.0.1
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
  test::Fetched hello_from(const std::string& peer, const Ticket& ticket,
                           const ExpectedMachine& machine) const {
    return fetch({.url = ticket.base_url + "hello", .post = hello(machine, "dhcp"), .from = peer});
  }
  std::string note_of(const std::string& peer) {
    log.clear();
    EXPECT_EQ(ask("ram.efi", peer).status, 404);
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (log.empty() && std::chrono::steady_clock::now() < until)
      io.restart(), io.run_for(std::chrono::milliseconds{10});
    return log.empty() ? "no line" : log.front().node + ": " + log.front().note;
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

TEST_F(BootingByDhcp, OfTwoMachinesWithOneMacTheSecondIsRefusedAtItsHelloByName) {
  start_with_neighbours();
  auto unknown_serial = order_by_dhcp();
  unknown_serial.machine.serial = "";
  unknown_serial.machine.uuid = "";
  const auto ticket = service->issue(std::move(unknown_serial)).value();
  auto twin = first;
  twin.serial = "S9";
  ASSERT_EQ(ask("boot.ipxe").status, 200);
  ASSERT_EQ(ask("boot.ipxe", "127.0.0.6").status, 200) << "its MAC address is all that is known";
  ASSERT_EQ(hello_from("127.0.0.1", ticket, first).status, 200);
  while (heard(ticket) != "hello") continue;

  const auto refused = hello_from("127.0.0.6", ticket, twin);

  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, Not(HasSubstr("s1")));
  const auto event = next(ticket).value();
  EXPECT_EQ(event.body.at("cause"), "other-machine");
  EXPECT_THAT(std::string{event.body.at("text").as_string()},
              HasSubstr("in use by another machine (serial number s1); both have the MAC address "
                        "52:54:00:aa:00:01"));
  EXPECT_EQ(ask("boot.ipxe", "127.0.0.6").status, 410);
  EXPECT_EQ(fetch({.url = ticket.base_url + "seed/user-data", .from = "127.0.0.6"}).status, 403);
}

TEST_F(BootingByDhcp, NamesAMacThatNoNodeOfTheInventoryHas) {
  start_with_neighbours();
  const auto ticket = service->issue(order_by_dhcp()).value();

  EXPECT_EQ(note_of("127.0.0.5"),
            ": no node of the inventory has its MAC address 52:54:00:aa:00:99 (boot: macs)");
  EXPECT_EQ(note_of("127.0.0.2"), "a01-n02: no step boots this node by dhcp-http or pxe now");
  EXPECT_THAT(note_of("127.0.0.3"), HasSubstr("its MAC address is not known here"));
}

TEST_F(BootingByDhcp, ATicketThatIsLateIsNamed) {
  start_with_neighbours();
  auto brief = order_by_dhcp();
  brief.lifetime = std::chrono::seconds{0};
  const auto ticket = service->issue(std::move(brief)).value();
  ASSERT_EQ(heard(ticket), "expired");

  EXPECT_EQ(ask("boot.ipxe").status, 410);
  EXPECT_EQ(heard(ticket), "refused late");
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
