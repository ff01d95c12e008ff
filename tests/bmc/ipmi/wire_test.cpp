// A network with bad habits between us and ipmi_sim, and BMCs that are not there.
#include "tests/bmc/ipmi/wire.h"

#include "bmc/ipmi/ping.h"
#include "tests/bmc/ipmi/fixture.h"

namespace cupel::bmc::ipmi {
namespace {

using ::testing::HasSubstr;

class OverABadWire : public AgainstIpmiSim {
 protected:
  std::unique_ptr<Bmc> open_over(const Wire& wire) { return open_at(wire.endpoint(), "admin", 3); }
};

TEST_F(OverABadWire, AsksAgainWhereADatagramIsLost) {
  // The first of all, RAKP 4 (which this BMC does not repeat), and a reply within the session.
  Wire wire{sim->endpoint(), [](bool to_bmc, int number, const Bytes& datagram) {
              const bool lost = to_bmc ? number == 0 : number == 2 || number == 6;
              return lost ? std::vector<Bytes>{} : std::vector<Bytes>{datagram};
            }};
  const auto one = open_over(wire);

  const auto state = run(one->power.state(soon()));
  run(one->log_out());

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(*state, PowerState::on);
}

TEST_F(OverABadWire, TakesAnAnswerThatComesTwiceOnce) {
  Wire wire{sim->endpoint(), [](bool to_bmc, int, const Bytes& datagram) {
              return to_bmc ? std::vector<Bytes>{datagram} : std::vector<Bytes>{datagram, datagram};
            }};
  const auto one = open_over(wire);

  const auto log = run(one->log.read({}, 100, soon()));
  run(one->log_out());

  ASSERT_TRUE(log) << log.error().what;
  EXPECT_EQ(log->entries.size(), 4u);
}

TEST_F(OverABadWire, LeavesDamagedAndForeignAnswersAside) {
  constexpr int kHandshake = 3;  // what is in the clear, UDP's checksum alone protects
  Wire wire{sim->endpoint(), [](bool to_bmc, int number, const Bytes& datagram) {
              if (to_bmc || number < kHandshake) return std::vector<Bytes>{datagram};
              auto damaged = datagram;
              damaged[damaged.size() / 2] ^= 0x10;
              damaged.back() ^= 0x01;
              const Bytes cut{datagram.begin(), datagram.begin() + 9};
              return std::vector<Bytes>{Bytes{}, cut, Bytes(2000, 0x06), damaged, datagram};
            }};
  const auto one = open_over(wire);

  const auto identity = run(one->facts.identity(soon()));
  run(one->log_out());

  ASSERT_TRUE(identity) << identity.error().what;
  EXPECT_EQ(identity->serial, "SN-4711");
}

TEST_F(OverABadWire, LogsInAgainWhereTheBmcForgotTheSession) {
  ASSERT_TRUE(run(bmc->power.state(soon())));
  sim->stop();
  sim->start();

  const auto silent = run(bmc->power.state(Deadline::in(300ms)));
  const auto again = run(bmc->power.state(soon()));

  EXPECT_FALSE(silent);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(*again, PowerState::on);
}

TEST_F(OverABadWire, EndsItsSessionAlsoWhenItWasCancelled) {
  Wire wire{sim->endpoint(), &Wire::honest};
  const auto one = open_over(wire);
  ASSERT_TRUE(run(one->power.state(soon())));
  const int before = wire.to_bmc();

  const auto stopped = run([](Bmc& whom) -> Task<Result<bool>> {
    auto work = [](Bmc& inner) -> Task<Result<bool>> {
      CO_TRY(co_await pause_for(1h));
      co_return true;
    };
    auto with_log_out = [](Bmc& inner, Task<Result<bool>> main) -> Task<Result<bool>> {
      auto result = co_await std::move(main);
      co_await inner.log_out();
      co_return result;
    };
    auto main = work(whom);
    auto all = with_log_out(whom, std::move(main));
    co_return co_await with_deadline(Deadline::in(50ms), std::move(all));
  }(*one));

  EXPECT_EQ(stopped.error().code, Code::kTimeout);
  EXPECT_EQ(wire.to_bmc(), before + 1) << "Close Session";
}

TEST_F(WithTransport, GivesUpOnASilentBmcAtTheDeadline) {
  Wire silent{{"127.0.0.1", free_udp_port()},
              [](bool, int, const Bytes&) { return std::vector<Bytes>{}; }};
  const auto one = open_at(silent.endpoint());

  const auto state = run(one->power.state(Deadline::in(200ms)));
  run(one->log_out());

  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, Code::kTimeout);
  EXPECT_THAT(state.error().what, HasSubstr("a01-n01"));
  EXPECT_EQ(silent.to_bmc(), 1);
}

TEST_F(WithTransport, FailsAtOnceWhereNoServerListens) {
  const inventory::Endpoint nobody{"127.0.0.1", free_udp_port()};
  const auto one = open_at(nobody);

  const auto state = run(one->power.state(soon()));
  const auto presence = run(ping(transport, nobody, soon()));

  EXPECT_EQ(state.error().code, Code::kUnreachable) << state.error().what;
  EXPECT_EQ(presence.error().code, Code::kUnreachable);
}

TEST_F(WithTransport, SpeaksIpv6) {
  const auto one = open_at({"::1", free_udp_port()});

  const auto state = run(one->power.state(soon()));

  EXPECT_EQ(state.error().code, Code::kUnreachable) << state.error().what;
}

TEST_F(WithTransport, SendsNothingThatCannotBe) {
  Wire wire{{"127.0.0.1", free_udp_port()}, &Wire::honest};
  password.secret = std::string(21, 'x');

  const auto long_password = run(open_at(wire.endpoint())->power.state(soon()));
  const auto long_name = run(open_at(wire.endpoint(), std::string(17, 'a'))->power.state(soon()));
  const auto suite = run(open_at(wire.endpoint(), "admin", 8)->power.state(soon()));

  EXPECT_EQ(long_password.error().code, Code::kInvalid);
  EXPECT_EQ(long_name.error().code, Code::kInvalid);
  EXPECT_EQ(suite.error().code, Code::kInvalid);
  EXPECT_EQ(wire.to_bmc(), 0);
}

TEST_F(WithTransport, SaysThatANameHasNoAddress) {
  const auto one = open_at({"no-such-host.invalid", 623});

  const auto state = run(one->power.state(soon()));

  EXPECT_EQ(state.error().code, Code::kUnreachable);
  EXPECT_THAT(state.error().what, HasSubstr("no-such-host.invalid"));
}

}  // namespace
}  // namespace cupel::bmc::ipmi
