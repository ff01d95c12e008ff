// Redfish and IPMI to one BMC: one set of limits, one memory of what was refused.
#include "bmc/redfish/redfish.h"
#include "tests/bmc/ipmi/fixture.h"
#include "tests/bmc/ipmi/scripted_bmc.h"
#include "tests/support/https_server.h"

namespace cupel::bmc::ipmi {
namespace {

/// Keeps pins in memory.
class Keys final : public inventory::KnownKeys {
 public:
  std::optional<std::string> pinned(std::string_view name) override {
    const auto known = pins_.find(std::string{name});
    return known == pins_.end() ? std::nullopt : std::optional{known->second};
  }
  void pin(std::string_view name, std::string_view key) override { pins_[std::string{name}] = key; }

 private:
  std::map<std::string, std::string> pins_;
};

/// What one process has; the memory outlives it, as a store does.
struct OneProcess {
  OneProcess(const asio::any_io_executor& executor, Memory& memory)
      : redfish{executor, {}, &memory}, ipmi{executor, &redfish.all_bmc_limits()} {}
  redfish::Transport redfish;
  Transport ipmi;
};

class SharedBmcLimits : public ::testing::Test {
 protected:
  Result<Sourced<PowerState>> ask_redfish(OneProcess& by) {
    const inventory::BmcAccess access{
        .endpoint = web.endpoint(), .user = "admin", .password = {}, .trust = {}};
    return ask(redfish::open(by.redfish, "a01-n01", access, password.source(), keys));
  }
  Result<Sourced<PowerState>> ask_ipmi(OneProcess& by) {
    return ask(open(by.ipmi, "a01-n01", {.endpoint = udp.endpoint(), .cipher = {}}, "admin",
                    password.source()));
  }

  asio::io_context io;
  InMemoryBmcState memory;
  Keys keys;
  Password password;
  test::HttpsServer web{{.password = IpmiSim::kPassword}};
  ScriptedBmc udp{io.get_executor(), kSuite17, [](auto...) { return Reply{0, {0x01, 0, 0}}; }};

