#include "bmc/ipmi/sol.h"

#include <gmock/gmock.h>

#include "tests/bmc/ipmi/hexes.h"

namespace cupel::bmc::ipmi {
namespace {

using ::testing::Optional;

TEST(Sol, AcknowledgesWhatTheMachineWrote) {
  SolStream stream{100};

  const auto answer = stream.hear(from_hex("01 00 00 00 68 69"));

  EXPECT_EQ(answer, from_hex("00 01 02 00"));
  EXPECT_EQ(stream.take_text(), "hi");
}

TEST(Sol, TakesARepeatedPacketOnceAndAcknowledgesItAgain) {
  SolStream stream{100};
  stream.hear(from_hex("0f 00 00 00 68 69"));

  const auto again = stream.hear(from_hex("0f 00 00 00 68 69"));
  stream.hear(from_hex("01 00 00 00 21"));

  EXPECT_EQ(again, from_hex("00 0f 02 00"));
  EXPECT_EQ(stream.take_text(), "hi!");
}

TEST(Sol, SendsNoMoreThanTheBmcTakes) {
  SolStream stream{3};

  EXPECT_EQ(stream.send("abcdef"), from_hex("01 00 00 00 61 62 63"));
  EXPECT_EQ(stream.delivered(), std::nullopt);
  stream.hear(from_hex("00 01 03 00"));
  EXPECT_THAT(stream.delivered(), Optional(3u));
}

TEST(Sol, ReportsHowMuchOfAPacketWasAccepted) {
  SolStream stream{100};
  stream.send("abcdef");

  stream.hear(from_hex("00 01 02 60"));  // NACK, transfer unavailable

  EXPECT_THAT(stream.delivered(), Optional(2u));
  EXPECT_TRUE(stream.paused());
  EXPECT_EQ(stream.send("cdef"), from_hex("02 00 00 00 63 64 65 66"));
}

TEST(Sol, LeavesAcknowledgementsOfOtherPacketsAside) {
  SolStream stream{100};
  stream.send("a");

  stream.hear(from_hex("00 02 01 00"));
  stream.hear(from_hex("00 00 01 00"));

  EXPECT_EQ(stream.delivered(), std::nullopt);
  EXPECT_EQ(stream.on_its_way(), from_hex("01 00 00 00 61"));
}

TEST(Sol, CountsFrom1To15) {
  SolStream stream{100};
  for (int i = 1; i <= 15; ++i) {
    EXPECT_EQ(stream.send("a")[0], i);
    stream.hear(Bytes{0, static_cast<std::uint8_t>(i), 1, 0});
  }
  EXPECT_EQ(stream.send("a")[0], 1);
}

TEST(Sol, StopsReadingWhereItsReaderIsSlow) {
  SolStream stream{100};
  Bytes packet(kSolHeader + 255, 'x');
  packet[0] = packet[1] = packet[2] = packet[3] = 0;
  Bytes answer;
  do {
    packet[0] = packet[0] % 15 + 1;
    answer = stream.hear(packet);
  } while (answer[3] == 0);

  EXPECT_EQ(answer, (Bytes{0, packet[0], 0, 0x40}));
  EXPECT_LE(stream.take_text().size(), SolStream::kLargestInbox);
  EXPECT_EQ(stream.hear(packet)[2], 255) << "the same packet, once there is room";
}

TEST(Sol, HearsItsEnd) {
  SolStream stream{100};

  stream.hear(from_hex("00 00 00 10"));

  EXPECT_TRUE(stream.ended());
  EXPECT_EQ(stream.hear(from_hex("01 00")), Bytes{});
}

TEST(Sol, SendsABreak) {
  SolStream stream{100};

  EXPECT_EQ(stream.send_break(), from_hex("01 00 00 10"));
}

}  // namespace
}  // namespace cupel::bmc::ipmi
