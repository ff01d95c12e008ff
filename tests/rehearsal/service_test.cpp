// What a BMC answers, without sockets.
#include "rehearsal/bmc/service.h"

#include "tests/rehearsal/bench.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;

constexpr const char* kSessions = "/redfish/v1/SessionService/Sessions";
constexpr const char* kSystem = "/redfish/v1/Systems/DGX";
constexpr const char* kBoot = "/redfish/v1/Systems/DGX/SD";
constexpr const char* kReset = "/redfish/v1/Systems/DGX/Actions/ComputerSystem.Reset";

/// A BMC of a machine that is off.
class Bmc {
 public:
  explicit Bmc(std::vector<Fault> faults = {}, double speed = 1000)
      : clock{speed},
        machine{io.get_executor(), clock, dgx(), "v01-n01", 1, BootTimes{}, std::move(faults)} {}
  ~Bmc() {
    machine.stop();
    io.restart();
    io.run();
  }

  HttpResponse ask(std::string method, std::string target, std::string body = {}) {
    std::map<std::string, std::string> headers;
    if (!token.empty()) headers["x-auth-token"] = token;
    if (method == "PATCH") headers["if-match"] = "*";
    return service.handle({std::move(method), std::move(target), headers, std::move(body)});
  }
  HttpResponse log_in(const std::string& password = "secret") {
    auto response =
        ask("POST", kSessions, R"({"UserName": "admin", "Password": ")" + password + "\"}");
    if (response.status == 201) token = response.headers["X-Auth-Token"];
    return response;
  }
  std::string seen(const std::string& target, std::string_view path) {
    const auto body = parse_json(ask("GET", target).body);
    return body ? text_at(*body, path).value_or("") : "";
  }
  std::string error(const HttpResponse& response) {
    const auto body = parse_json(response.body);
    return body ? text_at(*body, "error/code").value_or("") : "";
  }
  bool run_until(const std::function<bool()>& condition) {
    const auto until = Clock::Real::now() + std::chrono::minutes{1};
    io.restart();
    while (!condition() && Clock::Real::now() < until)
      if (io.run_one_until(until) == 0) break;
    return condition();
  }

  asio::io_context io{1};
  Clock clock;
  Machine machine;
  BmcService service{machine, {"admin", "secret"}};
  std::string token;
};

TEST(BmcServiceTest, ShowsTheRootToEverybodyAndNothingElse) {
  Bmc bmc;

  EXPECT_EQ(bmc.ask("GET", "/redfish").body, R"({"v1":"/redfish/v1/"})");
  EXPECT_EQ(bmc.ask("GET", "/redfish/v1").status, 200);
  EXPECT_EQ(bmc.ask("GET", "/redfish/v1/").status, 200);
  const auto refused = bmc.ask("GET", "/redfish/v1/Systems");
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(bmc.error(refused), "Base.1.12.NoValidSession");
  EXPECT_EQ(bmc.ask("POST", kReset, R"({"ResetType": "On"})").status, 401);
  EXPECT_EQ(bmc.machine.power(), Power::off);
}

TEST(BmcServiceTest, ASessionLastsUntilItIsDeleted) {
  Bmc bmc;

  const auto login = bmc.log_in();

  EXPECT_EQ(login.status, 201);
  const auto session = login.headers.at("Location");
  EXPECT_EQ(session, std::string{kSessions} + "/1");
  EXPECT_EQ(bmc.ask("GET", kSystem).status, 200);
  EXPECT_EQ(bmc.seen(session, "UserName"), "admin");
  EXPECT_EQ(bmc.ask("DELETE", session).status, 204);
  EXPECT_EQ(bmc.ask("GET", kSystem).status, 401);
}

TEST(BmcServiceTest, TakesBasicAuthorizationToo) {
  Bmc bmc;
  const auto with = [&](std::string header) {
    return bmc.service.handle({"GET", kSystem, {{"authorization", std::move(header)}}, {}}).status;
  };

  EXPECT_EQ(with("Basic YWRtaW46c2VjcmV0"), 200);  // admin:secret
  EXPECT_EQ(with("Basic YWRtaW46d3Jvbmc="), 401);  // admin:wrong
  EXPECT_EQ(with("Basic ###"), 401);
  EXPECT_EQ(with("Basic "), 401);
  EXPECT_EQ(with("Bearer YWRtaW46c2VjcmV0"), 401);
}

