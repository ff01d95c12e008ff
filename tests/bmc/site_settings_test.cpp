// NTP and syslog servers where a vendor has a place of its own for them, as captured machines show
// it, and what a BMC accepts and does not keep.
#include "tests/bmc/acting.h"

namespace cupel::bmc {
namespace {

constexpr const char* kProtocols = "/redfish/v1/Managers/1/NetworkProtocol";
constexpr const char* kTime = "/redfish/v1/Managers/1/DateTime";
constexpr const char* kEvents = "/redfish/v1/EventService";
constexpr const char* kSubscriptions = "/redfish/v1/EventService/Subscriptions";

class SiteSettingsOf : public Acting {
 protected:
  void SetUp() override {
    Acting::SetUp();
    server.set(kEvents, json::value{{"Subscriptions", link(kSubscriptions)}});
    server.set(kSubscriptions, collection({}));
  }
  /// As an iLO 6 shows them.
  void become_ilo() {
    become("HPE", "ProLiant DL380a Gen11");
    manage({{"NetworkProtocol", link(kProtocols)},
            {"Oem", {{"Hpe", {{"Links", {{"DateTimeService", link(kTime)}}}}}}}});
    server.set(kTime, json::value{{"NTPServers", {"192.168.37.3", ""}},
                                  {"StaticNTPServers", {"0.0.0.0", "0.0.0.0"}}});
    server.set(kProtocols, json::value{{"SSH", {{"ProtocolEnabled", true}}},
                                       {"Oem",
                                        {{"Hpe",
                                          {{"RemoteSyslogEnabled", false},
                                           {"RemoteSyslogPort", 514},
                                           {"RemoteSyslogServer", ""}}}}}});
  }
  Result<void> add(EventTarget::Kind kind, std::string destination) {
    const auto bmc = open();
    auto done = run(bmc->settings.add_event_target({kind, destination, {}}, soon()));
    run(bmc->log_out());
    return done;
  }
  Result<void> set_ntp(std::vector<std::string> servers) {
    const auto bmc = open();
    auto done = run(bmc->settings.set_ntp(std::move(servers), soon()));
    run(bmc->log_out());
    return done;
  }
  std::string last_patch() {
    const auto asked = server.asked();
    return asked.patches.empty() ? std::string{} : asked.patches.back();
  }
};

TEST_F(SiteSettingsOf, AnIloTakesItsNtpServersInItsDateTime) {
  become_ilo();

  const auto set = set_ntp({"10.0.0.1"});

  ASSERT_TRUE(set) << set.error().what;
  EXPECT_THAT(last_patch(), HasSubstr(kTime));
  EXPECT_THAT(last_patch(), HasSubstr(R"({"StaticNTPServers":["10.0.0.1",""]})"));
}

TEST_F(SiteSettingsOf, AnIloTakesItsSyslogServerInItsNetworkProtocol) {
  become_ilo();

  const auto added = add(EventTarget::Kind::syslog, "udp://10.0.0.9:1514");
  const auto again = add(EventTarget::Kind::syslog, "udp://10.0.0.9:1514");
  const auto second = add(EventTarget::Kind::syslog, "udp://10.0.0.8:514");

  ASSERT_TRUE(added) << added.error().what;
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(count("PATCH"), 1);
  EXPECT_THAT(last_patch(), HasSubstr(R"("RemoteSyslogServer":"10.0.0.9")"));
  EXPECT_THAT(last_patch(), HasSubstr(R"("RemoteSyslogEnabled":true)"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kConflict);
  EXPECT_THAT(second.error().what, HasSubstr("udp://10.0.0.9:1514 is in it"));
}

TEST_F(SiteSettingsOf, AnIloSendsNoSyslogOverTcp) {
  become_ilo();

  const auto added = add(EventTarget::Kind::syslog, "tcp://10.0.0.9:514");

  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Code::kUnsupported);
  EXPECT_EQ(count("PATCH"), 0);
}

TEST_F(SiteSettingsOf, AnNvidiaTrayTakesItsSyslogServerInRsyslog) {
  become("NVIDIA", "GB200 NVL");
  manage({{"NetworkProtocol", link(kProtocols)}});
  server.set(kProtocols, json::value{{"Oem",
                                      {{"Nvidia",
                                        {{"Rsyslog",
                                          {{"Address", ""},
                                           {"Port", 0},
                                           {"State", "Disabled"},
                                           {"TransportProtocol", "TCP"}}}}}}}});

  const auto added = add(EventTarget::Kind::syslog, "tcp://10.0.0.9:514");

  ASSERT_TRUE(added) << added.error().what;
  EXPECT_THAT(last_patch(), HasSubstr(R"("State":"Enabled")"));
  EXPECT_THAT(last_patch(), HasSubstr(R"("TransportProtocol":"TCP")"));
}

TEST_F(SiteSettingsOf, NtpServersThatAreNotKeptAreNamed) {
  become("Contoso", "X");
  manage({{"NetworkProtocol", link(kProtocols)}});
  server.set(kProtocols,
             json::value{{"NTP", {{"ProtocolEnabled", false}, {"NTPServers", {"", ""}}}}});
  server.change([](auto& options) { options.forgets_patches = true; });

  const auto set = set_ntp({"10.0.0.1"});

  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, Code::kFailed);
  EXPECT_THAT(set.error().what, HasSubstr("accepted the NTP servers and reports none"));
}

TEST_F(SiteSettingsOf, FreePlacesOfASupermicroAreNoEventTargets) {
  become("Supermicro", "SYS-821GE-TNHR");
  server.set(kSubscriptions, collection({std::string{kSubscriptions} + "/1"}));
  server.set(std::string{kSubscriptions} + "/1", json::value{{"Destination", "0.0.0.0"},
                                                             {"Protocol", "SNMPv1"},
                                                             {"Status", {{"State", "Disabled"}}}});
  const auto bmc = open();

  const auto targets = run(bmc->settings.event_targets(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(targets) << targets.error().what;
  EXPECT_TRUE(targets->empty());
}

TEST_F(SiteSettingsOf, EventTargetsOnALaterPageAreRead) {
  const std::string more = std::string{kSubscriptions} + "/More",
                    target = std::string{kSubscriptions} + "/2";
  auto first = collection({std::string{kSubscriptions} + "/1"}).as_object();
  first["Members@odata.nextLink"] = more;
  server.set(kSubscriptions, first);
  server.set(more, collection({target}));
  server.set(target, json::value{{"Destination", "https://10.0.0.9/events"}});
  const auto bmc = open();

  const auto targets = run(bmc->settings.event_targets(soon()));
  run(bmc->log_out());

  ASSERT_TRUE(targets) << targets.error().what;
  EXPECT_THAT(*targets, ElementsAre(EventTarget{EventTarget::Kind::redfish,
                                                "https://10.0.0.9/events", target}));
}

TEST_F(SiteSettingsOf, ABmcWithoutTheseSettingsSaysSo) {
  become("Contoso", "X");
  const auto bmc = open();

  const auto order = run(bmc->settings.boot_order(soon()));
  const auto secure = run(bmc->settings.secure_boot(soon()));
  const auto timeout = run(bmc->settings.session_timeout(soon()));
  run(bmc->log_out());

  EXPECT_EQ(order.error().code, Code::kUnsupported);
  EXPECT_EQ(secure.error().code, Code::kUnsupported);
  EXPECT_FALSE(timeout);
}

}  // namespace
}  // namespace cupel::bmc
