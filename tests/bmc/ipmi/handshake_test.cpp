// Setting up a session: what ipmitool and ipmi_sim said to each other (captured between the two),
// and suite 17 computed by Python's hmac and `openssl enc -aes-128-cbc`.
#include "bmc/ipmi/handshake.h"

#include <gmock/gmock.h>

#include "bmc/ipmi/commands.h"
#include "bmc/ipmi/exchange.h"
#include "tests/bmc/ipmi/hexes.h"

namespace cupel::bmc::ipmi {
namespace {

using ::testing::HasSubstr;

constexpr const char* kOpenResponse =
    "0600ff0706110000000000000000240000000000a4a3a2a00200000000000008010000000100000801000000020000"
    "0801000000";
constexpr const char* kRakp1 =
    "0600ff07061200000000000000002100000000000200000069433bd71a8980f09ed34387ea79aba814000005"
    "61646d696e";
constexpr const char* kRakp2 =
    "0600ff07061300000000000000003c0000000000a4a3a2a0d02023bc8d136584c0b492aea11094e2a123456789abcd"
    "efa123456789abcdefa68785f9cb622b2d01f28abfa767487e461fe05c";
constexpr const char* kRakp3 =
    "0600ff07061400000000000000001c0000000000020000000197e13ab7e50c3c32ba60004cde819572b17b38";
constexpr const char* kRakp4 =
    "0600ff0706150000000000000000140000000000a4a3a2a0ae4722cb77429c32ddc62fb8";
/// ipmi_sim's answer to a suite that it does not have: two bytes of payload.
constexpr const char* kNoSuite17 = "0600ff070611000000000000000002000004";
constexpr int kTag = 16, kStatus = 17;  // where they are in a datagram

/// ipmitool numbers all messages of a handshake 0; we count.
Bytes reported(const char* text, int tag) { return with_byte(from_hex(text), kTag, tag); }

Block block(std::string_view text) {
  Block made;
  std::ranges::copy(from_hex(text), made.begin());
  return made;
}

/// ipmitool's own choices, so that what follows from them must be the same.
Login as_ipmitool(std::string password = "open-sesame") {
  return {.suite = kSuite3,
          .user = "admin",
          .password = std::move(password),
          .session = 0xa0a2a3a4,
          .random = block("69433bd71a8980f09ed34387ea79aba8")};
}

Login with_suite_17() {
  return {.suite = kSuite17,
          .user = "admin",
          .password = "open-sesame",
          .session = 0x11223344,
          .random = block("101112131415161718191a1b1c1d1e1f"),
          .tag = 7};
}

Bytes sent(const Action& action) {
  const auto* send = std::get_if<Send>(&action);
  return send != nullptr ? send->datagram : Bytes{};
}

bool is_done(const Action& action) { return std::holds_alternative<Done>(action); }
bool waits(const Action& action) { return std::holds_alternative<Wait>(action); }

TEST(Handshake, SendsWhatIpmitoolSendsAndAcceptsWhatIpmiSimAnswers) {
  Handshake handshake{as_ipmitool()};

  const auto open = sent(handshake.start());
  const auto rakp1 = sent(handshake.on_datagram(reported(kOpenResponse, 0)));
  const auto rakp3 = sent(handshake.on_datagram(reported(kRakp2, 1)));
  const auto end = handshake.on_datagram(reported(kRakp4, 2));

  // ipmitool leaves the privilege to the BMC where we name it: the fifth byte from the payload's.
  EXPECT_EQ(open, from_hex("0600ff0706100000000000000000200000040000a4a3a2a00000000801000000"
                           "01000008010000000200000801000000"));
  EXPECT_EQ(rakp1, reported(kRakp1, 1));
  EXPECT_EQ(rakp3, reported(kRakp3, 2));
  EXPECT_TRUE(is_done(end));
  EXPECT_TRUE(handshake.outcome());
}

TEST(Handshake, OpensWhatIpmiSimSealed) {
  Handshake handshake{as_ipmitool()};
  handshake.start();
  handshake.on_datagram(reported(kOpenResponse, 0));
  handshake.on_datagram(reported(kRakp2, 1));
  handshake.on_datagram(reported(kRakp4, 2));
  auto session = handshake.outcome();
  ASSERT_TRUE(session);

  const auto opened = session->open(from_hex(
      "0600ff0706c0a4a3a2a001000000200053e60f1565d7e9560bf832902d7c376b6db6d0f4b5587fca306b"
      "06f932e3ad09ffff0207c48df9627f165df47cc169e5"));

  ASSERT_TRUE(opened);
  // Set Session Privilege Level, rqSeq 1: the session is an administrator's.
  const Command command{0x06, 0x3b, ""};
  const auto& message = opened->payload;
  const auto reply = parse_reply(message, command, message.at(4) >> 2);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->data, Bytes{4});
}

TEST(Handshake, WithSuite17FollowsTheStandardsOwnFormulas) {
  Handshake handshake{with_suite_17()};

  handshake.start();
  handshake.on_datagram(from_hex(
      "0600ff0706110000000000000000240007000400443322118877665500000008030000000100000804000"
      "0000200000801000000"));
  const auto rakp3 = sent(handshake.on_datagram(from_hex(
      "0600ff070613000000000000000048000800000044332211a0a1a2a3a4a5a6a7a8a9aaabacadaeafc0c1c"
      "2c3c4c5c6c7c8c9cacbcccdcecfaa26a8258c7a2873277a62b20caf4575308712e1b6d2bce8f0f26235"
      "af862220")));
  const auto end = handshake.on_datagram(
      from_hex("0600ff07061500000000000000001800090000004433221162dfa575f46f2140088859c39eb40dba"));
  auto session = handshake.outcome();

  EXPECT_EQ(rakp3,
            from_hex("0600ff070614000000000000000028000900000088776655a4c10ce6193edcb7ad706e40"
                     "c345e1b7bb35660d57a74e7b7f8d454ac756d99d"));
  EXPECT_TRUE(is_done(end));
  ASSERT_TRUE(session);
  const auto reply = session->open(from_hex(
      "0600ff0706c044332211010000003000303132333435363738393a3b3c3d3e3f563b324a01160345aa35"
      "04eb32f6410a62420df60508ceb426a6daac677800c3ffff02076fd4e9d39115be8f67c893268bd5434a"));
  ASSERT_TRUE(reply);
  const auto device = parse_reply(reply->payload, kGetDeviceId, 1);
  ASSERT_TRUE(device);
  EXPECT_EQ(device->data, from_hex("2081090802dfa202003412"));
}

TEST(Handshake, RefusesAWrongPasswordBeforeProvingAnything) {
  Handshake handshake{as_ipmitool("open-barley")};
  handshake.start();
  handshake.on_datagram(reported(kOpenResponse, 0));

  const auto end = handshake.on_datagram(reported(kRakp2, 1));

  EXPECT_TRUE(is_done(end));
  const auto outcome = handshake.outcome();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::kRefused);
  EXPECT_THAT(outcome.error().what, HasSubstr("RAKP Message 1"));
  // The BMC gets an answer, with a status and without a code, so that it forgets the session.
  EXPECT_EQ(handshake.parting(), from_hex("0600ff070614000000000000000008"
                                          "00020f000002000000"));
}

