// What a client may change about a BMC and its machine's settings, vendor by vendor.
#include "tests/rehearsal/bmc_bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;

constexpr std::string_view kStrong = "Another-secret-56";

class BmcSettings : public ::testing::TestWithParam<std::string> {
 protected:
  /// Asked again where this BMC refuses what it has no reason to.
  HttpResponse change(const std::string& method, const std::string& target,
                      const std::string& body) {
    HttpResponse response;
    for (int i = 0; i < 3; ++i) {
      response = bmc.ask(method, target, body);
      if (response.status != 401 && response.status != 412) break;
    }
    return response;
  }
  bool done(const HttpResponse& response) {
    return response.status >= 200 && response.status < 300;
  }
  std::string own_account() const {
    return "/redfish/v1/AccountService/Accounts/" + bmc.service.state().accounts.id_of("admin");
  }
  BmcBench bmc{GetParam()};
};

TEST_P(BmcSettings, APasswordThatIsChangedIsTheOneThatLogsIn) {
  const auto body = R"({"Password": ")" + std::string{kStrong} + "\"}";

  const auto changed = change("PATCH", own_account(), body);

  EXPECT_TRUE(done(changed)) << changed.status << changed.body;
  EXPECT_EQ(bmc.log_in("Open-sesame-1234").status, 401);
  EXPECT_EQ(bmc.log_in(std::string{kStrong}).status, 201);
}

TEST_P(BmcSettings, APasswordAgainstThePolicyChangesNothing) {
  const auto longest = bmc.view().behavior().accounts.longest;
  const auto body = R"({"Password": ")" + std::string(longest + 1, 'x') + "\"}";

  const auto refused = change("PATCH", own_account(), body);

  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(bmc.log_in("Open-sesame-1234").status, 201);
}

TEST_P(BmcSettings, AServiceIsSwitchedOffAndMoved) {
  const auto protocols = bmc.view().manager() + "/NetworkProtocol";

  EXPECT_TRUE(done(change("PATCH", protocols,
                          R"({"SSH": {"ProtocolEnabled": false, "Port": 2222},
                              "NTP": {"NTPServers": ["10.0.0.1"]}})")));

  EXPECT_EQ(bmc.service.state().services.at("SSH").port, 2222);
  EXPECT_FALSE(bmc.service.state().services.at("SSH").enabled);
  EXPECT_THAT(change("GET", protocols, "").body, HasSubstr(R"("NTPServers":["10.0.0.1"])"));
  EXPECT_EQ(change("PATCH", protocols, R"({"HTTPS": {"ProtocolEnabled": false}})").status, 400);
  EXPECT_EQ(change("PATCH", protocols, R"({"Gopher": {"ProtocolEnabled": true}})").status, 400);
}

TEST_P(BmcSettings, TheClockIsSetInAnyTimeZone) {
  const auto manager = bmc.view().manager();

  EXPECT_TRUE(done(change("PATCH", manager, R"({"DateTime": "2030-01-31T12:00:00+01:00"})")));

  EXPECT_NEAR(bmc.view().epoch(), 1896087600, 600);
  for (const auto wrong :
       {"tomorrow", "2030-13-01T00:00:00Z", "2030-01-01T00:00:00", "2030-01-01T00:00:00+99:00"})
    EXPECT_EQ(change("PATCH", manager, R"({"DateTime": ")" + std::string{wrong} + "\"}").status,
              400)
        << wrong;
}

TEST_P(BmcSettings, BiosSettingsAreMadeByTheNextBoot) {
  const auto& bios = bmc.service.state().bios;
  const std::string apply = bmc.view().behavior().bios.by_job
                                ? R"(, "@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"})"
                                : "";

  const auto staged = change("PATCH", bmc.view().bios_settings(),
                             R"({"Attributes": {"LogicalProc": "Disabled"})" + apply + "}");

  EXPECT_TRUE(done(staged)) << staged.status << staged.body;
  EXPECT_EQ(bios.pending().at("LogicalProc"), "Disabled");
  EXPECT_EQ(bios.current().at("LogicalProc"), "Enabled");
  ASSERT_TRUE(bmc.boot());
  EXPECT_EQ(bios.current().at("LogicalProc"), "Disabled");
  EXPECT_TRUE(bios.pending().empty());
}

