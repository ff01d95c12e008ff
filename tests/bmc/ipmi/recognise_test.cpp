// A stranger at a known address gets nothing that changes it.
#include "bmc/ipmi/recognise.h"

#include "bmc/ipmi/identity.h"
#include "tests/bmc/ipmi/fixture.h"
#include "tests/bmc/ipmi/scripted_bmc.h"

namespace cupel::bmc::ipmi {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kMac = "aa:bb:cc:00:11:22";
constexpr const char* kPower = "00 02";
constexpr const char* kDeviceId = "06 01";
constexpr const char* kActivate = "06 48";
constexpr const char* kCloseSession = "06 3c";

Reply answer(std::uint8_t function, std::uint8_t code) {
  switch (function << 8 | code) {
    case 0x0601:  // revision 1, firmware 2.14, IPMI 2.0, manufacturer 10876
      return {0, {0x20, 1, 2, 0x14, 2, 0xbf, 0x7c, 0x2a, 0, 1, 0}};
    case 0x0637:
      return {0, {1, 2, 3, 4, 5, 6, 7, 0x88, 9, 0x4a, 11, 12, 13, 14, 15, 16}};
    case 0x0c02:  // parameter revision, and the MAC
      return {0, {0x11, 0xaa, 0xbb, 0xcc, 0x00, 0x11, 0x22}};
    case 0x0a10:
      return {0xcb, {}};  // no FRU
    default:
      return {0, {0, 0, 0}};
  }
}

class Recognise : public WithTransport {
 protected:
  std::unique_ptr<Bmc> open_expecting(ExpectedIdentity people) {
    return open(transport, "a01-n01", {.endpoint = machine.endpoint()}, "admin", password.source(),
                std::move(people));
  }
  Result<Protocol> turn_off(ExpectedIdentity people) {
    const auto bmc = open_expecting(std::move(people));
    auto done = run(bmc->power.reset(ResetType::force_off, soon()));
    run(bmc->log_out());
    return done;
  }

  ScriptedBmc machine{
      io.get_executor(), kSuite17,
      [](std::uint8_t function, std::uint8_t code, View) { return answer(function, code); }};
};

TEST_F(Recognise, LeavesABmcAloneWhoseMacIsNotTheInventorys) {
  const auto done = turn_off({.mac = "aa:bb:cc:00:11:33"});

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kUntrusted);
  EXPECT_THAT(done.error().what, AllOf(HasSubstr("identity mismatch"), HasSubstr(kMac),
                                       HasSubstr("accept-certificate")));
  EXPECT_THAT(machine.asked, Not(Contains(kPower)));
}

TEST_F(Recognise, LeavesABmcAloneThatIsNotTheOneThatWasThereBefore) {
  transport.memory().keep_known_bmc("a01-n01", {.serial = "S1", .macs = {"aa:bb:cc:00:11:33"}});

  const auto done = turn_off({});

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kUntrusted);
  EXPECT_THAT(machine.asked, Not(Contains(kPower)));
}

TEST_F(Recognise, OpensNoConsoleAfterAnIdentityMismatch) {
  const auto bmc = open_expecting({.mac = "aa:bb:cc:00:11:33"});

  const auto console = run(bmc->console.open(soon()));

  ASSERT_FALSE(console);
  EXPECT_EQ(console.error().code, Code::kUntrusted);
  EXPECT_THAT(machine.asked, Not(Contains(kActivate))) << "no payload is activated";
  EXPECT_EQ(machine.asked.back(), kCloseSession);
}

TEST_F(Recognise, RemembersAtTheFirstChangeWhomItMet) {
  const auto done = turn_off({});

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(machine.asked, Contains(kPower));
  EXPECT_THAT(transport.memory().known_bmc("a01-n01").value().macs, Contains(kMac));
}

TEST_F(Recognise, KeepsTheIdentityThatRedfishReported) {
  const KnownBmc before{.serial = "S1", .macs = {kMac, "aa:bb:cc:00:11:23"}};
  transport.memory().keep_known_bmc("a01-n01", before);

  ASSERT_TRUE(turn_off({}));

  const auto now = transport.memory().known_bmc("a01-n01").value();
  EXPECT_EQ(now.serial, before.serial);
  EXPECT_EQ(now.macs, before.macs);
}

TEST_F(Recognise, AsksOnceInASession) {
  const auto bmc = open_expecting({.mac = kMac});

  const auto off = run(bmc->power.reset(ResetType::force_off, soon()));
  const auto on = run(bmc->power.reset(ResetType::on, soon()));
  run(bmc->log_out());
  const auto again = run(bmc->power.reset(ResetType::force_off, soon()));
  run(bmc->log_out());

  EXPECT_TRUE(off && on && again);
  EXPECT_EQ(std::ranges::count(machine.asked, kDeviceId), 2);
  EXPECT_EQ(std::ranges::count(machine.asked, kPower), 3);
}

TEST_F(Recognise, ReadsFromWhomeverItIs) {
  const auto bmc = open_expecting({.mac = "aa:bb:cc:00:11:33"});

  const auto state = run(bmc->power.state(soon()));
  run(bmc->log_out());

  EXPECT_TRUE(state) << state.error().what;
  EXPECT_EQ(std::ranges::count(machine.asked, kDeviceId), 0);
}

TEST(Comparable, TakesTheExpectedSerialNumberWhereverAFruHasIt) {
  Found found;
  found.fru = Fru{.chassis = FruChassis{.serial = "C1"},
                  .board = FruBoard{.serial = "B1"},
                  .product = FruProduct{.serial = "P1"}};

  EXPECT_EQ(comparable(found, "C1").serial, "C1");
  EXPECT_EQ(comparable(found, "b1").serial, "b1");
  EXPECT_EQ(comparable(found, "S9").serial, "P1");
}

TEST(Comparable, ABoardsNumberIsNotTheMachines) {
  Found found;
  found.identity.serial = "B1";
  found.fru = Fru{.board = FruBoard{.serial = "B1"}};

  EXPECT_EQ(comparable(found, "S9").serial, "");
}

}  // namespace
}  // namespace cupel::bmc::ipmi
