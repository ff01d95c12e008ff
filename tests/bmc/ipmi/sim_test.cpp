// Against OpenIPMI's ipmi_sim, and against what ipmitool prints for it.
#include <algorithm>
#include <map>

#include "base/for_each_of.h"
#include "base/text.h"
#include "bmc/ipmi/commands.h"
#include "bmc/ipmi/exchange.h"
#include "bmc/ipmi/handshake.h"
#include "bmc/ipmi/ping.h"
#include "tests/bmc/ipmi/fixture.h"

namespace cupel::bmc::ipmi {
namespace {

using inventory::PartKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(AgainstIpmiSim, TurnsTheMachineOffAndOnAndCyclesIt) {
  const auto before = run(bmc->power.state(soon()));
  const auto off = run(bmc->power.reset(ResetType::force_off, soon()));
  const auto then = run(bmc->power.state(soon()));
  const auto seen = sim->ipmitool({"power", "status"});
  const auto on = run(bmc->power.reset(ResetType::on, soon()));
  const auto after = run(bmc->power.state(soon()));

  ASSERT_TRUE(before) << before.error().what;
  EXPECT_EQ(*before, PowerState::on);
  EXPECT_EQ(before->by, Protocol::ipmi);
  EXPECT_TRUE(off && on);
  ASSERT_TRUE(then && after);
  EXPECT_EQ(*then, PowerState::off);
  EXPECT_THAT(seen.out, HasSubstr("Power is off"));
  EXPECT_EQ(*after, PowerState::on);
  EXPECT_THAT(sim->calls(), HasSubstr("set power 0"));
  EXPECT_EQ(sim->power(), "1");
}

TEST_F(AgainstIpmiSim, SaysWhichResetsIpmiHasNoWordFor) {
  const auto graceful = run(bmc->power.reset(ResetType::graceful_restart, soon()));
  const auto cord = run(bmc->power.reset(ResetType::ac_cycle, soon()));
  const auto http = run(bmc->boot.set({.target = BootTarget::uefi_http, .once = true}, soon()));

  EXPECT_EQ(graceful.error().code, Code::kUnsupported);
  EXPECT_EQ(cord.error().code, Code::kUnsupported);
  EXPECT_EQ(http.error().code, Code::kUnsupported);
}

// This BMC drops the valid bit of the flags: what it took is not what it does.
TEST_F(AgainstIpmiSim, SaysThatABootOverrideDidNotStick) {
  const auto set = run(bmc->boot.set({.target = BootTarget::pxe, .once = true}, soon()));

  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, Code::kFailed);
  EXPECT_THAT(set.error().what, HasSubstr("read back as none"));
  EXPECT_THAT(sim->calls(), HasSubstr("set boot pxe"));
}

/// What `ipmitool sdr` prints: "P12V             | 12.21 Volts       | ok".
std::map<std::string, std::string> printed_sensors(const std::string& out) {
  std::map<std::string, std::string> found;
  for (const auto line : lines(out)) {
    const auto cells = split(line, '|');
    if (cells.size() == 3) found[std::string{trimmed(cells[0])}] = trimmed(cells[1]);
  }
  return found;
}

TEST_F(AgainstIpmiSim, ReadsTheSensorsThatIpmitoolPrints) {
  const auto read = run(bmc->sensors.read(soon()));
  const auto ipmitool = printed_sensors(sim->ipmitool({"sdr"}).out);

  ASSERT_TRUE(read) << read.error().what;
  const auto& all = read->sensors;
  EXPECT_EQ(all.size(), ipmitool.size());
  ASSERT_EQ(all.size(), 5u);
  for (const auto& sensor : all) {
    ASSERT_TRUE(ipmitool.contains(sensor.name)) << sensor.name;
    const auto& cell = ipmitool.at(sensor.name);
    if (sensor.value) {
      EXPECT_EQ(std::stod(cell), *sensor.value) << sensor.name;
    } else if (sensor.name == "Inlet") {
      EXPECT_EQ(cell, "disabled");
    }
  }
  EXPECT_EQ(all[0].unit, "°C");
  EXPECT_EQ(all[0].warn_above, 112);
  EXPECT_EQ(all[0].critical_above, 144);
  EXPECT_EQ(all[0].health, "OK");
  EXPECT_EQ(all[1].unit, "RPM");
  EXPECT_EQ(all[2].state, "Presence detected");
  EXPECT_EQ(all[4].value, std::nullopt);
  EXPECT_EQ(read->by, Protocol::ipmi);
}

TEST_F(AgainstIpmiSim, ReadsTheLogThatIpmitoolPrintsAndClearsIt) {
  const auto log = run(bmc->log.read({}, 100, soon()));
  const auto newest = run(bmc->log.read({}, 1, soon()));
  const auto ipmitool = sim->ipmitool({"sel", "list"}).out;
  const auto cleared = run(bmc->log.clear(soon()));
  const auto after = run(bmc->log.read({}, 100, soon()));

  ASSERT_TRUE(log) << log.error().what;
  const auto& entries = log->entries;
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(ipmitool, '\n')), entries.size());
  EXPECT_EQ(entries[0].sensor, "CPU0 Temp");
  EXPECT_THAT(entries[0].message, StartsWith("Upper Critical - going high"));
  EXPECT_EQ(entries[0].time, std::nullopt) << "its clock was not set: ipmitool says Pre-Init";
  EXPECT_THAT(ipmitool, HasSubstr("Upper Critical going high"));
  EXPECT_EQ(entries[1].sensor, "PSU1 Status");
  EXPECT_THAT(entries[1].message, StartsWith("Power Supply Failure detected"));
  EXPECT_EQ(entries[1].severity, "Critical");
  EXPECT_THAT(entries[2].message, HasSubstr("OEM record 0xc1"));
  EXPECT_THAT(entries[3].message, HasSubstr("0xe0"));
  EXPECT_FALSE(log->cut);
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->entries, std::vector{entries[3]});
  EXPECT_TRUE(newest->cut);
  ASSERT_TRUE(cleared) << cleared.error().what;
  ASSERT_TRUE(after);
  EXPECT_THAT(sim->ipmitool({"sel", "list"}).out + sim->ipmitool({"sel", "list"}).err,
              HasSubstr("no entries"));
  EXPECT_THAT(after->entries, ElementsAre());
}

