#pragma once
// One virtual BMC with IPMI on a socket, on a loop in a thread of its own, and the tools that
// operators have for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <thread>

#include "rehearsal/ipmi/server.h"
#include "tests/rehearsal/bench.h"
#include "tests/support/captures.h"
#include "tests/support/child.h"
#include "tests/support/real_part.h"

namespace cupel::rehearsal {

inline bool installed(const std::string& program) {
  for (const auto* folder : {"/usr/bin/", "/usr/sbin/"})
    if (std::filesystem::exists(folder + program)) return true;
  return false;
}

class ServedBmc {
 public:
  static constexpr const char* kUser = "admin";
  static constexpr const char* kPassword = "correct-horse-20byte";

  explicit ServedBmc(std::vector<Fault> faults = {}, double speed = 10000)
      : clock{speed},
        machine{io.get_executor(), clock, dgx(), "v01-n01", 1, BootTimes{}, std::move(faults)},
        server{io.get_executor(), machine, kUser, kPassword,
               ipmi::Peer{asio::ip::make_address_v4("127.0.0.1"), 0}} {
    const auto listens = server.listen();
    if (!listens) throw std::runtime_error{listens.error().what};
    thread = std::thread{[this] { io.run(); }};
  }
  ~ServedBmc() {
    asio::post(io, [this] {
      server.stop();
      machine.stop();
      work.reset();
    });
    thread.join();
  }

  /// What `ask` returns, asked on the loop.
  template <class Ask>
  auto on(Ask ask) {
    std::promise<decltype(ask(std::declval<Machine&>()))> reported;
    asio::post(io, [&] { reported.set_value(ask(machine)); });
    return reported.get_future().get();
  }
  /// Waits for the event after which it is so, or returns at once where it is. Patience is for a
  /// broken test only.
  bool wait_until(std::function<bool(Machine&)> so) {
    auto came = std::make_shared<std::promise<void>>();
    auto reported = came->get_future();
    asio::post(io, [this, came, so = std::move(so)] {
      const auto look = [this, came, so, done = std::make_shared<bool>(false)] {
        if (so(machine) && !std::exchange(*done, true)) came->set_value();
      };
      machine.subscribe([look](Machine::Event) { look(); });
      look();
    });
    return reported.wait_for(std::chrono::minutes{1}) == std::future_status::ready;
  }
  bool boot() {
    asio::post(io, [this] { machine.press(Reset::on); });
    return wait_until([](Machine& of) { return of.up(); });
  }

  std::vector<std::string> ipmitool_line(const std::vector<std::string>& words, int suite = 17,
                                         const std::string& user = kUser) const {
    std::vector<std::string> line{"ipmitool",
                                  "-I",
                                  "lanplus",
                                  "-H",
                                  "127.0.0.1",
                                  "-p",
                                  std::to_string(server.port()),
                                  "-U",
                                  user,
                                  "-E",
                                  "-C",
                                  std::to_string(suite),
                                  "-N",
                                  "1",
                                  "-R",
                                  "3"};
    line.insert(line.end(), words.begin(), words.end());
    return line;
  }
  cupel::testing::Ran ipmitool(const std::vector<std::string>& words, int suite = 17,
                               const std::string& password = kPassword,
                               const std::string& user = kUser) const {
    return cupel::testing::run(ipmitool_line(words, suite, user), {"IPMI_PASSWORD=" + password},
                               std::chrono::seconds{60});
  }

  cupel::testing::Ran freeipmi(const std::string& program, const std::vector<std::string>& words,
                               int suite = 17) const {
    std::vector<std::string> line{program,
                                  "-D",
                                  "LAN_2_0",
                                  "-h",
                                  "127.0.0.1:" + std::to_string(server.port()),
                                  "-u",
                                  kUser,
                                  "-p",
                                  kPassword,
                                  "-l",
                                  "ADMIN",
                                  "-I",
                                  std::to_string(suite)};
    line.insert(line.end(), words.begin(), words.end());
    return cupel::testing::run(line, {"HOME=" + folder.path().string()}, std::chrono::seconds{60});
  }

  test::TemporaryFolder folder;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
  Clock clock;
  Machine machine;
  ipmi::Server server;
  std::thread thread;
};

}  // namespace cupel::rehearsal