TEST_P(BmcSettings, ABiosSettingThatThereIsNotIsRefused) {
  const auto settings = bmc.view().bios_settings();

  for (const auto wrong :
       {R"({"Attributes": {"Nonsense": 1}})", R"({"Attributes": {"LogicalProc": "Maybe"}})",
        R"({"Attributes": {"AcPwrRcvryDelay": 7}})", R"({"Attributes": {"AssetTag": 7}})",
        R"({"Attributes": {"SystemModelName": "x"}})",
        R"({"Attributes": {"SpcrConsoleRedirection": "yes"}})", R"({"Attributes": 3})", "{}", "["})
    EXPECT_EQ(change("PATCH", settings, wrong).status, 400) << wrong;
  EXPECT_TRUE(bmc.service.state().bios.pending().empty());
}

TEST_P(BmcSettings, TheLogTellsWhatHappenedAndIsCleared) {
  bmc.boot();
  const auto entries = bmc.view().log() + "/Entries";
  EXPECT_THAT(change("GET", entries, "").body, HasSubstr("The host was powered on."));

  const auto cleared = change("POST", bmc.view().log() + "/Actions/LogService.ClearLog", "{}");

  EXPECT_TRUE(done(cleared)) << cleared.status;
  const auto after = change("GET", entries, "").body;
  EXPECT_EQ(after.find("powered on"), std::string::npos);
  EXPECT_THAT(after, HasSubstr("The event log was cleared."));
}

TEST_P(BmcSettings, AVirtualDiscIsWhatTheMachineBootsFrom) {
  const auto& behavior = bmc.view().behavior();
  std::string slot;
  for (const auto& row : behavior.media.slots)
    if (slot.empty() && std::ranges::find(row.types, "CD") != row.types.end()) slot = row.id;
  const auto path = bmc.view().media() + "/" + slot;
  const std::string url = "http://10.0.0.1/tools.iso";
  const auto image = R"({"Image": ")" + url + "\"" +
                     (behavior.media.wants_protocol ? R"(, "TransferProtocolType": "HTTP"})" : "}");

  const auto inserted = behavior.media.by_patch
                            ? change("PATCH", path, image)
                            : change("POST", path + "/Actions/VirtualMedia.InsertMedia", image);

  EXPECT_TRUE(done(inserted)) << inserted.status << inserted.body;
  EXPECT_EQ(bmc.machine.virtual_disc(), url);
  const bool usb = std::ranges::find(behavior.boot.targets, "UsbCd") != behavior.boot.targets.end();
  bmc.machine.set_boot_override({.enabled = "Once", .target = usb ? "UsbCd" : "Cd"});
  ASSERT_TRUE(bmc.boot());
  EXPECT_EQ(bmc.machine.booted_image(), url);
  const auto ejected = behavior.media.by_patch
                           ? change("PATCH", path, R"({"Image": null})")
                           : change("POST", path + "/Actions/VirtualMedia.EjectMedia", "{}");
  EXPECT_TRUE(done(ejected)) << ejected.status << ejected.body;
  EXPECT_EQ(bmc.machine.virtual_disc(), "");
}

