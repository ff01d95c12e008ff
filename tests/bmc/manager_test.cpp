// The BMC itself: restart, clock, services, console, the clearing of its log.
#include "bmc/redfish/manager.h"

#include "tests/bmc/acting.h"

namespace cupel::bmc {
namespace {

constexpr const char* kProtocols = "/redfish/v1/Managers/1/NetworkProtocol";

Seconds at(int year, unsigned month, unsigned day, int hour, int minute) {
  return std::chrono::sys_days{std::chrono::year{year} / month / day} + std::chrono::hours{hour} +
         std::chrono::minutes{minute};
}

TEST(Date, IsReadAsBmcsWriteIt) {
  using redfish::parse_date;
  EXPECT_EQ(parse_date("2024-08-08T18:48:00-05:00"), at(2024, 8, 8, 23, 48));
  EXPECT_EQ(parse_date("2024-08-08T18:48:00Z"), at(2024, 8, 8, 18, 48));
  EXPECT_EQ(parse_date("2024-08-08T18:48:00.123456+05:30"), at(2024, 8, 8, 13, 18));
  EXPECT_EQ(parse_date("2024-08-08T18:48:00", "-01:00"), at(2024, 8, 8, 19, 48));
}

TEST(Date, IsNoneWhereItCannotBeTrue) {
  for (const auto* text : {"", "0000-00-00T00:00:00Z", "1970-01-01T00:00:00Z", "TIME_NA",
                           "9999-12-31T00:00:00Z", "2024-02-30T00:00:00Z", "2024-08-08T24:00:00Z",
                           "2024-08-08T10:00:00+99:00", "2024-08-08T10:00:00 CST", "2024-08-08"})
    EXPECT_EQ(redfish::parse_date(text), std::nullopt) << text;
}

TEST(Date, IsWrittenAsItIsRead) {
  const auto time = at(2026, 11, 21, 3, 9) + 7s;
  EXPECT_EQ(redfish::date_text(time), "2026-11-21T03:09:07+00:00");
  EXPECT_EQ(redfish::parse_date(redfish::date_text(time)), time);
}

class OfBmc : public Acting {
 protected:
  Result<Protocol> restart() {
    const auto bmc = open();
    auto done = run(bmc->manager.reset(soon()));
    run(bmc->log_out());
    return done;
  }
  Result<Protocol> set_clock(Seconds time) {
    const auto bmc = open();
    auto done = run(bmc->manager.set_clock(time, soon()));
    run(bmc->log_out());
    return done;
  }
  Result<BmcClock> clock() {
    const auto bmc = open();
    auto reported = run(bmc->manager.clock(soon()));
    run(bmc->log_out());
    return reported;
  }
  void ntp(bool on) {
    server.set(kProtocols,
               json::value{{"NTP", {{"ProtocolEnabled", on}, {"NTPServers", {"", " 10.0.0.1"}}}},
                           {"SSH", {{"ProtocolEnabled", true}, {"Port", 22}}}});
  }
  static json::value reset_action(const std::vector<std::string>& words) {
    json::array list;
    for (const auto& word : words) list.emplace_back(word);
    return {{"#Manager.Reset",
             {{"target", std::string{kManager} + "/Actions/Manager.Reset"},
              {"ResetType@Redfish.AllowableValues", std::move(list)}}}};
  }
};

TEST_F(OfBmc, RestartsGracefullyWhereItCan) {
  manage({{"Actions", reset_action({"ForceRestart", "GracefulRestart"})}});
  ASSERT_TRUE(restart());
  EXPECT_THAT(machine.actions, ElementsAre(R"(Manager.Reset {"ResetType":"GracefulRestart"})"));
}

TEST_F(OfBmc, RestartsByForceWhereThatIsAllThereIs) {
  manage({{"Actions", reset_action({"ForceRestart"})}});
  ASSERT_TRUE(restart());
  EXPECT_THAT(machine.actions, ElementsAre(R"(Manager.Reset {"ResetType":"ForceRestart"})"));
}

TEST_F(OfBmc, CannotBeRestartedWithoutAnAction) {
  EXPECT_EQ(restart().error().code, Code::kUnsupported);
}

TEST_F(OfBmc, NeverShutsItsBmcDownForARestart) {
  manage({{"Actions", reset_action({"GracefulShutdown"})}});
  EXPECT_EQ(restart().error().code, Code::kUnsupported);
  EXPECT_THAT(machine.actions, ElementsAre());
}

TEST_F(OfBmc, TellsHowFarItsClockIsAhead) {
  const auto in_an_hour =
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()) + 1h;
  manage({{"DateTime", redfish::date_text(in_an_hour)}, {"NetworkProtocol", link(kProtocols)}});
  ntp(true);

