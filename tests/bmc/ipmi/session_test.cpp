#include "bmc/ipmi/session.h"

#include <gmock/gmock.h>
#include <malloc.h>

#include "bmc/ipmi/commands.h"
#include "bmc/ipmi/exchange.h"
#include "tests/bmc/ipmi/hexes.h"

namespace cupel::bmc::ipmi {
namespace {

using ::testing::HasSubstr;

const Bytes kKey(20, 0x5a);
constexpr std::uint32_t kOurs = 0x01020304, kTheirs = 0x0a0b0c0d;

/// Both ends of a session.
struct Pair {
  explicit Pair(const Suite& suite)
      : console{suite, kOurs, kTheirs, kKey}, bmc{suite, kTheirs, kOurs, kKey} {}
  Session console, bmc;
};

Bytes reply_to(Session& bmc, View request, const Command& command) {
  const auto opened = bmc.open(request);
  Bytes message = opened->payload;
  // The reply: addresses the other way round, NetFn with its lowest bit, a completion code.
  Bytes reply{0x81, static_cast<std::uint8_t>((command.function | 1) << 2)};
  reply.push_back(checksum(reply));
  Bytes rest{0x20, message[4], command.code, 0x00, 0x42};
  rest.push_back(checksum(rest));
  put(reply, rest);
  return bmc.seal(PayloadType::ipmi, reply);
}

TEST(Session, OpensAllLengthsThatTheOtherEndSeals) {
  for (const auto& suite : {kSuite3, kSuite17}) {
    Pair pair{suite};
    for (std::size_t length = 0; length < 70; ++length) {
      const Bytes payload(length, static_cast<std::uint8_t>(length));

      const auto opened = pair.bmc.open(pair.console.seal(PayloadType::sol, payload));

      ASSERT_TRUE(opened) << length << " " << opened.error().what;
      EXPECT_EQ(opened->type, PayloadType::sol);
      EXPECT_EQ(opened->payload, payload);
    }
  }
}

TEST(Session, RejectsChangedAndTruncatedBytes) {
  Pair pair{kSuite17};
  const auto datagram = pair.console.seal(PayloadType::ipmi, from_hex("20 18 c8 81 04 01 7a"));

  // Sequence number and acknowledge of the RMCP header are not signed.
  for (int at = 4; at < static_cast<int>(datagram.size()); ++at)
    EXPECT_FALSE(pair.bmc.open(with_byte(datagram, at, datagram[static_cast<std::size_t>(at)] ^ 1)))
        << at;
  for (std::size_t length = 0; length < datagram.size(); ++length)
    EXPECT_FALSE(pair.bmc.open(View{datagram}.first(length))) << length;

  EXPECT_TRUE(pair.bmc.open(datagram));
}

TEST(Session, TakesEveryDatagramOnceAndInAnyOrder) {
  Pair pair{kSuite3};
  const auto first = pair.console.seal(PayloadType::ipmi, Bytes{1});
  const auto second = pair.console.seal(PayloadType::ipmi, Bytes{2});

  EXPECT_TRUE(pair.bmc.open(second));
  EXPECT_TRUE(pair.bmc.open(first));
  EXPECT_FALSE(pair.bmc.open(second));
  EXPECT_FALSE(pair.bmc.open(first));
}

TEST(Session, TakesNothingInTheClear) {
  Pair pair{kSuite3};
  auto bytes = packet_header(PayloadType::ipmi, false, kTheirs, 1, 1);
  bytes.push_back(0);

  EXPECT_FALSE(pair.bmc.open(bytes));
}

// The sanitizers' allocators tell mallinfo2 nothing.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
TEST(Session, TakesLessThan4KiBWhileItIsIdle) {
  constexpr std::size_t kSessions = 200;
  std::vector<Session> sessions;
  sessions.reserve(kSessions);
  Session first{kSuite17, kOurs, kTheirs, kKey};
  const auto before = ::mallinfo2().uordblks;

  for (std::size_t i = 0; i < kSessions; ++i) {
    sessions.emplace_back(kSuite17, kOurs, kTheirs, kKey);
    sessions.back().seal(PayloadType::ipmi, Bytes(100));
  }
  const auto each = (::mallinfo2().uordblks - before) / kSessions + sizeof(Session);

  RecordProperty("bytes", static_cast<int>(each));
  EXPECT_GT(each, sizeof(Session));
  EXPECT_LT(each, 4096u);
}
#endif

TEST(Window, AcceptsWhatIsNewAndNear) {
  Window window;

  EXPECT_TRUE(window.accept(100));
  EXPECT_FALSE(window.accept(100));
  EXPECT_TRUE(window.accept(132));
  EXPECT_TRUE(window.accept(101));
  EXPECT_FALSE(window.accept(101));
  EXPECT_FALSE(window.accept(100));  // still known after a jump of 32
  EXPECT_FALSE(window.accept(99));   // too far behind
  EXPECT_FALSE(window.accept(165));  // too far ahead
  EXPECT_TRUE(window.accept(164));
  EXPECT_FALSE(window.accept(131));
}

TEST(Window, RemembersAllOfTheLast32) {
  Window window;
  for (std::uint32_t number = 1; number <= 40; ++number) EXPECT_TRUE(window.accept(number));
  for (std::uint32_t number = 1; number <= 40; ++number) EXPECT_FALSE(window.accept(number));
}

TEST(Window, GoesRoundTheEndOfTheNumbers) {
  Window window;

  EXPECT_TRUE(window.accept(0xfffffffe));
  EXPECT_TRUE(window.accept(2));
  EXPECT_TRUE(window.accept(0xffffffff));
  EXPECT_FALSE(window.accept(0xfffffffe));
}

TEST(Exchange, FinishesWithItsOwnReplyOnly) {
  Pair pair{kSuite3};
  Exchange exchange{&pair.console, kGetDeviceId, 5, {}};
  const auto request = std::get<Send>(exchange.start()).datagram;
  Pair other{kSuite3};
  Exchange earlier{&other.console, kGetDeviceId, 4, {}};
  const auto late = reply_to(other.bmc, std::get<Send>(earlier.start()).datagram, kGetDeviceId);
  const auto reply = reply_to(pair.bmc, request, kGetDeviceId);
  ASSERT_EQ(late.size(), reply.size());

  EXPECT_TRUE(std::holds_alternative<Wait>(exchange.on_datagram(late)));
  // With the same sequence number as the late one: taken for a repetition, and asked again.
  EXPECT_TRUE(std::holds_alternative<Wait>(exchange.on_datagram(reply)));
  const auto again = std::get<Send>(exchange.on_timeout()).datagram;
  const auto done = exchange.on_datagram(reply_to(pair.bmc, again, kGetDeviceId));

  EXPECT_TRUE(std::holds_alternative<Done>(done));
  EXPECT_EQ(exchange.outcome()->data, Bytes{0x42});
}

TEST(Exchange, RepeatsWithTheSameNumberOfItsOwnAndAnotherOfTheSession) {
  Pair pair{kSuite3};
  Exchange exchange{&pair.console, kGetDeviceId, 5, {}};

  const auto first = pair.bmc.open(std::get<Send>(exchange.start()).datagram);
  const auto second = pair.bmc.open(std::get<Send>(exchange.on_timeout()).datagram);

  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->payload, second->payload);
}

TEST(Exchange, OfWhatIsSentOnceEndsWithoutARepetition) {
  Pair pair{kSuite3};
  Exchange exchange{&pair.console, kColdReset, 5, {}};

  EXPECT_TRUE(std::holds_alternative<Send>(exchange.start()));
  EXPECT_TRUE(std::holds_alternative<Done>(exchange.on_timeout()));
  const auto outcome = exchange.outcome();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kTimeout);
  EXPECT_THAT(outcome.error().what, HasSubstr("not repeated: it may have been done"));
}

