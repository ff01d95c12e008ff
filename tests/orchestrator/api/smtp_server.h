#pragma once
// A mail server on a loopback address, in clear, on a thread of its own. It takes one login, keeps
// what it is sent, and answers recipients as a test says. Source: RFC 5321; RFC 4954 (AUTH PLAIN).
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/base64.h"
#include "base/task.h"

namespace cupel::test {

class SmtpServer {
 public:
  struct Mail {
    std::string login{}, from{}, text{};
    std::vector<std::string> to{};
  };

  SmtpServer() : acceptor_{io_, {asio::ip::make_address("127.0.0.1"), 0}} {
    asio::co_spawn(io_, accept(), [](std::exception_ptr) {});
    thread_ = std::thread{[this] { io_.run(); }};
  }
  SmtpServer(const SmtpServer&) = delete;
  SmtpServer& operator=(const SmtpServer&) = delete;
  ~SmtpServer() {
    io_.stop();
    thread_.join();
  }

  std::string url() const {
    return "smtp://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  /// What RCPT is answered from now on.
  void answer(std::string line) {
    const std::scoped_lock lock{mutex_};
    answer_ = std::move(line);
  }
  std::vector<Mail> mails() const {
    const std::scoped_lock lock{mutex_};
    return mails_;
  }

 private:
  using Socket = asio::ip::tcp::socket;

  Task<void> accept() {
    for (;;) {
      auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
      asio::co_spawn(io_, talk(std::move(socket)), [](std::exception_ptr) {});
    }
  }

  static Task<void> say(Socket& socket, std::string line) {
    line += "\r\n";
    co_await asio::async_write(socket, asio::buffer(line), asio::use_awaitable);
  }
  static Task<std::string> heard(Socket& socket, std::string& buffer, std::string until) {
    const auto size = co_await asio::async_read_until(
        socket, asio::dynamic_buffer(buffer, 1u << 20), until, asio::use_awaitable);
    auto text = buffer.substr(0, size - until.size());
    buffer.erase(0, size);
    co_return text;
  }

  Task<void> talk(Socket socket) {
    Mail mail;
    std::string buffer;
    co_await say(socket, "220 here");
    for (;;) {
      const auto line = co_await heard(socket, buffer, "\r\n");
      if (line.starts_with("EHLO")) {
        co_await say(socket, "250-here\r\n250 AUTH PLAIN");
      } else if (line.starts_with("AUTH PLAIN")) {
        auto proof = line.substr(std::min<std::size_t>(line.size(), 11));
        if (proof.empty()) {
          co_await say(socket, "334 ");
          proof = co_await heard(socket, buffer, "\r\n");
        }
        mail.login = from_base64(proof).value_or("");
        co_await say(socket, "235 welcome");
      } else if (line.starts_with("DATA")) {
        co_await say(socket, "354 go on");
        mail.text = co_await heard(socket, buffer, "\r\n.\r\n");
        keep(mail);
        co_await say(socket, "250 taken");
      } else if (line.starts_with("RCPT TO:")) {
        mail.to.push_back(line.substr(8));
        co_await say(socket, recipient_answer());
      } else if (line.starts_with("MAIL FROM:")) {
        mail.from = line.substr(10);
        co_await say(socket, "250 ok");
      } else {
        co_await say(socket, "221 bye");
        co_return;
      }
    }
  }

  std::string recipient_answer() {
    const std::scoped_lock lock{mutex_};
    return answer_;
  }
  void keep(const Mail& mail) {
    const std::scoped_lock lock{mutex_};
    mails_.push_back(mail);
  }

  asio::io_context io_{1};
  asio::ip::tcp::acceptor acceptor_;
  mutable std::mutex mutex_{};
  std::string answer_ = "250 ok";
  std::vector<Mail> mails_{};
  std::thread thread_{};
};

}  // namespace cupel::test
