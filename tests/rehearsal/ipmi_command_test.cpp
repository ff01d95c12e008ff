// Rules of single commands that the tools' happy paths do not meet.
#include "tests/rehearsal/remote_console.h"

namespace cupel::rehearsal {
namespace {
using ipmi::Bytes;

constexpr std::uint8_t kChassis = 0x00, kStorage = 0x0A, kApp = 0x06;
const Bytes kPxeOnce{5, 0xA0, 0x04, 0, 0, 0};
const Bytes kPxeAlways{5, 0xE0, 0x04, 0, 0, 0};

struct LoggedIn {
  explicit LoggedIn(std::vector<Fault> faults = {}, double speed = 10000)
      : bmc{std::move(faults), speed} {
    EXPECT_TRUE(console.log_in());
  }
  QuietBmc bmc;
  RemoteConsole console{bmc};
};

TEST(IpmiCommandTest, TellsByDcmiTheWattsThatTheSensorsTell) {
  LoggedIn it;
  it.bmc.machine.press(Reset::on);
  ASSERT_TRUE(it.bmc.run_until([&] { return it.bmc.machine.up(); }));

  const auto reply = it.console.ask(0x2C, 0x02, {0xDC, 1, 0, 0});

  ASSERT_EQ(reply.size(), 19u);
  EXPECT_EQ(reply[0], 0);
  EXPECT_EQ(reply[1], 0xDC);
  EXPECT_NEAR(reply[2] | reply[3] << 8, it.bmc.machine.sensors().node_watts(), 20);
  EXPECT_EQ(reply[18], 0x40);
  EXPECT_EQ(it.console.ask(0x2C, 0x02, {0xDC, 7, 0, 0})[0], 0xCC);
  EXPECT_EQ(it.console.ask(0x2C, 0x02, {0xAA, 1, 0, 0})[0], 0xC1);
}

TEST(IpmiCommandTest, HasAWatchdogThatNobodySetAndNoEventFilters) {
  LoggedIn it;

  EXPECT_EQ(it.console.ask(kApp, 0x25), Bytes(9, 0));
  EXPECT_EQ(it.console.ask(kApp, 0x22)[0], 0x80);
  EXPECT_EQ(it.console.ask(0x04, 0x10), (Bytes{0, 0x51, 0, 0}));
}

TEST(IpmiCommandTest, ForgetsABootFlagThatNobodyUsedForAMinute) {
  LoggedIn it;
  EXPECT_EQ(it.console.ask(kChassis, 8, kPxeOnce)[0], 0);
  EXPECT_EQ(it.bmc.machine.boot_override().target, "Pxe");

  it.bmc.now += std::chrono::seconds{59};
  EXPECT_EQ(it.console.ask(kChassis, 9, {5, 0, 0}), (Bytes{0, 1, 5, 0xA0, 0x04, 0, 0, 0}));
  it.bmc.now += std::chrono::seconds{2};

  EXPECT_EQ(it.console.ask(kChassis, 9, {5, 0, 0}), (Bytes{0, 1, 5, 0, 0, 0, 0, 0}));
  EXPECT_EQ(it.bmc.machine.boot_override(), BootOverride{});
}

TEST(IpmiCommandTest, KeepsABootFlagThatIsPersistentOrToldToStay) {
  LoggedIn it;

  it.console.ask(kChassis, 8, kPxeAlways);
  it.bmc.now += std::chrono::seconds{50};
  it.console.ask(kChassis, 1);
  it.bmc.now += std::chrono::seconds{50};
  EXPECT_EQ(it.console.ask(kChassis, 9, {5, 0, 0})[3], 0xE0);
  it.console.ask(kChassis, 8, {3, 0x08});
  it.console.ask(kChassis, 8, kPxeOnce);
  it.bmc.now += std::chrono::seconds{50};
  it.console.ask(kChassis, 1);
  it.bmc.now += std::chrono::seconds{50};
  EXPECT_EQ(it.console.ask(kChassis, 9, {5, 0, 0})[3], 0xA0);
}

TEST(IpmiCommandTest, CountsAnewWhenAChassisControlComes) {
  LoggedIn it;
  it.console.ask(kChassis, 8, kPxeOnce);
  it.bmc.now += std::chrono::seconds{50};

  EXPECT_EQ(it.console.ask(kChassis, 2, {1})[0], 0);
  it.bmc.now += std::chrono::seconds{50};

  EXPECT_EQ(it.console.ask(kChassis, 9, {5, 0, 0})[3], 0xA0);
  EXPECT_TRUE(it.bmc.run_until([&] { return it.bmc.machine.up(); }));
  EXPECT_EQ(it.bmc.machine.booted_from(), "Pxe");
}

TEST(IpmiCommandTest, ShowsAnOverrideThatRedfishHasSet) {
  LoggedIn it;
  it.bmc.machine.set_boot_override({"Continuous", "Hdd", "UEFI"});

  EXPECT_EQ(it.console.ask(kChassis, 9, {5, 0, 0}), (Bytes{0, 1, 5, 0xE0, 0x08, 0, 0, 0}));
  EXPECT_EQ(it.console.ask(kChassis, 9, {9, 0, 0})[0], 0x80);
}

TEST(IpmiCommandTest, GivesAPieceOfARecordOnlyToWhoHasReserved) {
  LoggedIn it;

  EXPECT_EQ(it.console.ask(kStorage, 0x23, {0, 0, 2, 0, 5, 8})[0], 0xC5);
  auto reserved = it.console.ask(kStorage, 0x22);
  EXPECT_EQ(it.console.ask(kStorage, 0x23, {reserved[1], reserved[2], 2, 0, 5, 8})[0], 0);
  EXPECT_EQ(it.console.ask(kStorage, 0x23, {reserved[1], reserved[2], 2, 0, 0, 0xFF})[0], 0xCA);
  EXPECT_EQ(it.console.ask(kStorage, 0x23, {reserved[1], reserved[2], 2, 0, 250, 8})[0], 0xC9);
  it.console.ask(kStorage, 0x22);

  EXPECT_EQ(it.console.ask(kStorage, 0x23, {reserved[1], reserved[2], 2, 0, 5, 8})[0], 0xC5);
}

TEST(IpmiCommandTest, ClearsTheLogOnlyForWhoHasReservedAndSaysHowFarItIs) {
  LoggedIn it;
  const Bytes record{0, 0, 2, 0, 0, 0, 0, 0x20, 0, 4, 1, 1, 1, 0x57, 0, 0};
  EXPECT_EQ(it.console.ask(kStorage, 0x44, record)[0], 0);

  EXPECT_EQ(it.console.ask(kStorage, 0x47, {1, 1, 'C', 'L', 'R', 0xAA})[0], 0xC5);
  const auto reserved = it.console.ask(kStorage, 0x42);
  EXPECT_EQ(it.console.ask(kStorage, 0x47, {reserved[1], reserved[2], 'C', 'L', 'X', 0xAA})[0],
            0xCC);
  EXPECT_EQ(it.console.ask(kStorage, 0x47, {reserved[1], reserved[2], 'C', 'L', 'R', 0xAA}),
            (Bytes{0, 0}));
  it.bmc.now += std::chrono::seconds{1};

  EXPECT_EQ(it.console.ask(kStorage, 0x47, {reserved[1], reserved[2], 'C', 'L', 'R', 0}),
            (Bytes{0, 1}));
}

TEST(IpmiCommandTest, KeepsTheNewestEventsWhenTheLogIsFull) {
  LoggedIn it;
  const Bytes record{0, 0, 2, 0, 0, 0, 0, 0x20, 0, 4, 1, 1, 1, 0x57, 0, 0};

  for (std::size_t i = 0; i < ipmi::Sel::kMost + 5; ++i) it.console.ask(kStorage, 0x44, record);

  const auto reported = it.console.ask(kStorage, 0x40);
  EXPECT_EQ(reported[2] | reported[3] << 8, static_cast<int>(ipmi::Sel::kMost));
  EXPECT_EQ(reported[14] & 0x80, 0x80);
  EXPECT_EQ(it.console.ask(kStorage, 0x43, {0, 0, 1, 0, 0, 0xFF})[0], 0xCB);
  EXPECT_EQ(it.console.ask(kStorage, 0x43, {0, 0, 0xFF, 0xFF, 0, 0xFF})[1], 0xFF);
}

TEST(IpmiCommandTest, SetsTheClockOfTheLog) {
  LoggedIn it;

  EXPECT_EQ(it.console.ask(kStorage, 0x49, {0, 0, 0, 0x60})[0], 0);

  EXPECT_EQ(it.console.ask(kStorage, 0x48)[4], 0x60);
}

TEST(IpmiCommandTest, TellsWhetherAPasswordOf20BytesIsTheOne) {
  LoggedIn it;
  Bytes set{0x83, 2}, test{0x83, 3}, shorter{0x03, 3};
  for (std::uint8_t i = 0; i < 20; ++i) {
    set.push_back('a' + i);
    test.push_back('a' + i);
    if (i < 16) shorter.push_back('a' + i);
  }
  EXPECT_EQ(it.console.ask(kApp, 0x47, set)[0], 0);

  EXPECT_EQ(it.console.ask(kApp, 0x47, test)[0], 0x00);
  EXPECT_EQ(it.console.ask(kApp, 0x47, shorter)[0], 0x81);
  test.back() = 'z';
  EXPECT_EQ(it.console.ask(kApp, 0x47, test)[0], 0x80);
}

TEST(IpmiCommandTest, ShowsAnEmptyPowerSupplyBayAsSuch) {
  LoggedIn it{{{.kind = FaultKind::psu_missing, .part = "psu2"}}};

  EXPECT_EQ(it.console.ask(0x04, 0x2D, {0x51})[3], 0x01);
  EXPECT_EQ(it.console.ask(0x04, 0x2D, {0x52})[3], 0x00);
  EXPECT_EQ(it.console.ask(0x04, 0x2D, {0x58})[3], 0x02);
  EXPECT_EQ(it.console.ask(kStorage, 0x10, {3})[0], 0xCB);
}

/// Serial over LAN: numbers, acknowledgements, what is sent again.
struct OnTheConsole : LoggedIn {
  OnTheConsole() : LoggedIn{{}, 10000} {
    bmc.machine.press(Reset::on);
    EXPECT_TRUE(bmc.run_until([&] { return bmc.machine.up(); }));
    EXPECT_EQ(console.ask(kApp, 0x48, {1, 1, 0xC0, 0, 0, 0})[0], 0);
    bmc.sent.clear();
  }
  /// What the BMC sends by itself comes after its acknowledgement.
  std::vector<Bytes> send(const Bytes& payload) {
    bmc.sent.clear();
    bmc.service.handle(console.sealed(ipmi::Payload::sol, payload, ++console.number), bmc.peer);
    std::vector<Bytes> all;
    for (const auto& datagram : bmc.sent) all.push_back(console.opened(datagram));
    return all;
  }
};

TEST(IpmiSolTest, AcknowledgesKeysOnceTakenAndTakesNoneTwice) {
  OnTheConsole it;

  const auto first = it.send({1, 0, 0, 0, 'a', 'b'});
  const auto again = it.send({1, 0, 0, 0, 'a', 'b'});

  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0], (Bytes{0, 1, 2, 0}));
  EXPECT_EQ(first[1], (Bytes{1, 0, 0, 0, 'a'}));
  EXPECT_EQ(again, (std::vector<Bytes>{{0, 1, 2, 0}}));
}