TEST(BmcServiceTest, HasEightSeats) {
  Bmc bmc;
  for (std::size_t i = 0; i < BmcService::kMostSessions; ++i) EXPECT_EQ(bmc.log_in().status, 201);

  const auto ninth = bmc.log_in();

  EXPECT_EQ(ninth.status, 503);
  EXPECT_EQ(bmc.error(ninth), "Base.1.12.SessionLimitExceeded");
  EXPECT_EQ(bmc.ask("DELETE", std::string{kSessions} + "/3").status, 204);
  EXPECT_EQ(bmc.log_in().status, 201);
}

TEST(BmcServiceTest, RefusesWrongAndMalformedLogins) {
  Bmc bmc;

  EXPECT_EQ(bmc.log_in("wrong").status, 401);
  EXPECT_EQ(bmc.ask("POST", kSessions, "{").status, 400);
  EXPECT_EQ(bmc.ask("POST", kSessions, "[]").status, 401);
  EXPECT_EQ(bmc.ask("POST", kSessions, R"({"UserName": 1, "Password": null})").status, 401);
  EXPECT_EQ(bmc.service.refused_logins(), 3);
  EXPECT_EQ(bmc.service.open_sessions(), 0);
}

TEST(BmcServiceTest, RefusesThePasswordWhereAFaultChangedIt) {
  Bmc bmc{{{.kind = FaultKind::bmc_wrong_password}}};

  EXPECT_EQ(bmc.log_in().status, 401);
}

TEST(BmcServiceTest, SaysWhatItCannotDo) {
  Bmc bmc;
  bmc.log_in();

  EXPECT_EQ(bmc.ask("GET", "/redfish/v1/Nothing").status, 404);
  EXPECT_EQ(bmc.ask("POST", "/redfish/v1/Nothing", "{}").status, 404);
  const auto refused = bmc.ask("DELETE", kSystem);
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(refused.headers.at("Allow"), "GET, HEAD, PATCH");
  EXPECT_EQ(bmc.ask("GET", kReset).status, 405);
  EXPECT_EQ(bmc.ask("GET", std::string{kSystem} + "?$filter=x").status, 501);
  EXPECT_EQ(bmc.ask("GET", std::string{kSystem} + "?other=1").status, 200);
  EXPECT_TRUE(bmc.ask("HEAD", kSystem).body.empty());
}

TEST(BmcServiceTest, ResetPressesTheButton) {
  Bmc bmc;
  bmc.log_in();

  EXPECT_EQ(bmc.ask("POST", kReset, R"({"ResetType": "On"})").status, 204);

  EXPECT_TRUE(bmc.run_until([&] { return bmc.machine.up(); }));
  EXPECT_EQ(bmc.seen(kSystem, "PowerState"), "On");
  EXPECT_EQ(bmc.ask("POST", kReset, R"({"ResetType": "ForceOff"})").status, 204);
  EXPECT_FALSE(bmc.machine.up());
  EXPECT_TRUE(bmc.run_until([&] { return bmc.machine.power() == Power::off; }));
}

TEST(BmcServiceTest, RefusesAResetThatMakesNoSense) {
  Bmc bmc;
  bmc.log_in();

  EXPECT_EQ(bmc.ask("POST", kReset, R"({"ResetType": "ForceRestart"})").status, 409);
  const auto unknown = bmc.ask("POST", kReset, R"({"ResetType": "Explode"})");
  EXPECT_EQ(unknown.status, 400);
  EXPECT_EQ(bmc.error(unknown), "Base.1.12.ActionParameterValueNotInList");
  EXPECT_EQ(bmc.ask("POST", kReset, "{}").status, 400);
  EXPECT_EQ(bmc.ask("POST", kReset, "nonsense").status, 400);
  EXPECT_EQ(bmc.ask("POST", kReset, "[1]").status, 400);
  EXPECT_EQ(bmc.machine.power(), Power::off);
}

TEST(BmcServiceTest, PowerStateTrailsTheMachine) {
  Bmc bmc{{}, 1};
  bmc.log_in();
  EXPECT_EQ(bmc.seen(kSystem, "PowerState"), "Off");

  bmc.ask("POST", kReset, R"({"ResetType": "On"})");

  EXPECT_EQ(bmc.machine.power(), Power::powering_on);
  EXPECT_EQ(bmc.seen(kSystem, "PowerState"), "Off");
}

