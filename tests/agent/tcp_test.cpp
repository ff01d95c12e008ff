// The real `cupel-node tcp` on loopback: what both sides report, and who is refused.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/json.h"
#include "base/text.h"
#include "burnin/agent/common/descriptor.h"
#include "tests/support/captures.h"

namespace cupel::agent {
namespace {

using ::testing::HasSubstr;

/// `cupel-node tcp ...` under way; its standard error comes with its output.
class TcpProgram {
 public:
  explicit TcpProgram(const std::string& words)
      : stream_{::popen(("exec " NODE_BINARY " tcp " + words + " 2>&1").c_str(), "re")} {}

  json::object line() {
    std::string text;
    for (int c = 0; (c = std::fgetc(stream_)) != EOF && c != '\n';) text += static_cast<char>(c);
    const auto value = parse_json(text);
    return value && value->is_object() ? value->get_object() : json::object{{"text", text}};
  }
  int end() {
    while (std::fgetc(stream_) != EOF) {
    }
    const int status = ::pclose(stream_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  FILE* stream_;
};

/// A server that has said where it listens.
struct TcpServer {
  TcpProgram program{"serve --seconds 1 --most 4M --wait 60"};
  json::object ready = program.line();
  std::string port = std::to_string(ready.at("port").to_number<int>());
  std::string token{ready.at("token").get_string()};
};

/// Connects, says `hello`, and returns what came before the server closed the connection.
std::string answer_to(const std::string& hello, const std::string& port) {
  const Descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(number<std::uint16_t>(port).value());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    return "refused";
  if (::send(socket.number(), hello.data(), hello.size(), MSG_NOSIGNAL) < 0) return "closed";
  std::array<char, 256> bytes{};
  const auto got = ::recv(socket.number(), bytes.data(), bytes.size(), 0);
  return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : "";
}

class Tcp : public ::testing::Test {
 protected:
  /// `tcp send` with this token on its standard input.
  std::string words(const TcpServer& server, const std::string& token) {
    const auto file = folder.path() / "token";
    std::ofstream{file} << token << "\n";
    return "send --to 127.0.0.1 --port " + server.port + " --seconds 1 --most 4M < " +
           file.string();
  }
  test::TemporaryFolder folder{};
};

TEST_F(Tcp, CountsAtBothEndsWhatCameInEachDirection) {
  TcpServer server;
  TcpProgram client{words(server, server.token)};

  const auto sent_up = client.line(), received_up = server.program.line();
  const auto received_down = client.line(), sent_down = server.program.line();
  const auto strangers = server.program.line();

  EXPECT_EQ(client.end(), 0);
  EXPECT_EQ(server.program.end(), 0);
  EXPECT_EQ(sent_up.at("kind"), "tcp-sent");
  EXPECT_EQ(received_up.at("kind"), "tcp-received");
  for (const auto& [sent, received] :
       {std::pair{sent_up, received_up}, {sent_down, received_down}}) {
    EXPECT_EQ(sent.at("bytes"), received.at("bytes"));
    EXPECT_EQ(sent.at("bytes").to_number<int>(), 4 << 20) << "its bound, before a second is over";
    EXPECT_GT(received.at("seconds").to_number<double>(), 0);
    EXPECT_GT(sent.at("segments").to_number<int>(), 0);
    EXPECT_LE(sent.at("retransmits").to_number<int>(), sent.at("segments").to_number<int>());
  }
  EXPECT_EQ(strangers.at("count").to_number<int>(), 0);
}

TEST_F(Tcp, RefusesWhoDoesNotKnowTheTokenAndStillServesWhoDoes) {
  TcpServer server;
  const auto other = std::string(server.token.size(), '0');

  EXPECT_EQ(answer_to("GET / HTTP/1.1\r\n\r\n", server.port), "");
  EXPECT_EQ(answer_to(other + " up\n", server.port), "");
  EXPECT_EQ(answer_to(server.token + " down\n", server.port), "") << "not its turn";
  EXPECT_EQ(answer_to(std::string(5000, 'x'), server.port), "");
  TcpProgram stranger{words(server, other)};
  EXPECT_THAT(serialize(json::value{stranger.line()}), HasSubstr("refused the token"));
  EXPECT_EQ(stranger.end(), 2);

  TcpProgram client{words(server, server.token)};
  EXPECT_EQ(client.end(), 0);
  for (int i = 0; i < 2; ++i) server.program.line();
  EXPECT_EQ(server.program.line().at("count").to_number<int>(), 5);
  EXPECT_EQ(server.program.end(), 0);
}

TEST_F(Tcp, MakesAnotherTokenEachTime) {
  TcpServer one, other;

  EXPECT_EQ(one.token.size(), 32u);
  EXPECT_NE(one.token, other.token);

  for (auto* each : {&one, &other}) {
    TcpProgram client{words(*each, each->token)};
    EXPECT_EQ(client.end(), 0);
    EXPECT_EQ(each->program.end(), 0);
  }
}

TEST_F(Tcp, EndsWhereNoClientConnectsInTime) {
  TcpProgram server{"serve --wait 1"};
  server.line();

  EXPECT_THAT(serialize(json::value{server.line()}), HasSubstr("the other node did not connect"));
  EXPECT_EQ(server.end(), 2);
}

TEST_F(Tcp, ReportsThatNoServerListens) {
  std::string port;
  {
    TcpServer gone;
    port = gone.port;
    TcpProgram client{words(gone, gone.token)};
    EXPECT_EQ(client.end(), 0);
    EXPECT_EQ(gone.program.end(), 0);
  }
  const auto file = folder.path() / "token";
  TcpProgram client{"send --to 127.0.0.1 --port " + port + " < " + file.string()};

  EXPECT_THAT(serialize(json::value{client.line()}), HasSubstr("Connection refused"));
  EXPECT_EQ(client.end(), 2);
}

TEST_F(Tcp, RefusesOptionsThatItDoesNotKnow) {
  for (const auto* words : {"", "listen", "serve --to x", "send --port 5", "send --to x",
                            "serve --seconds 0", "serve more"}) {
    TcpProgram program{std::string{words} + " < /dev/null"};
    EXPECT_EQ(program.end(), 64) << words;
  }
}

}  // namespace
}  // namespace cupel::agent