TEST_F(AgainstIpmiSim, KnowsTheMachineByItsFru) {
  const auto identity = run(bmc->facts.identity(soon()));
  const auto ipmitool = sim->ipmitool({"fru"}).out;

  ASSERT_TRUE(identity) << identity.error().what;
  const auto& who = *identity;
  EXPECT_EQ(who.serial, "SN-4711");
  EXPECT_EQ(who.model, "GPU Server 9000");
  EXPECT_EQ(who.part_number, "GS9000");
  EXPECT_EQ(who.vendor, "Acme");
  EXPECT_EQ(who.bmc_version, "9.08");
  EXPECT_THAT(ipmitool, HasSubstr("Product Serial        : " + who.serial));
  EXPECT_THAT(sim->ipmitool({"mc", "guid"}).out, HasSubstr(who.uuid));
  EXPECT_THAT(sim->ipmitool({"mc", "info"}).out, HasSubstr(who.bmc_version));
}

TEST_F(AgainstIpmiSim, TakesStockOfWhatHasAFru) {
  const auto observed = run(bmc->facts.observe(soon()));

  ASSERT_TRUE(observed) << observed.error().what;
  const auto& parts = observed->parts;
  const auto psu = std::ranges::find(parts, "psu0", &inventory::Part::name);
  ASSERT_NE(psu, parts.end());
  EXPECT_EQ(*psu, (inventory::Part{.kind = PartKind::psu,
                                   .name = "psu0",
                                   .model = "PSU 3000",
                                   .manufacturer = "Delta",
                                   .serial = "PSU-SN-1",
                                   .part_number = "DPS-3000",
                                   .slot = "PSU1 FRU",
                                   .source = "ipmi:fru/1"}));
  const auto system = std::ranges::find(parts, PartKind::system, &inventory::Part::kind);
  ASSERT_NE(system, parts.end());
  EXPECT_EQ(system->serial, "SN-4711");
  EXPECT_EQ(observed->power, PowerState::on);
  EXPECT_GT(observed->requests, 10);
}