TEST(Handshake, KnowsWhatEachStatusMeans) {
  struct Case {
    int status;
    Code code;
    bool role;
  };
  for (const auto& [status, code, role] :
       {Case{0x01, Code::kBusy, false}, Case{0x09, Code::kRefused, true},
        Case{0x0a, Code::kRefused, true}, Case{0x0d, Code::kRefused, false},
        Case{0x0f, Code::kRefused, false}, Case{0x11, Code::kUnsupported, false},
        Case{0x77, Code::kFailed, false}}) {
    Handshake handshake{as_ipmitool()};
    handshake.start();
    handshake.on_datagram(reported(kOpenResponse, 0));

    const auto end = handshake.on_datagram(with_byte(reported(kRakp2, 1), kStatus, status));

    EXPECT_TRUE(is_done(end)) << status;
    EXPECT_EQ(handshake.outcome().error().code, code) << status;
    EXPECT_EQ(handshake.refused_role(), role) << status;
  }
}

TEST(Handshake, TakesARefusalThatNamesNoSession) {
  Handshake handshake{as_ipmitool()};
  handshake.start();
  handshake.on_datagram(reported(kOpenResponse, 0));
  auto refusal = with_byte(reported(kRakp2, 1), kStatus, 0x12);
  for (int byte = 3; byte < 7; ++byte) refusal = with_byte(refusal, kStatus + byte, 0);

  const auto end = handshake.on_datagram(refusal);

  EXPECT_TRUE(is_done(end));
  EXPECT_TRUE(handshake.unproven()) << "it counts when it comes twice";
  EXPECT_EQ(handshake.outcome().error().code, Code::kUnsupported);
}

