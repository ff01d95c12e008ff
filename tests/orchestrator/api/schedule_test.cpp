// What the service starts by itself: when, once, and what became of it.
#include <cstdlib>
#include <ctime>

#include "base/utc.h"
#include "orchestrator/api/schedule_book.h"
#include "orchestrator/api/schedule_clock.h"
#include "orchestrator/api/site_files.h"
#include "orchestrator/api/site_settings.h"
#include "tests/orchestrator/api/api_fixture.h"

namespace cupel::api {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;

/// The machine stands in Berlin while this lives.
class InBerlin {
 public:
  InBerlin() {
    if (const char* now = std::getenv("TZ")) before_ = now;
    set("Europe/Berlin");
  }
  ~InBerlin() { before_ ? set(before_->c_str()) : (::unsetenv("TZ"), ::tzset()); }
  InBerlin(const InBerlin&) = delete;
  InBerlin& operator=(const InBerlin&) = delete;

 private:
  static void set(const char* zone) {
    ::setenv("TZ", zone, 1);
    ::tzset();
  }
  std::optional<std::string> before_{};
};

engine::WallTime utc(std::string_view text) { return utc_of(text).value(); }

Schedule nightly() { return {.name = "nightly", .playbook = "audit", .at = 2h + 30min}; }

std::string problems_of(const std::string& text) {
  std::vector<inventory::Problem> problems;
  EXPECT_FALSE(parse_site_settings(text, "service.yaml", problems));
  return inventory::to_string(problems);
}

TEST(Schedules, AreReadFromTheSettings) {
  std::vector<inventory::Problem> problems;

  const auto settings = parse_site_settings(R"(
schedules:
  - {name: nightly, playbook: audit, at: "02:30"}
  - name: weekly
    playbook: quick-check
    nodes: rack:a01
    at: "18:05"
    days: [sat, Sun]
    set: [burn=5m, hand_over=yes]
    missed: skip
    idle_only: yes
)",
                                            "service.yaml", problems);

  ASSERT_TRUE(settings) << inventory::to_string(problems);
  ASSERT_EQ(settings->schedules.size(), 2u);
  EXPECT_EQ(settings->schedules[0], nightly());
  const auto& weekly = settings->schedules[1];
  EXPECT_EQ(weekly.nodes, "rack:a01");
  EXPECT_EQ(when_of(weekly), "18:05 sun sat");
  EXPECT_EQ(weekly.set.at("hand_over"), "yes");
  EXPECT_TRUE(weekly.skips_missed);
  EXPECT_TRUE(weekly.idle_only);
}

TEST(Schedules, OfWrongSettingsEveryErrorIsReportedWithItsPlace) {
  const auto text = problems_of(R"(
schedules:
  - {name: one, playbook: audit, at: "24:00"}
  - {name: one, at: "2:30", days: [monday], set: [burn], missed: never, tomorrow: yes}
)");

  EXPECT_THAT(
      text, AllOf(HasSubstr("service.yaml:3"), HasSubstr("'24:00' is no time of the day"),
                  HasSubstr("'2:30' is no time"), HasSubstr("'monday' is none of sun, mon"),
                  HasSubstr("'burn' is not NAME=VALUE"), HasSubstr("once or skip, not 'never'"),
                  HasSubstr("'one' is here twice"), HasSubstr("tomorrow"), HasSubstr("playbook")));
}

TEST(Schedules, AreDueInLocalTimeInSummerAndInWinter) {
  const InBerlin berlin;

  EXPECT_EQ(last_due(nightly(), utc("2026-07-10T12:00:00")), utc("2026-07-10T00:30:00"));
  EXPECT_EQ(last_due(nightly(), utc("2026-12-10T12:00:00")), utc("2026-12-10T01:30:00"));
  EXPECT_EQ(next_due(nightly(), utc("2026-12-10T01:30:00")), utc("2026-12-11T01:30:00"));
  EXPECT_EQ(next_due(nightly(), utc("2026-12-10T01:29:59")), utc("2026-12-10T01:30:00"));
}