TEST(IpmiSolTest, SendsTheRestUnderANumberOfItsOwn) {
  OnTheConsole it;
  it.send({1, 0, 0, 0, 'a', 'b', 'c'});

  const auto rest = it.send({0, 1, 1, 0});
  const auto refused = it.send({0, 2, 1, 0x40});

  EXPECT_EQ(rest, (std::vector<Bytes>{{2, 0, 0, 0, 'b', 'c'}}));
  EXPECT_EQ(refused, (std::vector<Bytes>{{3, 0, 0, 0, 'c'}}));
}

TEST(IpmiSolTest, SendsAgainWhatNobodyAcknowledged) {
  OnTheConsole it;
  it.send({1, 0, 0, 0, 'a'});
  const auto before = it.bmc.sent.size();

  EXPECT_TRUE(it.bmc.run_until([&] { return it.bmc.sent.size() > before; }));

  EXPECT_EQ(it.console.opened(it.bmc.sent.back()), (Bytes{1, 0, 0, 0, 'a'}));
}

TEST(IpmiSolTest, BelongsToOneSessionUntilAnotherTakesItAway) {
  OnTheConsole it;
  RemoteConsole other{it.bmc};
  ASSERT_TRUE(other.log_in());

  EXPECT_EQ(other.ask(kApp, 0x48, {1, 1, 0xC0, 0, 0, 0})[0], 0x80);
  EXPECT_EQ(other.ask(kApp, 0x48, {1, 1, 0x00, 0, 0, 0})[0], 0x84);
  it.bmc.sent.clear();
  it.bmc.service.handle(
      other.sealed(ipmi::Payload::message, RemoteConsole::message(kApp, 0x49, {1, 1, 0, 0, 0, 0}),
                   ++other.number),
      it.bmc.peer);

  ASSERT_EQ(it.bmc.sent.size(), 2u);
  EXPECT_EQ(it.console.opened(it.bmc.sent[0]), (Bytes{0, 0, 0, 0x10}));
  EXPECT_EQ(other.ask(kApp, 0x49, {1, 1, 0, 0, 0, 0})[0], 0x80);
  EXPECT_EQ(other.ask(kApp, 0x48, {1, 1, 0xC0, 0, 0, 0})[0], 0x00);
}

TEST(IpmiSolTest, EndsWithItsSession) {
  OnTheConsole it;
  it.bmc.now += std::chrono::seconds{61};
  RemoteConsole other{it.bmc};
  ASSERT_TRUE(other.log_in());

  EXPECT_EQ(other.ask(kApp, 0x48, {1, 1, 0xC0, 0, 0, 0})[0], 0x00);
}

}  // namespace
}  // namespace cupel::rehearsal
