// What NCCL's RAS says: read from a loopback port, bounded, and only as evidence.
#include "burnin/agent/burn/nccl_ras.h"

#include <gmock/gmock.h>

#include "tests/burn/ras_server.h"

namespace cupel::burn {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using namespace std::chrono_literals;

Outcome<std::string> ask(const RasServer& server, std::chrono::milliseconds within = 4s) {
  return ask_ras({"127.0.0.1", server.port()}, within);
}

TEST(NcclRas, AsksWithALimitForOtherNodesAndKeepsTheWholeAnswer) {
  RasServer server{kRasOfOneRank};

  const auto text = ask(server);

  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, kRasOfOneRank);
  EXPECT_EQ(server.asked(), "CLIENT PROTOCOL 2\nTIMEOUT 2\nVERBOSE STATUS\n");
}

TEST(NcclRas, FindsNothingWhereAllCommunicatorsRun) {
  const auto found = ras_findings(kRasOfOneRank);

  EXPECT_THAT(found.communicators, IsEmpty());
  EXPECT_THAT(found.errors, IsEmpty());
}

TEST(NcclRas, FindsACommunicatorThatDoesNotRunAndTheLinesUnderErrors) {
  std::string text{kRasOfOneRank};
  text.replace(text.find("RUNNING      OK"), 15, "   INIT TIMEOUT");
  text.insert(text.find("Warnings"), "Process 7 on node 10.0.0.2 is missing\n");

  const auto found = ras_findings(text);

  EXPECT_THAT(found.communicators,
              ElementsAre("group 0: 1 ranks (1 a communicator), status INIT, errors TIMEOUT"));
  EXPECT_THAT(found.errors, ElementsAre("Process 7 on node 10.0.0.2 is missing"));
}

TEST(NcclRas, FindsNothingInATextThatIsLaidOutInAnotherWay) {
  for (const auto* text : {"", "Communicators", "Communicators\n====\n0 1 2\n", "Errors\n",
                           "Errors\n=====\n", "====\n====\n"}) {
    EXPECT_THAT(ras_findings(text).communicators, IsEmpty()) << text;
    EXPECT_THAT(ras_findings(text).errors, IsEmpty()) << text;
  }
}

TEST(NcclRas, EndsAnAnswerThatNeverEnds) {
  RasServer server{[](int connection, const std::atomic<bool>& is_over) {
    std::string_view text = kRasOfOneRank;
    while (!is_over && ::send(connection, text.data(), text.size(), MSG_NOSIGNAL) > 0)
      text = "more of it and no end\n";
  }};

  const auto text = ask(server, 24h);

  ASSERT_TRUE(text) << text.error().message;
  EXPECT_LE(text->size(), 16384u);
}

TEST(NcclRas, DoesNotWaitLongerForOneThatNeverAnswers) {
  RasServer server{[](int connection, const std::atomic<bool>& is_over) {
    pollfd closed{.fd = connection, .events = POLLRDHUP, .revents = 0};
    while (!is_over && ::poll(&closed, 1, 20) == 0) continue;
  }};

  const auto text = ask(server, 300ms);

  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, "nccl");
  EXPECT_THAT(text.error().message, HasSubstr("did not answer in time"));
}

TEST(NcclRas, KeepsNoControlCharactersAndNoLongLines) {
  const std::string hostile = "SERVER PROTOCOL 2\nOK\n\x1b]0;title\x07\x1b[2J\xff\xfe\r\n" +
                              std::string(5000, 'x') + "\nend\n";
  RasServer server{hostile};

  const auto text = ask(server);

  ASSERT_TRUE(text) << text.error().message;
  for (const char c : *text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~'));
  EXPECT_THAT(*text, AllOf(HasSubstr("?]0;title??[2J??\n"), HasSubstr("\nend\n")));
  EXPECT_LT(text->size(), 400u);
}

TEST(NcclRas, TakesNothingFromAnotherService) {
  RasServer server{"HTTP/1.1 400 Bad Request\r\n\r\n"};

  const auto text = ask(server);

  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("is not RAS"));
}

TEST(NcclRas, ReportsThatNoServerListens) {
  std::uint16_t port = 0;
  {
    RasServer gone{kRasOfOneRank};
    port = gone.port();
  }

  const auto text = ask_ras({"127.0.0.1", port}, 2s);

  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message,
              AllOf(HasSubstr("127.0.0.1:" + std::to_string(port)), HasSubstr("refused")));
}

TEST(NcclRas, AsksItsOwnLoopbackAlone) {
  EXPECT_EQ(ras_place(nullptr)->port, 28028);
  EXPECT_EQ(ras_place("")->address, "127.0.0.1");
  EXPECT_EQ(ras_place("localhost:4711")->port, 4711);
  EXPECT_EQ(ras_place("127.0.0.9:4711")->address, "127.0.0.9");
  for (const auto* other : {"10.0.0.1:28028", "example.org:28028", "localhost", "localhost:0",
                            "localhost:70000", ":28028", "[::1]:28028", "127.0.0.1:28028:1"})
    EXPECT_FALSE(ras_place(other)) << other;
}

TEST(NcclRas, WritesOneLineWithItsFindingsOrWithTheReason) {
  EXPECT_EQ(ras_line(std::string{"SERVER PROTOCOL 2\nOK\n"}).object_text(),
            R"({"kind":"ras","communicators":[],"errors":[],"text":"SERVER PROTOCOL 2\nOK\n"})");
  EXPECT_THAT(ras_line(Failure{.code = "nccl", .message = "nobody"}).object_text(),
              R"({"kind":"ras","message":"nobody"})");
}

}  // namespace
}  // namespace cupel::burn