TEST(Schedules, AreDueOnceOnTheDaysWhenClocksAreChanged) {
  const InBerlin berlin;

  // 02:30 is not there on 29 March 2026, and is there twice on 25 October.
  for (const auto& [from, to] : {std::pair{"2026-03-28T12:00:00", "2026-03-30T12:00:00"},
                                 std::pair{"2026-10-24T12:00:00", "2026-10-26T12:00:00"}}) {
    int times = 0;
    for (auto at = next_due(nightly(), utc(from)); at <= utc(to); at = next_due(nightly(), at))
      ++times;
    EXPECT_EQ(times, 2) << from;
  }
}

TEST(Schedules, KeepToTheirDays) {
  const InBerlin berlin;
  auto sundays = nightly();
  sundays.days = {true, false, false, false, false, false, false};

  EXPECT_EQ(next_due(sundays, utc("2026-11-26T09:00:00")), utc("2026-11-29T01:30:00"));
  EXPECT_EQ(last_due(sundays, utc("2026-11-26T09:00:00")), utc("2026-11-22T01:30:00"));
}

TEST(Schedules, AreLookedAtWithinAMinuteAndWhenOneIsDue) {
  const InBerlin berlin;
  SiteSettings settings;

  EXPECT_EQ(until_next(settings, utc("2026-12-10T01:29:50")), 60s);
  settings.schedules = {nightly()};
  EXPECT_EQ(until_next(settings, utc("2026-12-10T01:29:50")), 10s);
  EXPECT_EQ(until_next(settings, utc("2026-12-10T01:30:00")), 60s);
}

/// A service with one node and one schedule, whose due times the test has in its hand.
class ScheduleClock : public test::ApiTest {
 protected:
  void settings(const std::string& schedule) {
    write("secret", "secret\n");
    write("cupel-node", "a program\n");
    write("site.yaml",
          "site: here\ndefaults:\n  profile: dgx-h100\n"
          "  bmc: {user: admin, password: \"file:" +
              file("secret") +
              "\", tls: {trust: first-use}}\n"
              "  ssh: {user: root, key: " +
              file("secret") +
              "}\n"
              "nodes:\n  - {name: n01, bmc: {address: 127.64.99.1}, ssh: {address: "
              "127.64.99.2}}\n");
    write("service.yaml",
          "inventory: site.yaml\nrequests_per_second: 1000000\nschedules:\n  - " + schedule + "\n");
  }
  /// What has become of it when the clock shows `now`.
  ScheduleTurn look(engine::WallTime now) {
    const auto files = read_site_files({state(), file("service.yaml")});
    if (!files) throw std::runtime_error{files.error().what};
    shared_.state = state();
    shared_.programs = file("");
    shared_.site.put(files->site);
    shared_.inventory.put(files->inventory);
    if (!handler_) handler_ = RequestHandler::open(shared_).value();
    start_due(*handler_, now);
    const auto book = ScheduleBook::open(state());
    const auto* turn = book ? book->last("nightly") : nullptr;
    return turn == nullptr ? ScheduleTurn{} : *turn;
  }
  std::size_t runs() { return store().runs(10).value().size(); }

 private:
  Shared shared_{};
  std::unique_ptr<RequestHandler> handler_{};
};

const auto kNow = utc("2026-12-10T12:00:00");
constexpr const char* kAudit = R"({name: nightly, playbook: audit, at: "02:30"})";

TEST_F(ScheduleClock, AllErrorsOfItsSettingsAreOneLineOfTheLog) {
  settings(R"({name: nightly, playbook: audit, at: "24:00", days: [monday]})");

  const auto files = read_site_files({state(), file("service.yaml")});

  ASSERT_FALSE(files);
  EXPECT_THAT(files.error().what,
              AllOf(HasSubstr("'24:00' is no time of the day"),
                    HasSubstr("; " + file("service.yaml") + ":4:"), Not(HasSubstr("\n"))));
}

TEST_F(ScheduleClock, BeginsWithTheNextTimeWhereItIsNew) {
  settings(kAudit);

  EXPECT_EQ(look(kNow).outcome, "first-seen");
  EXPECT_EQ(look(kNow + 1h).outcome, "first-seen");
  EXPECT_EQ(runs(), 0u);
  EXPECT_EQ(look(kNow + 24h).outcome, "started");
  EXPECT_EQ(runs(), 1u);
}