TEST(BmcServiceTest, BootOverrideOfOnceIsGoneAfterTheBoot) {
  Bmc bmc;
  bmc.log_in();
  const auto patched = bmc.ask("PATCH", kBoot,
                               R"({"Boot": {"BootSourceOverrideEnabled": "Once",
                                            "BootSourceOverrideTarget": "Pxe",
                                            "BootSourceOverrideMode": "UEFI"}})");
  EXPECT_EQ(patched.status, 204);
  EXPECT_EQ(bmc.seen(kSystem, "Boot/BootSourceOverrideTarget"), "Pxe");

  bmc.ask("POST", kReset, R"({"ResetType": "On"})");
  bmc.run_until([&] { return bmc.machine.up(); });

  EXPECT_EQ(bmc.machine.booted_from(), "Pxe");
  EXPECT_EQ(bmc.seen(kSystem, "Boot/BootSourceOverrideTarget"), "None");
  EXPECT_EQ(bmc.seen(kSystem, "Boot/BootSourceOverrideEnabled"), "Disabled");
}

TEST(BmcServiceTest, AWrongPatchChangesNothing) {
  Bmc bmc;
  bmc.log_in();

  for (const auto body :
       {R"({"Boot": {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideMode": "Legacy"}})",
        R"({"Boot": {"BootSourceOverrideTarget": "Pxe", "Nonsense": 1}})", R"({"Boot": 3})",
        R"({"Boot": {"BootSourceOverrideTarget": 7}})", R"({"Name": "x"})", "{}", "[]", "{"})
    EXPECT_EQ(bmc.ask("PATCH", kBoot, body).status, 400) << body;

  EXPECT_EQ(bmc.machine.boot_override(), BootOverride{});
}

TEST(BmcServiceTest, AnOldETagIsRefused) {
  Bmc bmc;
  bmc.log_in();
  const auto etag = bmc.ask("GET", kBoot).headers.at("ETag");
  const auto patch = [&](const std::string& match) {
    return bmc.service
        .handle({"PATCH",
                 kBoot,
                 {{"x-auth-token", bmc.token}, {"if-match", match}},
                 R"({"Boot": {"BootSourceOverrideEnabled": "Once",
                              "BootSourceOverrideTarget": "Hdd"}})"})
        .status;
  };

  EXPECT_EQ(patch(etag), 204);
  EXPECT_EQ(patch(etag), 412);
  EXPECT_EQ(patch("*"), 204);
}

TEST(BmcServiceTest, IsBusyForAWhileAndSaysForHowLong) {
  Bmc bmc{{{.kind = FaultKind::bmc_busy, .span = VirtualTime{20}}}, 100};

  const auto response = bmc.ask("GET", "/redfish/v1");

  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.headers.at("Retry-After"), "1");
  asio::steady_timer timer{bmc.io, bmc.clock.real(VirtualTime{20})};
  bool over = false;
  timer.async_wait([&](auto) { over = true; });
  bmc.run_until([&] { return over; });
  EXPECT_EQ(bmc.ask("GET", "/redfish/v1").status, 200);
}

TEST(BmcServiceTest, ShowsItsFaults) {
  Bmc bmc{{{.kind = FaultKind::gpu_missing, .part = "gpu5"},
           {.kind = FaultKind::dimm_too_small, .part = "dimm A7", .bytes = 32.0 * 1073741824},
           {.kind = FaultKind::psu_missing, .part = "psu2"},
           {.kind = FaultKind::wrong_firmware, .component = "HostBMC_0", .version = "1.2.3"}}};
  bmc.log_in();

  EXPECT_EQ(bmc.ask("GET", "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_SXM_5").status, 200);
  EXPECT_EQ(bmc.ask("GET", "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_SXM_6").status, 404);
  EXPECT_THAT(bmc.ask("GET", std::string{kSystem} + "/Memory/DevType2_DIMM6").body,
              HasSubstr("\"CapacityMiB\":32768"));
  EXPECT_EQ(bmc.ask("GET", "/redfish/v1/Chassis/DGX/PowerSubsystem/PowerSupplies/PSU2").status,
            404);
  EXPECT_EQ(bmc.seen("/redfish/v1/UpdateService/FirmwareInventory/HostBMC_0", "Version"), "1.2.3");
}

TEST(BmcServiceTest, ARestartOfTheBmcEndsItsSessions) {
  Bmc bmc;
  bmc.log_in();
  int restarts = 0;
  bmc.service.on_restart = [&] { ++restarts; };
  const std::string target = "/redfish/v1/Managers/BMC/Actions/Manager.Reset";

  EXPECT_EQ(bmc.ask("POST", target, R"({"ResetType": "Nonsense"})").status, 400);
  EXPECT_EQ(bmc.ask("POST", target, R"({"ResetType": "ForceRestart"})").status, 204);

  EXPECT_EQ(restarts, 1);
  EXPECT_EQ(bmc.ask("GET", kSystem).status, 401);
}

}  // namespace
}  // namespace cupel::rehearsal
