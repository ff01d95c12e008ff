// What two nodes reported of the TCP between them, as findings about the link.
#include <gmock/gmock.h>

#include "burnin/group_stage.h"

namespace cupel::burnin {
namespace {

using inventory::Subject;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// As cupel-node prints it. The numbers are made, so that each can be distinguished from the others.
constexpr const char* kServer =
    R"({"kind":"tcp-ready","port":40123,"token":"0123456789abcdef0123456789abcdef"}
{"kind":"tcp-received","bytes":1250000000,"seconds":1}
{"kind":"tcp-sent","bytes":625000000,"segments":10000,"retransmits":250,"rtt_us":81}
{"kind":"tcp-refused","count":3}
)";
constexpr const char* kClient =
    R"({"kind":"tcp-sent","bytes":1250000000,"segments":20000,"retransmits":0,"rtt_us":80}
{"kind":"tcp-received","bytes":625000000,"seconds":2}
)";

const std::vector<Member> kMembers{{"n1", "10.0.0.1"}, {"n2", "10.0.0.2"}};

const GroupStage& pair() { return *stage("tcp-pair")->group; }

Result<GroupFindings> analysed(std::string server, std::string client) {
  const std::vector<Output> outputs{{std::move(server), "", 0}, {std::move(client), "", 0}};
  return pair().analyse_group({}, kMembers, outputs);
}

TEST(TcpPair, MeasuresEachDirectionOfTheLink) {
  const auto found = analysed(kServer, kClient);

  ASSERT_TRUE(found) << found.error().what;
  const Subject link{Subject::Kind::link, "n1", "10.0.0.1", "n2", "10.0.0.2"};
  const std::vector<LinkMeasurement> expected{
      {link, {"tcp.throughput", "", 10, "Gb/s", "n2 to n1"}},
      {link, {"tcp.retransmits", "", 0, "%", "n2 to n1"}},
      {link, {"tcp.rtt", "", 80, "us", "n2 to n1"}},
      {link, {"tcp.throughput", "", 2.5, "Gb/s", "n1 to n2"}},
      {link, {"tcp.retransmits", "", 2.5, "%", "n1 to n2"}},
      {link, {"tcp.rtt", "", 81, "us", "n1 to n2"}}};
  EXPECT_EQ(found->links, expected);
  ASSERT_EQ(found->members.size(), 2u);
  EXPECT_THAT(found->members[0].measurements,
              ElementsAre(Measurement{"tcp.links", "", 1, "links"},
                          Measurement{"tcp.refused", "", 3, "count"}));
  EXPECT_THAT(found->members[1].measurements,
              ElementsAre(Measurement{"tcp.links", "", 1, "links"}));
}

TEST(TcpPair, ProvesNothingWhereBytesThatWereSentDidNotCome) {
  std::string lost{kClient};
  lost.replace(lost.find("625000000"), 9, "624999999");

  const auto found = analysed(kServer, lost);

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kMalformed);
  EXPECT_THAT(found.error().what, HasSubstr("n1 to n2: 625000000 bytes were sent, and 624999999"));
}

TEST(TcpPair, ProvesNothingWhereALineIsMissingOrCut) {
  const std::string server{kServer}, client{kClient};
  for (const auto& cut : {std::string{}, client.substr(0, client.size() - 1),
                          client.substr(client.find('\n') + 1), std::string{"OK\n"}}) {
    EXPECT_FALSE(analysed(server, cut)) << cut;
  }
  auto at_once = client;
  at_once.replace(at_once.find("\"seconds\":2"), 11, "\"seconds\":1e-300");
  EXPECT_FALSE(analysed(server, at_once));
  for (const auto* bad : {"-1", "null", "\"5\"", "1e300", "0"}) {
    auto text = client;
    text.replace(text.find("20000"), 5, bad);
    EXPECT_FALSE(analysed(server, text)) << bad;
  }
}

TEST(TcpPair, HandsOverPortAndTokenOnceTheLineIsWhole) {
  const std::string server{kServer};
  const auto line = server.substr(0, server.find('\n') + 1);

  EXPECT_EQ(pair().shared(line.substr(0, line.size() - 1)), std::nullopt);
  EXPECT_EQ(pair().shared(line), "40123 0123456789abcdef0123456789abcdef");
  EXPECT_TRUE(is_shared_value(*pair().shared(line)));
  for (const auto* bad : {"", "a'b", "$(reboot)", "a\nb", "a;b"})
    EXPECT_FALSE(is_shared_value(bad));
}

TEST(TcpPair, GivesServerAndClientTheirOwnJobs) {
  const auto jobs = pair().prepare_group(kMembers, {{"port", "5201"}, {"duration", "7s"}});

  ASSERT_TRUE(jobs);
  ASSERT_EQ(jobs->size(), 2u);
  EXPECT_EQ((*jobs)[0].role, "server");
  EXPECT_THAT((*jobs)[0].script, HasSubstr("tcp serve --port 5201 --seconds 7"));
  EXPECT_EQ((*jobs)[1].role, "client");
  EXPECT_THAT((*jobs)[1].script, HasSubstr("tcp send --to '10.0.0.1' --port"));
  EXPECT_THAT((*jobs)[1].script, ::testing::Not(HasSubstr("5201")))
      << "the port is what the server reports";
}

TEST(TcpPair, RefusesAPortThatIsNone) {
  for (const auto* bad : {"0", "65536", "-1", "ssh", "5201 --most 1"}) {
    const auto refused = stage("tcp-pair")->prepare({}, {{"port", bad}});
    ASSERT_FALSE(refused) << bad;
    EXPECT_THAT(refused.error().what, HasSubstr("port must be any, or 1 to 65535"));
  }
}

}  // namespace
}  // namespace cupel::burnin