TEST_F(AgainstIpmiSim, ListsUsersAndChangesAPassword) {
  const auto accounts = run(bmc->accounts.read(soon()));
  const auto changed = run(bmc->accounts.change_password("admin", "open-barley", soon()));
  const auto long_one = run(bmc->accounts.change_password("admin", "16-bytes-exactly", soon()));
  const auto nobody = run(bmc->accounts.change_password("nobody", "x", soon()));
  const auto too_long = run(bmc->accounts.change_password("admin", std::string(21, 'x'), soon()));

  ASSERT_TRUE(accounts) << accounts.error().what;
  const auto& all = accounts->value;
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].user, "admin");
  EXPECT_EQ(all[1].role, "Administrator");
  EXPECT_EQ(all[2].user, "watcher");
  EXPECT_EQ(all[2].id, "3");
  ASSERT_TRUE(changed) << changed.error().what;
  ASSERT_TRUE(long_one) << long_one.error().what;
  EXPECT_THAT(sim->ipmitool({"power", "status"}, "16-bytes-exactly").out, HasSubstr("is on"));
  EXPECT_EQ(nobody.error().code, Code::kNotFound);
  EXPECT_EQ(too_long.error().code, Code::kInvalid);
}

TEST_F(AgainstIpmiSim, ReadsAndSetsTheClock) {
  const Seconds noon{std::chrono::sys_days{std::chrono::year{2031} / 5 / 17} + 12h};
  const auto begun = std::chrono::steady_clock::now();

  const auto set = run(bmc->manager.set_clock(noon, soon()));
  const auto clock = run(bmc->manager.clock(soon()));
  const auto since = std::chrono::steady_clock::now() - begun;

  ASSERT_TRUE(set) << set.error().what;
  ASSERT_TRUE(clock) << clock.error().what;
  EXPECT_GE(clock->time, noon);
  EXPECT_LE(clock->time, noon + std::chrono::ceil<std::chrono::seconds>(since) + 1s);
  EXPECT_GT(clock->ahead, 24h * 365);
}

TEST_F(AgainstIpmiSim, TellsWhatItServes) {
  const auto services = run(bmc->manager.services(soon()));
  const auto ways = run(bmc->console.ways(soon()));

  ASSERT_TRUE(services) << services.error().what;
  const auto& all = services->value;
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].name, "IPMI");
  EXPECT_TRUE(all[0].enabled);
  EXPECT_TRUE(ways);
}

TEST_F(AgainstIpmiSim, FindsTheSuiteThatTheBmcHasAndRemembersIt) {
  ASSERT_TRUE(run(bmc->power.state(soon())));
  const Address address{asio::ip::make_address("127.0.0.1"), sim->endpoint().port};

  const auto seventeen = open_at(sim->endpoint(), "admin", 17);
  const auto refused = run(seventeen->power.state(soon()));

  EXPECT_EQ(transport.behavior(address).suite, 3);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnsupported);
  EXPECT_THAT(refused.error().what, HasSubstr("invalid authentication algorithm"));
}