TEST_P(BmcSettings, ASubscriptionIsKeptUntilItIsDeleted) {
  const std::string subscriptions = "/redfish/v1/EventService/Subscriptions";

  auto made = change("POST", subscriptions, R"({"Destination": "https://10.0.0.9/events"})");

  ASSERT_EQ(made.status, 201);
  const auto own = made.headers["Location"];
  EXPECT_EQ(change("GET", own, "").status, 200);
  EXPECT_EQ(change("POST", subscriptions, R"({"Destination": "ftp://x"})").status, 400);
  EXPECT_TRUE(done(change("DELETE", own, "")));
  for (std::size_t i = 0; i < BmcState::kMostSubscriptions; ++i)
    EXPECT_EQ(change("POST", subscriptions, R"({"Destination": "https://10.0.0.9/events"})").status,
              201);
  EXPECT_EQ(change("POST", subscriptions, R"({"Destination": "https://10.0.0.9/events"})").status,
            503);
}

TEST_P(BmcSettings, ARestartOfTheBmcLeavesTheMachineAlone) {
  bmc.boot();
  const auto type = std::string{bmc.view().behavior().power.bmc_reset};

  const auto restarted = change("POST", bmc.view().manager() + "/Actions/Manager.Reset",
                                R"({"ResetType": ")" + type + "\"}");

  EXPECT_TRUE(done(restarted)) << restarted.status;
  EXPECT_TRUE(bmc.machine.up());
  EXPECT_EQ(bmc.service.open_sessions(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Vendor, BmcSettings, ::testing::ValuesIn(vendors()), test_name);

TEST(BmcBiosDependencies, OfDellMakePartsOfTheSystemProfileReadOnlyAndSetThem) {
  BmcBench bmc{"dell"};
  const auto& bios = bmc.service.state().bios;
  const auto stage = [&](const std::string& attributes) {
    return bmc
        .ask("PATCH", bmc.view().bios_settings(),
             R"({"Attributes": )" + attributes +
                 R"(, "@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"}})")
        .status;
  };

  EXPECT_EQ(stage(R"({"ProcTurboMode": "Disabled"})"), 400);
  EXPECT_EQ(stage(R"({"ProcTurboMode": "Disabled", "SysProfile": "PerfPerWattOptimizedOs"})"), 400);
  EXPECT_EQ(stage(R"({"ProcTurboMode": "Disabled", "SysProfile": "Custom"})"), 202);
  ASSERT_TRUE(bmc.boot());
  EXPECT_EQ(bios.current().at("ProcTurboMode"), "Disabled");
  EXPECT_EQ(stage(R"({"SysProfile": "PerfOptimized"})"), 202);
  ASSERT_TRUE(bmc.boot());
  EXPECT_EQ(bios.current().at("ProcTurboMode"), "Enabled");
}

TEST(BmcFactoryPassword, IsGoodForNothingButItsOwnEnd) {
  BmcBench bmc{BmcSpec{.vendor = "openbmc", .factory_password = true}};
  const std::string own = "/redfish/v1/AccountService/Accounts/admin";

  const auto login = bmc.log_in(bmc.password);

  EXPECT_EQ(login.status, 201);
  EXPECT_THAT(login.body, HasSubstr("PasswordChangeRequired"));
  const auto refused = bmc.ask("GET", bmc.view().system());
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr(own));
  EXPECT_EQ(bmc.ask("GET", own).status, 200);
  EXPECT_EQ(bmc.ask("PATCH", own, R"({"Password": "Another-secret-56"})").status, 204);
  EXPECT_EQ(bmc.ask("GET", bmc.view().system()).status, 200);
}

TEST(BmcAccountsOf, DellAreSlotsToFillAndNotToMake) {
  BmcBench bmc{"dell"};
  const std::string users = "/redfish/v1/AccountService/Accounts";

  EXPECT_EQ(bmc.seen(users, "Members@odata.count"), "16");
  EXPECT_EQ(bmc.ask("POST", users, R"({"UserName": "x", "Password": "y"})").status, 405);
  EXPECT_EQ(bmc.ask("DELETE", users + "/2").status, 405);
  EXPECT_EQ(bmc.ask("PATCH", users + "/1", R"({"UserName": "x"})").status, 400);
  EXPECT_EQ(bmc.ask("PATCH", users + "/3",
                    R"({"UserName": "x", "Password": "y", "RoleId": "ReadOnly", "Enabled": true})")
                .status,
            200);
  EXPECT_EQ(bmc.seen(users + "/3", "UserName"), "x");
}

TEST(BmcAccountsOf, OthersAreMadeAndRemoved) {
  BmcBench bmc{"openbmc"};
  const std::string users = "/redfish/v1/AccountService/Accounts";
  const auto body = R"({"UserName": "bob", "Password": "Hunter-hunter-2", "RoleId": "ReadOnly"})";

  auto made = bmc.ask("POST", users, body);

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.headers["Location"], users + "/bob");
  EXPECT_EQ(bmc.ask("POST", users, body).status, 400);
  EXPECT_EQ(bmc.ask("DELETE", users + "/bob").status, 204);
  EXPECT_EQ(bmc.ask("GET", users + "/bob").status, 404);
}

TEST(BmcAccountsOf, ReadOnlyUsersReadOnly) {
  BmcBench bmc{"openbmc"};
  const auto made = bmc.ask("POST", "/redfish/v1/AccountService/Accounts",
                            R"({"UserName": "bob", "Password": "Hunter-hunter-2"})");
  ASSERT_EQ(made.status, 201);
  const auto login = bmc.service.handle({"POST",
                                         std::string{BmcBench::kSessions},
                                         {},
                                         R"({"UserName": "bob", "Password": "Hunter-hunter-2"})"});
  bmc.token = login.headers.at("X-Auth-Token");

  EXPECT_EQ(bmc.ask("GET", bmc.view().system()).status, 200);
  EXPECT_EQ(bmc.ask("POST", bmc.view().system() + "/Actions/ComputerSystem.Reset",
                    R"({"ResetType": "On"})")
                .status,
            403);
  EXPECT_EQ(bmc.machine.power(), Power::off);
}

TEST(BmcAccountsOf, SupermicroLockAfterThreeWrongPasswords) {
  BmcBench bmc{"supermicro"};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bmc.log_in("wrong").status, 401);

  EXPECT_EQ(bmc.log_in(bmc.password).status, 401);
  bmc.pass(BmcAccounts::kLockout);
  EXPECT_EQ(bmc.log_in(bmc.password).status, 201);
}

}  // namespace
}  // namespace cupel::rehearsal