TEST(Handshake, TakesARefusalThatEndsAfterItsStatus) {
  auto login = as_ipmitool();
  login.suite = kSuite17;
  Handshake handshake{login};
  handshake.start();

  const auto end = handshake.on_datagram(from_hex(kNoSuite17));

  EXPECT_TRUE(is_done(end));
  EXPECT_TRUE(handshake.unproven()) << "it names no session";
  EXPECT_EQ(handshake.outcome().error().code, Code::kUnsupported);
}

TEST(Handshake, RefusesAWeakerSuiteThanItAskedFor) {
  Handshake handshake{as_ipmitool()};
  handshake.start();
  constexpr int kConfidentiality = -4;  // of three algorithm payloads the last; 0 is none

  handshake.on_datagram(with_byte(reported(kOpenResponse, 0), kConfidentiality, 0));

  EXPECT_EQ(handshake.outcome().error().code, Code::kUnsupported);
}

TEST(Handshake, LeavesForeignLateAndCutDatagramsAside) {
  Handshake handshake{as_ipmitool()};
  handshake.start();

  EXPECT_TRUE(waits(handshake.on_datagram({})));
  EXPECT_TRUE(waits(handshake.on_datagram(reported(kOpenResponse, 9))));  // another tag
  EXPECT_TRUE(
      waits(handshake.on_datagram(with_byte(reported(kOpenResponse, 0), 20, 1))));  // session
  EXPECT_TRUE(waits(handshake.on_datagram(reported(kRakp2, 0))));                   // not yet
  const auto whole = reported(kOpenResponse, 0);
  EXPECT_TRUE(waits(handshake.on_datagram(View{whole}.first(whole.size() - 1))));

  const auto rakp1 = sent(handshake.on_datagram(whole));
  EXPECT_EQ(rakp1, reported(kRakp1, 1));
}

TEST(Handshake, RejectsABmcThatCannotProveTheKey) {
  Handshake handshake{as_ipmitool()};
  handshake.start();
  handshake.on_datagram(reported(kOpenResponse, 0));
  handshake.on_datagram(reported(kRakp2, 1));

  EXPECT_TRUE(waits(handshake.on_datagram(with_byte(reported(kRakp4, 2), -1, 0))));
  EXPECT_TRUE(is_done(handshake.on_datagram(reported(kRakp4, 2))));
  EXPECT_TRUE(handshake.outcome());
}

TEST(Handshake, DoesNotBlameThePasswordWhereTwoAnswersCrossed) {
  Handshake handshake{as_ipmitool()};
  handshake.start();
  handshake.on_datagram(reported(kOpenResponse, 0));
  handshake.on_timeout();  // RAKP 1 goes out again, and the BMC takes a new random number
  handshake.on_datagram(reported(kRakp2, 1));

  handshake.on_datagram(with_byte(reported(kRakp4, 2), kStatus, 0x0f));

  EXPECT_EQ(handshake.outcome().error().code, Code::kUnreachable);
}

TEST(Handshake, AsksFiveTimesAndLongerEachTime) {
  Handshake handshake{as_ipmitool()};
  std::vector<Ticks> waits_for;

  for (auto action = handshake.start(); !is_done(action); action = handshake.on_timeout())
    waits_for.push_back(std::get<Send>(action).answer_within);

  EXPECT_THAT(waits_for, ::testing::ElementsAre(Ticks{1000}, Ticks{1500}, Ticks{2250}, Ticks{3375},
                                                Ticks{5000}));
  EXPECT_EQ(handshake.outcome().error().code, Code::kTimeout);
}

TEST(Handshake, StartsAgainAfterAStallAndClosesTheOldSession) {
  Handshake handshake{as_ipmitool()};
  handshake.start();
  handshake.on_datagram(reported(kOpenResponse, 0));
  handshake.on_datagram(reported(kRakp2, 1));

  const auto again = handshake.on_timeout();
  const auto end = handshake.on_timeout();

  EXPECT_EQ(sent(again), reported(kRakp3, 2));
  EXPECT_TRUE(is_done(end));
  EXPECT_TRUE(handshake.stuck());
  const auto packet = parse_packet(handshake.parting());
  ASSERT_TRUE(packet) << "Close Session, in the session that the BMC may have";
  EXPECT_EQ(packet->session, 2u);
  EXPECT_TRUE(packet->authenticated);
}

}  // namespace
}  // namespace cupel::bmc::ipmi