  const auto reported = clock();

  ASSERT_TRUE(reported) << reported.error().what;
  EXPECT_NEAR(static_cast<double>(reported->ahead.count()), 3600, 15);
  EXPECT_EQ(reported->time, in_an_hour);
  EXPECT_THAT(reported->ntp_servers, ElementsAre("10.0.0.1"));
}

TEST_F(OfBmc, HasNoClockWhereItsDateIsNone) {
  manage({{"DateTime", "0000-00-00T00:00:00Z"}});
  EXPECT_EQ(clock().error().code, Code::kUnsupported);
}

TEST_F(OfBmc, SetsTheClockOfABmcThatLivesInAnotherZone) {
  manage({{"DateTime", "2024-08-08T18:48:10-05:00"}, {"DateTimeLocalOffset", "-05:00"}});

  const auto done = set_clock(at(2026, 3, 1, 12, 0));

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(server.asked().patches.front(),
              HasSubstr(R"({"DateTime":"2026-03-01T12:00:00+00:00",)"
                        R"("DateTimeLocalOffset":"+00:00"})"));
}

TEST_F(OfBmc, SaysThatNtpSetsTheClock) {
  manage({{"DateTime", "2024-08-08T18:48:10Z"}, {"NetworkProtocol", link(kProtocols)}});
  ntp(true);
  server.misbehave({.method = "PATCH",
                    .status = 500,
                    .body = test::refusal("Base.1.8.InternalError", "Time sync is on.")});

  const auto done = set_clock(at(2026, 3, 1, 12, 0));

  EXPECT_EQ(done.error().code, Code::kConflict);
  EXPECT_THAT(done.error().what, HasSubstr("NTP is on"));
}

TEST_F(OfBmc, SaysThatTheClockCannotBeSet) {
  manage({{"DateTime", "2024-08-08T18:48:10Z"}});
  server.misbehave({.method = "PATCH",
                    .status = 400,
                    .body = test::refusal("Base.1.8.PropertyNotWritable", "DateTime.")});

  const auto done = set_clock(at(2026, 3, 1, 12, 0));

  EXPECT_EQ(done.error().code, Code::kUnsupported);
}

TEST_F(OfBmc, FailsWhereTheTimeWasAcceptedAndForgotten) {
  manage({{"DateTime", "2024-08-08T18:48:10Z"}});
  server.change([](auto& options) { options.forgets_patches = true; });

  const auto done = set_clock(at(2026, 3, 1, 12, 0));

  EXPECT_EQ(done.error().code, Code::kFailed);
  EXPECT_THAT(done.error().what, HasSubstr("still tells 2024-08-08T18:48:10Z"));
}

class Services : public OfBmc {
 protected:
  void SetUp() override {
    OfBmc::SetUp();
    manage({{"NetworkProtocol", link(kProtocols)}});
    ntp(false);
  }
  Result<Protocol> enable(const std::string& name, bool enabled) {
    const auto bmc = open();
    auto done = run(bmc->manager.enable_service(name, enabled, soon()));
    run(bmc->log_out());
    return done;
  }
};

TEST_F(Services, AreSwitchedByTheirNameInWhateverCase) {
  const auto done = enable("ssh", false);

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(server.asked().patches.front(), HasSubstr(R"({"SSH":{"ProtocolEnabled":false}})"));
}

TEST_F(Services, AreLeftAloneWhereTheyAreSoAlready) {
  ASSERT_TRUE(enable("SSH", true));
  EXPECT_EQ(count("PATCH"), 0);
}

TEST_F(Services, FailWhereTheBmcAcceptsItAndForgetsIt) {
  server.change([](auto& options) { options.forgets_patches = true; });

  const auto done = enable("NTP", true);

  EXPECT_EQ(done.error().code, Code::kFailed);
  EXPECT_THAT(done.error().what, HasSubstr("NTP is still off"));
}

TEST_F(Services, AreNamedWhereThereIsNoSuchOne) {
  const auto done = enable("Telnet", true);

  EXPECT_EQ(done.error().code, Code::kUnsupported);
  EXPECT_THAT(done.error().what, HasSubstr("it has: NTP, SSH"));
}

class ClearedLog : public Acting {
 protected:
  static constexpr const char* kLogs = "/redfish/v1/Systems/1/LogServices";