TEST_F(ScheduleClock, MakesUpForMissedTimesOnceAndInItsName) {
  settings(kAudit);
  look(kNow);

  const auto turn = look(kNow + 72h);

  EXPECT_EQ(turn.outcome, "started") << turn.why;
  EXPECT_EQ(look(kNow + 73h).run, turn.run);
  ASSERT_EQ(runs(), 1u);
  EXPECT_EQ(store().run(turn.run).value().playbook, "audit");
}

TEST_F(ScheduleClock, SkipsAMissedTimeWhereThatIsAskedFor) {
  const InBerlin berlin;
  settings(R"({name: nightly, playbook: audit, at: "02:30", missed: skip})");
  look(kNow);

  EXPECT_EQ(look(utc("2026-12-12T01:41:00")).outcome, "skipped");
  EXPECT_EQ(runs(), 0u);
  EXPECT_EQ(look(utc("2026-12-13T01:39:00")).outcome, "started") << "nine minutes are in time";
}

TEST_F(ScheduleClock, SaysWhyNothingWasStartedAndDoesNotTryAgainBeforeTheNextTime) {
  settings(R"({name: nightly, playbook: audits, at: "02:30"})");
  look(kNow);

  const auto turn = look(kNow + 24h);

  EXPECT_EQ(turn.outcome, "refused");
  EXPECT_THAT(turn.why, HasSubstr("no playbook 'audits'"));
  settings(kAudit);
  EXPECT_EQ(look(kNow + 25h).outcome, "refused");
  EXPECT_EQ(look(kNow + 48h).outcome, "started");
}

TEST_F(ScheduleClock, IdleNodesNeedASlurmSection) {
  settings(R"({name: nightly, playbook: audit, at: "02:30", idle_only: yes})");
  look(kNow);

  EXPECT_THAT(look(kNow + 24h).why, HasSubstr("no slurm section"));
}

TEST_F(ScheduleClock, ATimeThatAWrongClockWroteDoesNotStopIt) {
  settings(kAudit);
  look(kNow + 24h * 3650);

  EXPECT_EQ(look(kNow).outcome, "first-seen");
  EXPECT_EQ(look(kNow + 24h).outcome, "started");
}

TEST_F(ScheduleClock, ABookThatIsNoneStartsNothing) {
  settings(kAudit);
  write("state/schedules.json", "[");

  EXPECT_EQ(look(kNow).outcome, "");
  EXPECT_EQ(runs(), 0u);
}

TEST_F(ScheduleClock, TheServiceStartsDueRunsAndReportsThem) {
  settings(kAudit);
  look(report::wall_now() - 72h);
  auto options = usual();
  options.settings = file("service.yaml");
  options.programs = file("");
  serve(options);

  std::string body;
  for (int asked = 0; asked < 10'000 && body.find("\"outcome\":\"started\"") == body.npos; ++asked)
    body = get("/api/v1/schedules").body;

  EXPECT_THAT(
      body, AllOf(HasSubstr("\"outcome\":\"started\""), HasSubstr("\"when\":\"02:30 every day\"")));
  EXPECT_THAT(body, HasSubstr("\"nodes\":\"all\""));
  EXPECT_THAT(get("/api/v1/audit").body, HasSubstr("schedule nightly"));
  EXPECT_EQ(runs(), 1u);
}

TEST_F(ScheduleClock, HidesNodesFromUsersOfOtherRacks) {
  settings(R"({name: nightly, playbook: audits, nodes: "n01", at: "02:30"})");
  const auto now = report::wall_now();
  look(now - 72h);
  look(now);
  auto options = usual();
  options.settings = file("service.yaml");
  serve(options);

  const auto all = get("/api/v1/schedules").body;
  const auto bounded =
      ask_tls({.target = "/api/v1/schedules", .token = token("bob", "viewer", {"a02"})}).body;

  EXPECT_THAT(all, AllOf(HasSubstr("n01"), HasSubstr("no playbook")));
  EXPECT_THAT(bounded, AllOf(HasSubstr("\"name\":\"nightly\""), Not(HasSubstr("n01")),
                             Not(HasSubstr("no playbook"))));
}

}  // namespace
}  // namespace cupel::api
