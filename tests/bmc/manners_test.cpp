// Every verb that acts, against a virtual BMC of every vendor with that vendor's own manners. The
// virtual BMCs are the rehearsal's, which shares no code with the client.
#include "bmc/power.h"
#include "tests/bmc/fixture.h"
#include "tests/support/virtual_bmc.h"

namespace cupel::bmc {
namespace {

constexpr Pace kQuick{.first = 5ms, .longest = 20ms, .before_asking_again = 20ms};

class Manners : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Bmc> open() {
    return redfish::open(
        transport, "a01-n01",
        {.endpoint = server.endpoint(), .user = server.user(), .password = {}, .trust = {}},
        password_from(password), keys);
  }
  /// Runs one verb, and logs out whatever became of it.
  template <class Verb>
  auto with_bmc(Verb verb) {
    const auto bmc = open();
    auto done = run_to_end(io, verb(*bmc));
    run_to_end(io, [](Bmc& leaving) -> Task<bool> {
      co_await leaving.log_out();
      co_return true;
    }(*bmc));
    return done;
  }
  static Deadline soon() { return Deadline::in(20s); }
  rehearsal::Power power() {
    return server.on([](rehearsal::Machine& machine, auto&) { return machine.power(); });
  }

  test::VirtualBmc server{GetParam()};
  asio::io_context io;
  redfish::Transport transport{io.get_executor()};
  RememberedKeys keys;
  std::string password = server.password();
};

TEST_P(Manners, TurnsTheMachineOn) {
  const auto done = with_bmc([](Bmc& bmc) { return ensure_on(bmc, soon(), kQuick); });

  ASSERT_TRUE(done) << done.assume_error().what;
  EXPECT_EQ(power(), rehearsal::Power::on);
}

TEST_P(Manners, TurnsTheMachineOff) {
  ASSERT_TRUE(server.boot());

  const auto done = with_bmc([](Bmc& bmc) { return ensure_off(bmc, 5s, soon(), kQuick); });

  ASSERT_TRUE(done) << done.assume_error().what;
  EXPECT_EQ(power(), rehearsal::Power::off);
}

TEST_P(Manners, CyclesTheMachine) {
  ASSERT_TRUE(server.boot());

  const auto done = with_bmc([](Bmc& bmc) { return cycle(bmc, 0ms, soon(), kQuick); });

  ASSERT_TRUE(done) << done.assume_error().what;
  EXPECT_TRUE(server.wait_until([](auto& machine) { return machine.boots() == 2; }));
}

TEST_P(Manners, BootsOnceFromTheNetwork) {
  const BootOverride wanted{.target = BootTarget::pxe, .once = true};

  const auto set = with_bmc([&](Bmc& bmc) { return bmc.set_boot(wanted, soon()); });
  const auto told = with_bmc([](Bmc& bmc) { return bmc.boot_override(soon()); });

  ASSERT_TRUE(set) << set.assume_error().what;
  ASSERT_TRUE(told) << told.assume_error().what;
  EXPECT_EQ(told.assume_value().value, wanted);
  ASSERT_TRUE(server.boot());
  EXPECT_EQ(server.on([](auto& machine, auto&) { return machine.booted_from(); }), "Pxe");
  EXPECT_EQ(with_bmc([](Bmc& bmc) { return bmc.boot_override(soon()); }).assume_value().value,
            BootOverride{});
}

TEST_P(Manners, TakesABootOverrideBack) {
  const BootOverride wanted{.target = BootTarget::disk, .once = true};
  ASSERT_TRUE(with_bmc([&](Bmc& bmc) { return bmc.set_boot(wanted, soon()); }));

  const auto done = with_bmc([](Bmc& bmc) { return bmc.set_boot({}, soon()); });

  ASSERT_TRUE(done) << done.assume_error().what;
  EXPECT_EQ(with_bmc([](Bmc& bmc) { return bmc.boot_override(soon()); }).assume_value().value,
            BootOverride{});
}

TEST_P(Manners, TellsAllPartsOfTheMachine) {
  const auto seen = with_bmc([](Bmc& bmc) { return bmc.observe(soon()); });

  ASSERT_TRUE(seen) << seen.assume_error().what;
  std::map<inventory::PartKind, int> counted;
  for (const auto& part : seen.assume_value().parts) ++counted[part.kind];
  EXPECT_EQ(counted[inventory::PartKind::gpu], 8);
  EXPECT_EQ(counted[inventory::PartKind::cpu], 2);
  EXPECT_EQ(counted[inventory::PartKind::dimm], 32);
  EXPECT_EQ(counted[inventory::PartKind::psu], 6);
  EXPECT_GT(counted[inventory::PartKind::nvme], 0);
  EXPECT_GT(counted[inventory::PartKind::hca], 0);
  EXPECT_FALSE(seen.assume_value().identity.serial.empty());
  EXPECT_FALSE(seen.assume_value().identity.model.empty());
}

TEST_P(Manners, LeavesNoSessionBehind) {
  const auto done = with_bmc([](Bmc& bmc) { return bmc.power_state(soon()); });

  ASSERT_TRUE(done) << done.assume_error().what;
  EXPECT_EQ(server.on([](auto&, auto& service) { return service.open_sessions(); }), 0u);
}

std::vector<std::string> vendors() {
  std::vector<std::string> names;
  for (const auto& row : rehearsal::all_manners()) names.emplace_back(row.vendor);
  return names;
}

INSTANTIATE_TEST_SUITE_P(OfVendor, Manners, ::testing::ValuesIn(vendors()), [](const auto& info) {
  auto name = info.param;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace cupel::bmc
