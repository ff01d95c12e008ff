// What becomes of an answer, on real sockets.
#include "orchestrator/images/http_server.h"

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <future>

namespace cupel::images {
namespace {

using namespace std::chrono_literals;
using tcp = asio::ip::tcp;

TEST(HttpServer, ReportsAnAnswerWhosePeerWasGoneBeforeItsFirstByte) {
  std::promise<void> asked, gone;
  std::promise<Sent> ended;
  const auto answering = [&](const HttpRequest&) {
    asked.set_value();
    gone.get_future().wait();
    return HttpAnswer{.status = 200, .body = {{.text = "a secret"}}, .sent = [&](const Sent& sent) {
                        ended.set_value(sent);
                      }};
  };
  auto started =
      HttpServer::start("test", {.endpoint = {asio::ip::make_address("127.0.0.1"), 0}}, answering);
  ASSERT_TRUE(started) << started.error().what;
  asio::io_context io;
  tcp::socket peer{io};
  peer.connect({asio::ip::make_address("127.0.0.1"), (*started)->port()});
  asio::write(peer, asio::buffer(std::string{"GET /seed HTTP/1.1\r\nHost: x\r\n\r\n"}));
  asked.get_future().wait();

  peer.set_option(tcp::socket::linger{true, 0});  // a reset, not an orderly end
  peer.close();
  gone.set_value();

  auto outcome = ended.get_future();
  ASSERT_EQ(outcome.wait_for(60s), std::future_status::ready);
  const auto sent = outcome.get();
  EXPECT_EQ(sent.bytes, 0u);
  EXPECT_FALSE(sent.whole);
}

TEST(HttpServer, SaysWhatToDoWhereItsPortIsTakenAndNothingOfItsOwnInside) {
  const auto none = [](const HttpRequest&) { return HttpAnswer{.status = 404}; };
  const auto first = HttpServer::start(
      "boot server", {.endpoint = {asio::ip::make_address("127.0.0.1"), 0}}, none);
  ASSERT_TRUE(first) << first.error().what;
  const auto port = (*first)->port();

  const auto second = HttpServer::start(
      "boot server", {.endpoint = {asio::ip::make_address("127.0.0.1"), port}}, none);

  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kConflict);
  const auto& what = second.error().what;
  EXPECT_TRUE(what.starts_with("boot server: 127.0.0.1:" + std::to_string(port) +
                               ": Address already in use; another program listens there"))
      << what;
  for (const auto* internal : {"asio", "boost", "system:", ".hpp"})
    EXPECT_EQ(what.find(internal), std::string::npos) << internal << " stands in: " << what;
}

/// All that comes until the connection is closed.
std::string answered_to(const std::string& request, std::uint16_t port) {
  asio::io_context io;
  tcp::socket socket{io};
  socket.connect({asio::ip::make_address("127.0.0.1"), port});
  std::string all;
  boost::system::error_code closed;
  asio::write(socket, asio::buffer(request), closed);
  asio::read(socket, asio::dynamic_buffer(all), closed);
  return all;
}

TEST(HttpServer, ABodyWhoseEndIsInDoubtIsNotAnsweredAndEndsTheConnection) {
  auto started = HttpServer::start(
      "boot server", {.endpoint = {asio::ip::make_address("127.0.0.1"), 0}, .body_limit = 1024},
      [](const HttpRequest&) { return HttpAnswer{.status = 204}; });
  ASSERT_TRUE(started) << started.error().what;

  for (const auto* head :
       {"HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked",
        "HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5",
        "HTTP/1.1\r\nTransfer-Encoding: gzip, chunked", "HTTP/1.1\r\nTransfer-Encoding: xchunked",
        "HTTP/1.1\r\nContent-Length: 5, 0"})
    EXPECT_EQ(answered_to(std::string{"POST /home/x "} + head +
                              "\r\nHost: x\r\n\r\n0\r\n\r\nGET /boot/x HTTP/1.1\r\nHost: x\r\n\r\n",
                          (*started)->port()),
              "")
        << head;
}

/// A connection from an address of its own.
tcp::socket connected(asio::io_context& io, const char* from, std::uint16_t port) {
  tcp::socket socket{io, tcp::v4()};
  socket.bind({asio::ip::make_address(from), 0});
  socket.connect({asio::ip::make_address("127.0.0.1"), port});
  return socket;
}

/// The first line of the answer; empty where the connection was closed.
std::string answered(tcp::socket& socket, const std::string& target) {
  boost::system::error_code closed;
  asio::write(socket, asio::buffer("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n"), closed);
  asio::streambuf read;
  asio::read_until(socket, read, "\r\n\r\n", closed);
  std::string line;
  std::istream lines{&read};
  std::getline(lines, line);
  return line;
}

TEST(HttpServer, ThoseWhoAreServedNothingTakeNoMoreThanThreeQuartersOfItsConnections) {
  const auto answering = [](const HttpRequest& request) {
    return HttpAnswer{.status = request.target == "/granted" ? 200u : 404u};
  };
  const auto server = HttpServer::start(
      "test", {.endpoint = {asio::ip::make_address("127.0.0.1"), 0}, .connections = 8}, answering);
  ASSERT_TRUE(server) << server.error().what;
  const auto port = (*server)->port();
  asio::io_context io;
  auto served = connected(io, "127.0.0.2", port);
  ASSERT_TRUE(answered(served, "/granted").starts_with("HTTP/1.1 200"));
  std::vector<tcp::socket> others;
  for (int i = 0; i < 6; ++i) {
    others.push_back(connected(io, "127.0.0.3", port));
    ASSERT_TRUE(answered(others.back(), "/guess").starts_with("HTTP/1.1 404")) << i;
  }

  auto further = connected(io, "127.0.0.4", port);
  auto again = connected(io, "127.0.0.2", port);

  EXPECT_EQ(answered(further, "/granted"), "");
  EXPECT_TRUE(answered(again, "/granted").starts_with("HTTP/1.1 200"));
}

}  // namespace
}  // namespace cupel::images
