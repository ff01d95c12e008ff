// What the virtual BMC does with consoles that are late, wrong, many or malicious.
#include <random>

#include "tests/rehearsal/remote_console.h"

namespace cupel::rehearsal {
namespace {
using ipmi::Bytes;
using ipmi::Payload;

constexpr std::uint8_t kNoAnswer = 0xEE;

TEST(IpmiSessionTest, AnswersAPresencePing) {
  QuietBmc bmc;

  const auto pong = bmc.say({6, 0, 0xFF, 6, 0, 0, 0x11, 0xBE, 0x80, 0x2A, 0, 0});

  ASSERT_EQ(pong.size(), 28);
  EXPECT_EQ(pong[8], 0x40);
  EXPECT_EQ(pong[9], 0x2A);
  EXPECT_EQ(pong[20], 0x81);
}

TEST(IpmiSessionTest, RefusesAWrongPasswordWithTheCheckValueOfRakp4) {
  QuietBmc bmc;
  RemoteConsole console{bmc};
  console.open();
  EXPECT_EQ(console.rakp_1()[1], 0x00);

  EXPECT_EQ(console.rakp_3("wrong")[1], 0x0F);
  EXPECT_EQ(bmc.service.open_sessions(), 0u);
}

TEST(IpmiSessionTest, TellsAnUnknownNameFromAPrivilegeThatItDoesNotHave) {
  QuietBmc bmc;
  bmc.service.device().users.at(2)->limit = ipmi::Privilege::operator_;
  RemoteConsole console{bmc};

  console.open();
  EXPECT_EQ(console.rakp_1(0x14, "nobody")[1], 0x0D);
  console.open();
  EXPECT_EQ(console.rakp_1(0x14)[1], 0x0A);
  console.open();
  EXPECT_EQ(console.rakp_1(0x13)[1], 0x00);
  console.open();
  EXPECT_EQ(console.rakp_1(0x13, std::string(17, 'x'))[1], 0x0C);
}

TEST(IpmiSessionTest, FindsASecondEntryOfTheNameByItsPrivilege) {
  QuietBmc bmc;
  auto& users = bmc.service.device().users;
  *users.at(3) = *users.at(2);
  users.at(2)->limit = ipmi::Privilege::user;
  RemoteConsole console{bmc};

  console.open();
  EXPECT_EQ(console.rakp_1(0x14)[1], 0x0A);  // by name alone: the first of that name counts
  console.open();
  EXPECT_EQ(console.rakp_1(0x04)[1], 0x00);
}

TEST(IpmiSessionTest, RefusesSuitesThatItDoesNotHave) {
  QuietBmc bmc;
  using ipmi::Hash;

  EXPECT_EQ((RemoteConsole{bmc, {8, 2, 2, 1, Hash::sha1, 16}}.open()[1]), 0x04);
  EXPECT_EQ((RemoteConsole{bmc, {0, 1, 2, 1, Hash::sha1, 16}}.open()[1]), 0x05);
  EXPECT_EQ((RemoteConsole{bmc, {2, 1, 1, 0, Hash::sha1, 12}}.open()[1]), 0x10);
  EXPECT_EQ((RemoteConsole{bmc, {0, 1, 4, 1, Hash::sha1, 12}}.open()[1]), 0x11);
}

TEST(IpmiSessionTest, TakesEachNumberOnceAndNoneFromFarAway) {
  QuietBmc bmc;
  RemoteConsole console{bmc};
  ASSERT_TRUE(console.log_in());

  EXPECT_EQ(console.ask_as(10, 6, 1)[0], 0x00);
  EXPECT_EQ(console.ask_as(10, 6, 1)[0], kNoAnswer);
  EXPECT_EQ(console.ask_as(5, 6, 1)[0], 0x00);
  EXPECT_EQ(console.ask_as(5, 6, 1)[0], kNoAnswer);
  EXPECT_EQ(console.ask_as(25, 6, 1)[0], 0x00);
  EXPECT_EQ(console.ask_as(8, 6, 1)[0], kNoAnswer);
  EXPECT_EQ(console.ask_as(41, 6, 1)[0], kNoAnswer);
  EXPECT_EQ(console.ask_as(0, 6, 1)[0], kNoAnswer);
}

TEST(IpmiSessionTest, BeginsAsUserAndRisesNoHigherThanAskedFor) {
  QuietBmc bmc;
  RemoteConsole console{bmc};
  console.open(3);
  console.rakp_1(0x13);
  ASSERT_EQ(console.rakp_3()[1], 0);

  EXPECT_EQ(console.ask(0, 2, {1})[0], 0xD4);
  EXPECT_EQ(console.ask(6, 0x3B, {4})[0], 0x81);
  EXPECT_EQ(console.ask(6, 0x3B, {3})[0], 0x00);
  EXPECT_EQ(console.ask(0, 2, {1})[0], 0x00);
  EXPECT_EQ(bmc.machine.power(), Power::powering_on);
}

TEST(IpmiSessionTest, ForgetsASessionThatNobodyUsedForAMinute) {
  QuietBmc bmc;
  RemoteConsole console{bmc};
  ASSERT_TRUE(console.log_in());

  bmc.now += std::chrono::seconds{59};
  EXPECT_EQ(console.ask(6, 1)[0], 0x00);
  bmc.now += std::chrono::seconds{61};

  EXPECT_EQ(console.ask(6, 1)[0], kNoAnswer);
}

TEST(IpmiSessionTest, HasSoManySessionsAndNoMoreUntilOneIsClosed) {
  QuietBmc bmc;
  std::vector<RemoteConsole> consoles(ipmi::Sessions::kMost, RemoteConsole{bmc});
  for (auto& console : consoles) ASSERT_TRUE(console.log_in());
  RemoteConsole late{bmc};

  EXPECT_EQ(late.open()[1], 0x01);
  Bytes own;
  ipmi::put32(own, consoles[0].id);
  EXPECT_EQ(consoles[0].ask(6, 0x3C, own)[0], 0x00);

  EXPECT_EQ(consoles[0].ask(6, 1)[0], kNoAnswer);
  EXPECT_TRUE(late.log_in());
}

TEST(IpmiSessionTest, AnswersRakp3AgainWhereTheFirstAnswerWasLost) {
  QuietBmc bmc;
  RemoteConsole console{bmc};
  console.open();
  console.rakp_1();

  const auto first = console.rakp_3();
  const auto second = console.rakp_3();

  EXPECT_EQ(first[1], 0);
  EXPECT_EQ(first, second);
}

TEST(IpmiSessionTest, SurvivesAnythingThatArrives) {
  QuietBmc bmc;
  RemoteConsole console{bmc};
  ASSERT_TRUE(console.log_in());
  std::mt19937 random{7};
  const auto good =
      console.sealed(Payload::message, RemoteConsole::message(0x0A, 0x43, Bytes(6)), 9);

  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_EQ(bmc.say({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}), Bytes{});
  for (int i = 0; i < 5000; ++i) {
    auto damaged = good;
    damaged[random() % damaged.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
    bmc.say(damaged);
    Bytes noise(random() % 200);
    for (auto& byte : noise) byte = static_cast<std::uint8_t>(random());
    if (noise.size() > 4) noise[0] = 6, noise[3] = 7, noise[4] = random() % 2 == 0 ? 6 : 0;
    bmc.say(noise);
  }

  EXPECT_EQ(console.ask(6, 1)[0], 0x00);
}

TEST(IpmiSessionTest, SurvivesEveryCommandWithAnyData) {
  QuietBmc bmc;
  RemoteConsole console{bmc};
  ASSERT_TRUE(console.log_in());
  std::mt19937 random{11};
  int answered = 0;

  for (int i = 0; i < 20000; ++i) {
    constexpr std::uint8_t kFunctions[] = {0x00, 0x04, 0x06, 0x0A, 0x0C};
    const auto function = kFunctions[random() % 5];
    const auto command = static_cast<std::uint8_t>(random() % 0x60);
    const bool ends = function == 6 && (command == 2 || command == 3 || command == 0x3C ||
                                        command == 0x3B || command == 0x47 || command == 0x43);
    if (ends) continue;
    Bytes data(random() % 24);
    for (auto& byte : data)
      byte = static_cast<std::uint8_t>(random() % 3 == 0 ? random() : random() % 6);
    answered += console.ask(function, command, data)[0] != kNoAnswer;
  }

  EXPECT_GT(answered, 15000);
  EXPECT_EQ(console.ask(6, 1)[0], 0x00);
}

}  // namespace
}  // namespace cupel::rehearsal
