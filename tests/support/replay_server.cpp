#include "tests/support/replay_server.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "base/text.h"

namespace cupel::test {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

std::size_t length_in(std::string_view head) {
  for (const auto line : cupel::lines(head))
    if (lower_case(line).starts_with("content-length:"))
      return number<std::size_t>(trimmed(line.substr(15))).value_or(0);
  return 0;
}

}  // namespace

ReplayServer::ReplayServer(Handler handler, bool tls) : handler_{std::move(handler)}, tls_{tls} {
  context_.use_certificate(asio::buffer(certificate_.certificate_pem), asio::ssl::context::pem);
  context_.use_private_key(asio::buffer(certificate_.key_pem), asio::ssl::context::pem);
  acceptor_.open(tcp::v4());
  acceptor_.bind({asio::ip::address_v4::loopback(), 0});
  acceptor_.listen();
  thread_ = std::thread{[this] { serve(); }};
}

ReplayServer::~ReplayServer() {
  {
    const std::lock_guard lock{mutex_};
    stopped_ = true;
  }
  ::shutdown(acceptor_.native_handle(), SHUT_RDWR);
  thread_.join();
}

std::string ReplayServer::url() const {
  return fmt::format("{}://127.0.0.1:{}", tls_ ? "https" : "http",
                     acceptor_.local_endpoint().port());
}

std::vector<ReplayRequest> ReplayServer::asked() const {
  const std::lock_guard lock{mutex_};
  return asked_;
}

std::vector<std::string> ReplayServer::lines() const {
  std::vector<std::string> found;
  for (const auto& each : asked()) found.push_back(each.method + " " + each.path);
  return found;
}

template <class Stream>
void ReplayServer::talk(Stream& stream) {
  boost::system::error_code failure;
  std::string read;
  const auto end = asio::read_until(stream, asio::dynamic_buffer(read), "\r\n\r\n", failure);
  if (failure) return;
  ReplayRequest asked{.head = read.substr(0, end), .body = read.substr(end)};
  const auto length = length_in(asked.head);
  if (asked.body.size() < length)
    asio::read(stream, asio::dynamic_buffer(asked.body),
               asio::transfer_exactly(length - asked.body.size()), failure);
  const auto first = words(cupel::lines(asked.head).front());
  if (failure || first.size() < 2) return;
  asked.method = first[0];
  asked.path = first[1];
  ReplayAnswer answer;
  {
    const std::lock_guard lock{mutex_};
    asked_.push_back(asked);
    answer = handler_(asked);
  }
  char none = 0;
  if (answer.silent) {
    (void)asio::read(stream, asio::buffer(&none, 1), failure);
    return;
  }
  if (answer.gone) return;
  auto text = fmt::format(
      "HTTP/1.1 {} x\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}Connection: close\r\n\r\n",
      answer.status, answer.content_type, answer.body.size(), answer.lines);
  if (asked.method != "HEAD") text += answer.body;
  if (answer.cut) text.resize(text.size() / 2);
  asio::write(stream, asio::buffer(text), failure);
}

void ReplayServer::serve() {
  for (;;) {
    boost::system::error_code failure;
    tcp::socket socket{io_};
    acceptor_.accept(socket, failure);
    {
      const std::lock_guard lock{mutex_};
      if (failure || stopped_) return;
    }
    if (!tls_) {
      talk(socket);
      continue;
    }
    asio::ssl::stream<tcp::socket> stream{std::move(socket), context_};
    stream.handshake(asio::ssl::stream_base::server, failure);
    if (failure) continue;
    talk(stream);
    (void)stream.shutdown(failure);
  }
}

}  // namespace cupel::test