TEST_F(AgainstIpmiSim, TriesAWrongPasswordOnce) {
  password.secret = "wrong";

  const auto first = run(bmc->power.state(soon()));
  const auto second = run(bmc->power.state(soon()));
  const auto other = open_at(sim->endpoint());
  const auto third = run(other->power.state(soon()));
  password.secret = IpmiSim::kPassword;
  const auto right = run(bmc->power.state(soon()));

  EXPECT_EQ(first.error().code, Code::kRefused);
  EXPECT_THAT(first.error().what, HasSubstr("a01-n01: log in as admin: RAKP"));
  EXPECT_EQ(second.error().code, Code::kRefused);
  EXPECT_THAT(second.error().what, HasSubstr("not sent again"));
  EXPECT_THAT(third.error().what, HasSubstr("not sent again"));
  EXPECT_THAT(first.error().what, ::testing::Not(HasSubstr("wrong")));
  EXPECT_TRUE(right);
}

TEST_F(AgainstIpmiSim, RefusesAnUnknownUser) {
  const auto stranger = open_at(sim->endpoint(), "mallory");

  const auto state = run(stranger->power.state(soon()));

  EXPECT_EQ(state.error().code, Code::kRefused);
}

// ipmi_sim raises every session to whatever it is asked for; as a user, it stays one.
TEST_F(AgainstIpmiSim, LetsAUserLookAndNotTouch) {
  const Address address{asio::ip::make_address("127.0.0.1"), sim->endpoint().port};
  Handshake handshake{{.suite = kSuite3,
                       .user = "watcher",
                       .password = "look",
                       .privilege = Privilege::user,
                       .session = transport.fresh_session(),
                       .random = random_block()}};
  ASSERT_TRUE(run(transport.perform(address, handshake, soon())));
  auto session = handshake.outcome();
  ASSERT_TRUE(session) << session.error().what;
  const auto ask = [&](const Command& command, Bytes data) {
    Exchange exchange{&*session, command, 1, data};
    EXPECT_TRUE(run(transport.perform(address, exchange, soon())));
    return exchange.outcome()->completion;
  };

  const auto looked = ask(kGetChassisStatus, {});
  const auto touched = ask(kChassisControl, {0});

  EXPECT_EQ(looked, 0);
  EXPECT_EQ(error_of(kChassisControl, touched).code, Code::kRefused);
  EXPECT_THAT(error_of(kChassisControl, touched).what, HasSubstr("insufficient privilege"));
  EXPECT_EQ(sim->power(), "1");
}

TEST_F(AgainstIpmiSim, LeavesNoSessionBehind) {
  // It has room for a few sessions: if one were left each time, the last could not be opened.
  for (int i = 0; i < 100; ++i) {
    const auto each = open_at(sim->endpoint(), "admin", 3);
    const auto state = run(each->power.state(soon()));
    ASSERT_TRUE(state) << i << ": " << state.error().what;
    run(each->log_out());
  }
}

TEST_F(AgainstIpmiSim, AnswersManyCallersOfOneBmcInTurn) {
  std::vector<int> callers(20);

  const auto states = run([](Bmc& one, std::vector<int> all) -> Task<std::vector<Result<bool>>> {
    const auto ask = [&one](int) -> Task<Result<bool>> {
      return [](Bmc& whom) -> Task<Result<bool>> {
        CO_TRY(const auto state, co_await whom.power.state(soon()));
        co_return state.value == PowerState::on;
      }(one);
    };
    co_return co_await for_each_of<bool>(std::move(all), 20, ask);
  }(*bmc, callers));

  ASSERT_EQ(states.size(), 20u);
  for (const auto& state : states) EXPECT_TRUE(state && *state);
}

TEST_F(AgainstIpmiSim, AnswersAPresencePing) {
  const auto presence = run(ping(transport, sim->endpoint(), soon()));

  ASSERT_TRUE(presence) << presence.error().what;
  EXPECT_TRUE(presence->pong);
  EXPECT_TRUE(presence->ipmi);
  EXPECT_TRUE(presence->rmcp_plus);
}

}  // namespace
}  // namespace cupel::bmc::ipmi