 private:
  static Task<Result<Sourced<PowerState>>> look(Bmc& bmc) {
    auto state = co_await bmc.power.state(Deadline::in(60s));
    co_await bmc.log_out();
    co_return state;
  }
  Result<Sourced<PowerState>> ask(std::unique_ptr<Bmc> bmc) { return run_to_end(io, look(*bmc)); }
};

TEST_F(SharedBmcLimits, WhatIpmiWasRefusedRedfishDoesNotTryInALaterProcessEither) {
  password.secret = "wrong";
  {
    OneProcess first{io.get_executor(), memory};
    EXPECT_EQ(ask_ipmi(first).error().code, Code::kRefused);
    EXPECT_EQ(ask_redfish(first).error().code, Code::kRefused);
  }

  OneProcess later{io.get_executor(), memory};
  const auto state = ask_redfish(later);

  EXPECT_EQ(state.error().code, Code::kRefused);
  EXPECT_EQ(web.asked().logins, 0);
}

TEST_F(SharedBmcLimits, WhatRedfishWasRefusedIpmiDoesNotTryInALaterProcessEither) {
  password.secret = "wrong";
  {
    OneProcess first{io.get_executor(), memory};
    EXPECT_EQ(ask_redfish(first).error().code, Code::kRefused);
    EXPECT_EQ(ask_ipmi(first).error().code, Code::kRefused);
  }

  OneProcess later{io.get_executor(), memory};
  const auto state = ask_ipmi(later);

  EXPECT_EQ(state.error().code, Code::kRefused);
  EXPECT_EQ(udp.handshakes, 0);
}

TEST_F(SharedBmcLimits, BothTryAgainOnceThePasswordIsAnother) {
  password.secret = "wrong";
  OneProcess process{io.get_executor(), memory};
  EXPECT_FALSE(ask_ipmi(process));

  password.secret = IpmiSim::kPassword;
  const auto redfish = ask_redfish(process);
  const auto ipmi = ask_ipmi(process);

  ASSERT_TRUE(redfish) << redfish.error().what;
  ASSERT_TRUE(ipmi) << ipmi.error().what;
}

TEST_F(SharedBmcLimits, ConversationsByIpmiAreNotedBesideRedfishs) {
  OneProcess process{io.get_executor(), memory};

  ASSERT_TRUE(ask_redfish(process));
  const auto by_redfish = process.redfish.budget("a01-n01").value_or(Budget{}).requests;
  ASSERT_TRUE(ask_ipmi(process));
  const auto by_both = process.redfish.budget("a01-n01").value_or(Budget{});

  EXPECT_GT(by_redfish, 0);
  EXPECT_EQ(by_both.requests, by_redfish + 2);  // the handshake, and the question
  EXPECT_EQ(by_both.in_flight, 0);
  EXPECT_FALSE(by_both.redfish_session);
  EXPECT_EQ(by_both.ipmi_sessions, 0);
}

TEST_F(SharedBmcLimits, ReportARefusalByIpmiAndItsOpenSession) {
  OneProcess process{io.get_executor(), memory};
  password.secret = "wrong";
  EXPECT_FALSE(ask_ipmi(process));
  password.secret = IpmiSim::kPassword;
  const auto bmc = open(process.ipmi, "a01-n01", {.endpoint = udp.endpoint(), .cipher = {}},
                        "admin", password.source());

  ASSERT_TRUE(run_to_end(io, bmc->power.state(Deadline::in(60s))));
  const auto budget = process.redfish.budget("a01-n01").value_or(Budget{});

  EXPECT_EQ(budget.refused, 1);
  EXPECT_EQ(budget.ipmi_sessions, 1);
  EXPECT_FALSE(budget.redfish_session);
}

TEST_F(SharedBmcLimits, DistinguishSessionsOfTheTwoProtocols) {
  OneProcess process{io.get_executor(), memory};
  const auto now = [&] { return process.redfish.budget("a01-n01").value_or(Budget{}); };
  const inventory::BmcAccess access{
      .endpoint = web.endpoint(), .user = "admin", .password = {}, .trust = {}};
  const auto redfish = redfish::open(process.redfish, "a01-n01", access, password.source(), keys);
  const auto ipmi = open(process.ipmi, "a01-n01", {.endpoint = udp.endpoint(), .cipher = {}},
                         "admin", password.source());
  ASSERT_TRUE(run_to_end(io, redfish->power.state(Deadline::in(60s))));
  ASSERT_TRUE(run_to_end(io, ipmi->power.state(Deadline::in(60s))));
  ASSERT_TRUE(now().redfish_session);
  ASSERT_EQ(now().ipmi_sessions, 1);

  ASSERT_TRUE(ask_ipmi(process)) << "in a session of its own, which it ends";
  const auto after_another = now();
  run_to_end(io, [](Bmc& bmc) -> Task<bool> {
    co_await bmc.log_out();
    co_return true;
  }(*ipmi));

  EXPECT_EQ(after_another.ipmi_sessions, 1);
  EXPECT_EQ(now().ipmi_sessions, 0);
  EXPECT_TRUE(now().redfish_session) << "IPMI's end is not Redfish's";
  run_to_end(io, [](Bmc& bmc) -> Task<bool> {
    co_await bmc.log_out();
    co_return true;
  }(*redfish));
  EXPECT_FALSE(now().redfish_session);
}

TEST_F(SharedBmcLimits, IpmiWaitsForAPlaceThatRedfishHas) {
  OneProcess process{io.get_executor(), memory};
  auto& bmc_limits = process.redfish.bmc_limits("a01-n01");
  const auto take = [](Semaphore& gate) { return gate.enter(Deadline::in(1s)); };
  const auto one = run_to_end(io, take(bmc_limits.at_once));
  const auto two = run_to_end(io, take(bmc_limits.at_once));
  ASSERT_TRUE(one && two);
  const auto bmc = open(process.ipmi, "a01-n01", {.endpoint = udp.endpoint(), .cipher = {}},
                        "admin", password.source());

  const auto state = run_to_end(io, bmc->power.state(Deadline::in(50ms)));

  EXPECT_EQ(state.error().code, Code::kTimeout);
  EXPECT_EQ(udp.handshakes, 0);
}

}  // namespace
}  // namespace cupel::bmc::ipmi
