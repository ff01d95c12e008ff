// What a virtual BMC of every vendor tells: its parts, sensors, log and events.
#include "bmc/redfish/events.h"
#include "tests/bmc/vendor_behavior/fixture.h"

namespace cupel::bmc {
namespace {

class VendorBehaviorOfReading : public OfEachVendor {
 protected:
  void plant(rehearsal::Fault fault) {
    server().on([&](auto& machine, auto&) {
      machine.set_faults({fault});
      return true;
    });
  }
};

TEST_P(VendorBehaviorOfReading, TellsAllPartsOfTheMachine) {
  const auto seen = with_bmc([](Bmc& bmc) { return bmc.facts.observe(soon()); });

  ASSERT_TRUE(seen) << seen.error().what;
  std::map<inventory::PartKind, int> counted;
  for (const auto& part : seen->parts) ++counted[part.kind];
  EXPECT_EQ(counted[inventory::PartKind::gpu], 8);
  EXPECT_EQ(counted[inventory::PartKind::cpu], 2);
  EXPECT_EQ(counted[inventory::PartKind::dimm], 32);
  EXPECT_EQ(counted[inventory::PartKind::psu], 6);
  EXPECT_GT(counted[inventory::PartKind::nvme], 0);
  EXPECT_GT(counted[inventory::PartKind::hca], 0);
  EXPECT_FALSE(seen->identity.serial.empty());
  EXPECT_FALSE(seen->identity.model.empty());
}

TEST_P(VendorBehaviorOfReading, ASecondAuditAsksOnlyWhetherAnythingHasChanged) {
  redfish::MemoryCache cache;
  const auto audit = [&] {
    const auto bmc = open(&cache);
    auto seen = run(bmc->facts.observe(soon()));
    log_out(*bmc);
    return seen;
  };

  const auto first = audit();
  const auto second = audit();

  ASSERT_TRUE(first) << first.error().what;
  ASSERT_TRUE(second) << second.error().what;
  EXPECT_EQ(first->parts, second->parts);
  // The list of an iLO 5's cards answers for their parts and for their MACs.
  EXPECT_LE(first->unchanged, 1);
  if (!abilities().has_tags) {
    EXPECT_EQ(second->unchanged, 0);
    return;
  }
  EXPECT_GT(second->unchanged, 0);
  EXPECT_LT(second->bytes * 10, first->bytes);
}

TEST_P(VendorBehaviorOfReading, TellsWhatItMeasures) {
  ASSERT_TRUE(server().boot());

  const auto read = with_bmc([](Bmc& bmc) { return bmc.sensors.read(soon()); });

  ASSERT_TRUE(read) << read.error().what;
  std::map<SensorKind, int> counted;
  for (const auto& sensor : read->sensors) ++counted[sensor.kind];
  EXPECT_GT(counted[SensorKind::temperature], 0);
  EXPECT_GT(counted[SensorKind::fan], 0);
  EXPECT_GT(counted[SensorKind::power], 0);
  EXPECT_EQ(counted[SensorKind::leak] > 0, is("openbmc"));
  ASSERT_TRUE(read->watts);
  EXPECT_GT(*read->watts, 500);
}

TEST_P(VendorBehaviorOfReading, TellsItsLogOldestFirst) {
  plant({.kind = rehearsal::FaultKind::psu_missing, .part = "psu1"});
  ASSERT_TRUE(server().boot());

  const auto log = with_bmc([](Bmc& bmc) { return bmc.log.read({}, 100, soon()); });
  const auto newest = with_bmc([](Bmc& bmc) { return bmc.log.read({}, 1, soon()); });

  ASSERT_TRUE(log) << log.error().what;
  const auto& entries = log->entries;
  ASSERT_GE(entries.size(), 3u);
  EXPECT_THAT(entries.front().message, HasSubstr("redundancy is lost"));
  EXPECT_EQ(entries.front().severity, "Critical");
  EXPECT_THAT(entries.back().message, HasSubstr("has booted"));
  EXPECT_TRUE(std::ranges::is_sorted(entries, {}, &LogEntry::time));
  ASSERT_TRUE(newest) << newest.error().what;
  EXPECT_TRUE(newest->cut);
  EXPECT_THAT(newest->entries, ElementsAre(entries.back()));
}

/// Waits until something of each kind has happened.
Task<Result<std::string>> hears(Events& events, std::vector<Event::Kind> kinds) {
  std::string messages;
  int unlucky =
      0;  // a look without an answer, or whose session has expired: the rack's clock is fast
  while (!kinds.empty()) {
    const auto more = co_await events.next(Deadline::in(60s));
    if (!more && ++unlucky > 5) co_return more.error();
    if (!more) continue;
    for (const auto& event : *more) {
      messages += event.entry.message + "\n";
      std::erase(kinds, event.kind);
    }
  }
  co_return messages;
}

/// Looks until it knows how things are: a second look in one call follows one that was whole.
/// `asked`: the same BMC as the one that is looked at.
void look_at_first(asio::io_context& io, Events& events, Bmc& looked_at, const Bmc& asked) {
  asio::steady_timer again{io, asio::steady_timer::time_point::max()};
  int looks = 0;
  looked_at.power.state = [&](Deadline deadline) {
    if (++looks == 2) again.cancel();
    return asked.power.state(deadline);
  };
  const auto second_look = [&]() -> Task<void> {
    co_await again.async_wait(asio::as_tuple(asio::use_awaitable));
  };
  const auto until = Deadline::in(60s);
  for (auto code = Code::kFailed; code != Code::kCancelled && !until.passed(); looks = 0) {
    const auto looked = cancelled_after(io, second_look(), events.next(until));
    code = looked ? Code::kFailed : looked.error().code;
  }
  looked_at.power.state = [&asked](Deadline deadline) { return asked.power.state(deadline); };
}

TEST_P(VendorBehaviorOfReading, NoticesThatTheMachineIsTurnedOnAndAFault) {
  const auto bmc = open(), asked = open();
  const auto subscribed = run(bmc->log.subscribe(soon()));
  ASSERT_TRUE(subscribed) << subscribed.error().what;
  EXPECT_EQ((*subscribed)->way(), abilities().events);
  run([](Events& events) -> Task<bool> {
    co_await events.close();
    co_return true;
  }(**subscribed));
  redfish::Client client{
      *transport_,
      {.node = "a01-n01", .endpoint = server().endpoint(), .trust = {}, .known = &keys},
      "admin",
      password_from(password)};
  auto quick = run(redfish::subscribe(client, *bmc, 20ms, soon()));
  ASSERT_TRUE(quick) << quick.error().what;
  Events& events = **quick;
  if (events.way() == "polling") look_at_first(io, events, *bmc, *asked);

  plant({.kind = rehearsal::FaultKind::psu_missing, .part = "psu1"});
  server().on([](auto& machine, auto&) { return machine.press(rehearsal::Reset::on); });
  const auto heard = run(hears(events, {Event::Kind::power, Event::Kind::fault}));
  run([](Events& ours, Bmc& leaving, redfish::Client& other) -> Task<bool> {
    co_await ours.close();
    co_await leaving.log_out();
    co_await other.log_out();
    co_return true;
  }(events, *bmc, client));
  log_out(*asked);

  ASSERT_TRUE(heard) << heard.error().what;
  EXPECT_THAT(*heard, HasSubstr("psu1: power supply redundancy is lost"));
}

INSTANTIATE_TEST_SUITE_P(OfVendor, VendorBehaviorOfReading, ::testing::ValuesIn(all_abilities()),
                         name_of_vendor);

}  // namespace
}  // namespace cupel::bmc