TEST(Message, HasTheChecksumsOfIpmitoolsOwn) {
  // Captured: Get Channel Authentication Capabilities, before there is a session.
  const auto message = request_message(kGetAuthenticationCapabilities, 0, from_hex("8e04"));

  EXPECT_EQ(plain_message(message), from_hex("0600ff07000000000000000000092018c88100388e04b5"));
}

TEST(Message, NamesCommandAndCompletionCode) {
  EXPECT_EQ(error_of(kGetSdr, 0xca).what, "Get SDR: cannot return that many bytes (0xca)");
  EXPECT_EQ(error_of(kGetSdr, 0xc0).code, Code::kBusy);
  EXPECT_EQ(error_of(kGetSdr, 0xd4).code, Code::kRefused);
  EXPECT_EQ(error_of(kGetSdr, 0xc1).code, Code::kUnsupported);
  EXPECT_EQ(error_of(kGetSdr, 0x91).code, Code::kFailed);
}

TEST(Pong, TellsOfIpmi) {
  // ASF 2.0, 3.2.4.3: IANA number of ASF, OEM data, entities with IPMI, no interactions.
  const auto pong =
      parse_pong(from_hex("0600ff06 000011be 4042 0010 000011be 00000000 81 00 000000000000"));

  ASSERT_TRUE(pong);
  EXPECT_EQ(pong->tag, 0x42);
  EXPECT_TRUE(pong->ipmi);
  EXPECT_FALSE(parse_pong(presence_ping(0x42)));
  EXPECT_FALSE(parse_pong(from_hex("0600ff06 000011be 4042 0010 000011be")));
}

}  // namespace
}  // namespace cupel::bmc::ipmi
