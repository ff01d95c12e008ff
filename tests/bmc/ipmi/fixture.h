#pragma once
// A real simulated BMC, and one client's process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bmc/ipmi/ipmi.h"
#include "tests/bmc/ipmi/ipmi_sim.h"
#include "tests/support/real_part.h"

namespace cupel::bmc::ipmi {

using namespace std::chrono_literals;

/// A password that a test may change meanwhile; counts how often it was asked for.
struct Password {
  std::string secret = IpmiSim::kPassword;
  int asked = 0;

  SecretSource source() {
    return [this] {
      ++asked;
      return [](std::string now) -> Task<Result<std::string>> { co_return now; }(secret);
    };
  }
};

class WithTransport : public ::testing::Test {
 protected:
  std::unique_ptr<Bmc> open_at(const inventory::Endpoint& endpoint, std::string user = "admin",
                               std::optional<int> cipher = {}) {
    return open(transport, "a01-n01", {.endpoint = endpoint, .cipher = cipher}, std::move(user),
                password.source());
  }
  template <class T>
  T run(Task<T> task) {
    return run_to_end(io, std::move(task));
  }
  void run(Task<void> task) {
    run_to_end(io, [](Task<void> work) -> Task<bool> {
      co_await std::move(work);
      co_return true;
    }(std::move(task)));
  }
  static Deadline soon() { return Deadline::in(60s); }

  asio::io_context io;
  Transport transport{io.get_executor()};
  Password password;
};

class AgainstIpmiSim : public WithTransport {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_REAL_PART(IpmiSim::installed(), "no ipmi_sim or ipmitool (openipmi, ipmitool)");
    sim = std::make_unique<IpmiSim>();
    bmc = open_at(sim->endpoint());
  }
  void TearDown() override {
    if (bmc) run(bmc->log_out());
  }

  std::unique_ptr<IpmiSim> sim;
  std::unique_ptr<Bmc> bmc;
};

}  // namespace cupel::bmc::ipmi
