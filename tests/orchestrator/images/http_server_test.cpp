// What becomes of an answer, on real sockets.
#include "orchestrator/images/http_server.h"

#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
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
  ASSERT_EQ(outcome.wait_for(20s), std::future_status::ready);
  const auto sent = outcome.get();
  EXPECT_EQ(sent.bytes, 0u);
  EXPECT_FALSE(sent.whole);
}

}  // namespace
}  // namespace cupel::images
