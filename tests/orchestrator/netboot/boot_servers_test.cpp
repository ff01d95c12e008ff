// Runs side by side that boot machines from one address.
#include "orchestrator/controller/boot_servers.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <fstream>

#include "base/log.h"
#include "base/self_signed.h"
#include "tests/orchestrator/netboot/fetch.h"
#include "tests/support/captures.h"

namespace cupel::controller {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class BootServersOfRuns : public ::testing::Test {
 protected:
  netboot::BootServerOptions options() const {
    netboot::BootServerOptions asked;
    asked.endpoint = {address_, kPort};
    asked.folder = folder_.path().string();
    asked.machines = {{.node = "n1", .serial = "S1", .macs = {"52:54:00:00:00:01"}}};
    return asked;
  }
  auto at(netboot::BootServerOptions asked) {
    return servers_.at(io_.get_executor(), std::move(asked));
  }

  static constexpr std::uint16_t kPort = 39127;
  /// Its own in each process: tests run side by side.
  const asio::ip::address_v4 address_{0x7f400000U |
                                      (static_cast<unsigned>(::getpid()) & 0x3fffffU)};
  test::TemporaryFolder folder_;
  asio::io_context io_;
  BootServers servers_;
};

TEST_F(BootServersOfRuns, ShareTheServerWhileTheInventoryIsTheSame) {
  auto first = at(options());
  ASSERT_TRUE(first) << first.error().what;
  auto second = at(options());
  ASSERT_TRUE(second) << second.error().what;
  EXPECT_EQ(*first, *second);

  first->reset();  // its run has ended
  EXPECT_EQ(at(options()).value(), second.value()) << "the other run goes on";
}

TEST_F(BootServersOfRuns, RefuseAChangedInventoryUntilTheOtherRunHasEnded) {
  auto first = at(options());
  ASSERT_TRUE(first) << first.error().what;
  auto changed = options();
  changed.machines.front().macs.front() = "52:54:00:00:00:02";

  const auto refused = at(changed);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict);
  EXPECT_THAT(refused.error().what, AllOf(HasSubstr("http://" + address_.to_string() + ":39127"),
                                          HasSubstr("MAC addresses")));

  first->reset();
  EXPECT_TRUE(at(changed));
}

TEST_F(BootServersOfRuns, ShareTheServerWhenItsCertificateIsRenewed) {
  const auto with_certificate = [&](std::chrono::hours lasts, const std::string& file) {
    const auto made = make_self_signed({address_.to_string()}, lasts).value();
    auto asked = options();
    asked.certificate = made.certificate;
    asked.key = made.key;
    asked.certificate_file = file;
    return asked;
  };
  auto first = at(with_certificate(std::chrono::hours{1}, "site.pem"));
  ASSERT_TRUE(first) << first.error().what;

  const auto renewed = with_certificate(std::chrono::hours{2}, "site.pem");
  const auto second = at(renewed);
  ASSERT_TRUE(second) << second.error().what;
  EXPECT_EQ(*first, *second);
  std::ofstream{folder_.path() / "ca.pem"} << renewed.certificate;
  EXPECT_NE(test::fetch({.url = (*first)->url() + "/", .ca = (folder_.path() / "ca.pem").string()})
                .status,
            0);

  const auto refused = at(with_certificate(std::chrono::hours{2}, "another.pem"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kConflict);
}

TEST_F(BootServersOfRuns, LogWhatMachinesAskByNodeAndWithoutTheirTickets) {
  const auto file = folder_.path() / "log";
  ASSERT_TRUE(log::to_file(file));
  auto server = at(options());
  ASSERT_TRUE(server) << server.error().what;
  const auto ticket = (*server)->issue({.machine = options().machines.front()}).value();

  test::fetch({.url = ticket.base_url + "hello",
               .post = R"({"serial":"S1","macs":["52:54:00:00:00:01"]})"});
  test::fetch({.url = ticket.base_url + "progress", .post = R"({"state":"writing"})"});
  test::fetch({.url = ticket.base_url + "done", .post = "{}"});
  std::string lines;
  for (int i = 0; i < 2'000 && !lines.contains("POST done"); ++i) {
    io_.restart();
    io_.run_for(std::chrono::milliseconds{10});
    lines = read_file(file, 100'000).value_or("");
  }
  log::off();

  EXPECT_THAT(lines, AllOf(HasSubstr("node=n1"), HasSubstr(" POST hello: 200, "),
                           HasSubstr(" POST done: 204, "), Not(HasSubstr("progress")),
                           Not(HasSubstr(ticket.token))));
}

}  // namespace
}  // namespace cupel::controller
