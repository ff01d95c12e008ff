// Serial-over-LAN of ipmi_sim, whose serial line is a program that echoes.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bmc/ipmi/fixture.h"

namespace cupel::bmc::ipmi {
namespace {

/// Sends back all that comes, to one who connects, and again to the next.
class EchoLine {
 public:
  EchoLine() {
    listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    wake_ = ::eventfd(0, EFD_CLOEXEC);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    ::bind(listening_, reinterpret_cast<sockaddr*>(&address), length);
    ::listen(listening_, 4);
    ::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread{[this] { serve(); }};
  }
  ~EchoLine() {
    ::eventfd_write(wake_, 1);
    thread_.join();
    ::close(listening_);
    ::close(wake_);
  }
  std::uint16_t port() const { return port_; }

 private:
  void serve() {
    int line = -1;
    for (;;) {
      pollfd waiting[]{{wake_, POLLIN, 0}, {line < 0 ? listening_ : line, POLLIN, 0}};
      if (::poll(waiting, 2, -1) < 0 || waiting[0].revents != 0) break;
      if (line < 0) {
        line = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
        continue;
      }
      char piece[4096];
      const auto got = ::read(line, piece, sizeof piece);
      if (got > 0 && ::write(line, piece, static_cast<std::size_t>(got)) == got) continue;
      ::close(line);
      line = -1;
    }
    if (line >= 0) ::close(line);
  }

  int listening_ = -1, wake_ = -1;
  std::uint16_t port_ = 0;
  std::jthread thread_;
};

class OnTheConsole : public WithTransport {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(IpmiSim::installed(), "no ipmi_sim or ipmitool (openipmi, ipmitool)");
    sim = std::make_unique<IpmiSim>(line.port());
    bmc = open_at(sim->endpoint());
  }

  std::unique_ptr<Console> console() {
    auto opened = run(bmc->console.open(soon()));
    EXPECT_TRUE(opened) << opened.error().what;
    return opened ? *std::move(opened) : nullptr;
  }

  /// Reads until there are as many characters.
  std::string read(Console& from, std::size_t count) {
    std::string text;
    while (text.size() < count) {
      auto more = run(from.read(soon()));
      EXPECT_TRUE(more) << more.error().what;
      if (!more) break;
      text += *more;
    }
    return text;
  }

  EchoLine line;
  std::unique_ptr<IpmiSim> sim;
  std::unique_ptr<Bmc> bmc;
};

TEST_F(OnTheConsole, ReadsBackWhatALineEchoes) {
  const auto open = console();
  ASSERT_TRUE(open);
  std::string typed;
  for (int i = 0; i < 200; ++i) typed += "line " + std::to_string(i) + "\n";

  const auto written = run(open->write(typed, soon()));
  const auto heard = read(*open, typed.size());
  run(open->close());

  ASSERT_TRUE(written) << written.error().what;
  EXPECT_EQ(heard, typed);
}

TEST_F(OnTheConsole, TakesOverWhatAnotherSessionHas) {
  const auto first = console();
  ASSERT_TRUE(first);

  const auto second = console();
  ASSERT_TRUE(second);
  const auto written = run(second->write("mine\n", soon()));
  const auto heard = read(*second, 5);
  run(second->close());
  run(first->close());

  EXPECT_TRUE(written);
  EXPECT_EQ(heard, "mine\n");
}

TEST_F(OnTheConsole, CanBeOpenedAgainOnceItWasClosed) {
  for (int i = 0; i < 3; ++i) {
    const auto open = console();
    ASSERT_TRUE(open);
    const auto sent = run(open->send_break(soon()));
    EXPECT_TRUE(sent) << sent.error().what;
    run(open->close());
    run(open->close());

    const auto after = run(open->read(soon()));
    EXPECT_EQ(after.error().code, Code::kUnreachable);
  }
}

TEST_F(OnTheConsole, WaitsNoLongerThanTheGivenTime) {
  const auto open = console();
  ASSERT_TRUE(open);

  const auto nothing = run(open->read(Deadline::in(50ms)));
  run(open->close());

  EXPECT_EQ(nothing.error().code, Code::kTimeout);
}

TEST_F(AgainstIpmiSim, SaysThatThereIsNoConsole) {
  const auto none = run(bmc->console.open(soon()));

  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().what, ::testing::HasSubstr("a01-n01: Activate Payload"));
}

}  // namespace
}  // namespace cupel::bmc::ipmi