  void SetUp() override {
    Acting::SetUp();
    auto system = test_system();
    system.as_object()["LogServices"] = link(kLogs);
    server.set(kSystem, system);
  }
  static std::string uri(const std::string& id) { return std::string{kLogs} + "/" + id; }
  void have(const std::string& id, const json::object& more) {
    json::object log{
        {"Id", id},
        {"Entries", link(uri(id) + "/Entries")},
        {"Actions",
         {{"#LogService.ClearLog", {{"target", uri(id) + "/Actions/LogService.ClearLog"}}}}}};
    for (const auto& entry : more) log[entry.key()] = entry.value();
    server.set(kLogs, collection({uri(id)}));
    server.set(uri(id), log);
    server.set(uri(id) + "/Entries",
               json::value{{"Members", json::array{}}, {"Members@odata.count", 40}});
  }
  Result<Protocol> clear() {
    const auto bmc = open();
    auto done = run(bmc->log.clear(soon()));
    run(bmc->log_out());
    return done;
  }
};

TEST_F(ClearedLog, IsTheOneCalledSel) {
  have("Sel", {});
  ASSERT_TRUE(clear());
  EXPECT_THAT(machine.actions, ElementsAre("LogService.ClearLog {}"));
}

TEST_F(ClearedLog, IsTheOneOfTypeSelWhateverItsName) {
  have("Log1", {{"LogEntryType", "SEL"}});
  ASSERT_TRUE(clear());
  EXPECT_EQ(machine.actions.size(), 1u);
}

TEST_F(ClearedLog, IsNeverAnAuditOrADump) {
  for (const auto* id : {"AuditLog", "Dump", "PostCodes", "IEL", "SL", "FDR", "Journal"}) {
    have(id, {});
    EXPECT_EQ(clear().error().code, Code::kUnsupported) << id;
  }
  EXPECT_THAT(machine.actions, ElementsAre());
}

TEST_F(ClearedLog, NamesAllEntriesWhereAnAmiRequiresIt) {
  have("SEL", {});
  server.misbehave({.method = "POST",
                    .path = kLogs,
                    .status = 400,
                    .body = test::refusal("Base.1.5.ActionParameterMissing",
                                          "The parameter ClearType is missing.")});

  const auto done = clear();

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(machine.actions, ElementsAre(R"(LogService.ClearLog {"ClearType":"ClearAll"})"));
}

TEST_F(ClearedLog, FailsWhereItIsAsLongAsBefore) {
  have("SEL", {});
  server.misbehave({.method = "POST", .path = kLogs, .status = 204});

  const auto done = clear();

  EXPECT_EQ(done.error().code, Code::kFailed);
  EXPECT_THAT(done.error().what, HasSubstr("as long as before"));
}

}  // namespace
}  // namespace cupel::bmc
