// BMCs that are ill as a whole: dead, hung, locked, full, restarting, with a wrong clock or
// setting.
#include "rehearsal/bmc/latency.h"
#include "tests/rehearsal/bmc_bench.h"
#include "tests/rehearsal/rack_bench.h"
#include "tests/rehearsal/served_bmc.h"

namespace cupel::rehearsal {
namespace {
using ::testing::HasSubstr;

std::vector<Fault> one(FaultKind kind) { return {{.kind = kind}}; }

void set_faults(RackBench& bench, std::vector<Fault> faults) {
  bench.on("v01-n01", [&](Machine& machine) {
    machine.set_faults(std::move(faults));
    return true;
  });
}

TEST(BmcFault, ADeadOneHasNoPortsUntilItIsReplaced) {
  RackBench bench{one(FaultKind::bmc_dead)};
  Browser browser{bench.node(0).bmc.endpoint};

  EXPECT_EQ(browser.ask("GET", "/redfish/v1").failure, CURLE_COULDNT_CONNECT);
  set_faults(bench, {});
  EXPECT_EQ(browser.ask("GET", "/redfish/v1").status, 200);
  set_faults(bench, one(FaultKind::bmc_dead));

  EXPECT_NE(browser.ask("GET", "/redfish/v1").failure, CURLE_OK);
}

TEST(BmcFault, AHungOneTakesTheConnectionAndSaysNothing) {
  RackBench bench{one(FaultKind::bmc_hung)};
  Browser browser{bench.node(0).bmc.endpoint};
  browser.patience_ms = 300;

  const auto nothing = browser.ask("GET", "/redfish/v1");
  set_faults(bench, {});

  EXPECT_EQ(nothing.failure, CURLE_OPERATION_TIMEDOUT);
  EXPECT_EQ(browser.ask("GET", "/redfish/v1").status, 200);
}

class FaultOf : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Vendor, FaultOf, ::testing::ValuesIn(vendors()), test_name);

std::map<std::string, std::string> basic() {
  return {{"authorization", "Basic YWRtaW46T3Blbi1zZXNhbWUtMTIzNA=="}};
}

TEST_P(FaultOf, AFullOneRefusesSessionsInItsVendorsWordsAndTakesBasic) {
  BmcBench bmc{BmcSpec{.vendor = GetParam()}, one(FaultKind::bmc_sessions_full)};

  const auto refused = bmc.log_in(bmc.password);
  const auto taken = bmc.service.handle({"GET", bmc.view().system(), basic(), {}});

  EXPECT_EQ(refused.status, 503);
  const bool dell = GetParam() == "dell";
  EXPECT_THAT(refused.body, HasSubstr(dell ? "RAC0218" : "SessionLimitExceeded"));
  EXPECT_EQ(taken.status, 200);
}

TEST_P(FaultOf, ALockedAccountIsRefusedWithTheRightPassword) {
  BmcBench bmc{BmcSpec{.vendor = GetParam()}, one(FaultKind::bmc_locked)};

  EXPECT_EQ(bmc.log_in(bmc.password).status, 401);
  EXPECT_EQ(bmc.service.handle({"GET", bmc.view().system(), basic(), {}}).status, 401);
}

TEST_P(FaultOf, AWrongClockIsWrongInTheLogTooAndCanBeSet) {
  BmcBench bmc{BmcSpec{.vendor = GetParam()},
               {{.kind = FaultKind::bmc_clock_wrong, .amount = -30}}};
  bmc.boot();

  const auto year = std::stoi(bmc.seen(bmc.view().manager(), "DateTime").substr(0, 4));
  const auto created = bmc.seen(bmc.view().log() + "/Entries/1", "Created");
  bmc.ask("PATCH", bmc.view().manager(), R"({"DateTime":"2030-01-01T00:00:00+00:00"})");
  bmc.ask("PATCH", bmc.view().manager(), R"({"DateTime":"2030-01-01T00:00:00+00:00"})");

  EXPECT_LT(year, 2000);
  EXPECT_EQ(created.substr(0, 4), std::to_string(year));
  EXPECT_THAT(bmc.seen(bmc.view().manager(), "DateTime"), ::testing::StartsWith("20"));
}

TEST_P(FaultOf, AFaultThatIsNotLoggedLeavesTheLogAsItIs) {
  const auto entries = [](bool logged) {
    BmcBench bmc{BmcSpec{.vendor = GetParam()},
                 {{.kind = FaultKind::fan_stuck, .part = "fan3", .logged = logged}}};
    bmc.boot();
    return bmc.ask("GET", bmc.view().log() + "/Entries").body;
  };

  EXPECT_THAT(entries(true), HasSubstr("fan3 does not turn"));
  EXPECT_THAT(entries(false), ::testing::Not(HasSubstr("fan3 does not turn")));
}

TEST_P(FaultOf, AnEntryOfTheLogStandsThereInItsOwnWords) {
  BmcBench bmc{BmcSpec{.vendor = GetParam()},
               {{.kind = FaultKind::bmc_log_entry,
                 .component = "CPU0 thermal trip asserted; ACPI power state S5",
                 .version = "Critical",
                 .other = "Processor"}}};
  bmc.boot();

  const auto entries = bmc.ask("GET", bmc.view().log() + "/Entries").body;

  EXPECT_THAT(entries, HasSubstr("CPU0 thermal trip asserted; ACPI power state S5"));
  EXPECT_THAT(entries, HasSubstr(R"("Severity":"Critical")"));
}

TEST_P(FaultOf, AWrongSettingIsThereUntilSomebodySetsItAndBoots) {
  BmcBench bmc{
      BmcSpec{.vendor = GetParam()},
      {{.kind = FaultKind::wrong_bios_setting, .component = "LogicalProc", .version = "Disabled"}}};
  const auto setting = [&] {
    return std::string{bmc.service.state().bios.current().at("LogicalProc").as_string()};
  };
  EXPECT_EQ(setting(), "Disabled");
  bmc.boot();
  EXPECT_EQ(setting(), "Disabled");

  bmc.service.state().bios.stage({{"LogicalProc", "Enabled"}});
  bmc.service.state().jobs.push_back({.id = "JID_1"});
  bmc.boot();

  EXPECT_EQ(setting(), "Enabled");
}

TEST(BmcFault, OneThatRestartsByItselfForgetsItsSessionsEverySoOften) {
  BmcBench bmc{BmcSpec{}, {{.kind = FaultKind::bmc_resets, .span = VirtualTime{100}}}};
  int restarts = 0;
  bmc.service.on_restart = [&] { ++restarts; };
  bmc.log_in(bmc.password);

  ASSERT_TRUE(bmc.run_until([&] { return restarts == 3; }));
  const auto now = bmc.view().now();

  EXPECT_EQ(bmc.ask("GET", bmc.view().system()).status, 401);
  EXPECT_GE(now, VirtualTime{300});
}

TEST(BmcFault, OneOfTwoWithOneSerialNumberOrMacAddressHasItsOwnOfTheOther) {
  const auto with = [](std::vector<Fault> faults) {
    BmcBench bmc{BmcSpec{.vendor = "dgx"}, std::move(faults)};
    return std::pair{bmc.seen(bmc.view().system(), "SerialNumber"),
                     bmc.seen(bmc.view().manager() + "/EthernetInterfaces/eth0", "MACAddress")};
  };

  const auto own = with({});
  const auto serial = with({{.kind = FaultKind::serial_twice, .other = "v01-n02"}});
  const auto mac = with({{.kind = FaultKind::bmc_mac_twice, .other = "v01-n02"}});

  EXPECT_EQ(serial.first, make_hardware(dgx(), "v01-n02", 1, {}).serial);
  EXPECT_EQ(serial.second, own.second);
  EXPECT_EQ(mac.first, own.first);
  EXPECT_EQ(mac.second, make_hardware(dgx(), "v01-n02", 1, {}).bmc_mac);
  EXPECT_NE(mac.second, own.second);
}

// Cupel takes a local address for that of a link inside the machine, and would not see two alike.
TEST(BmcFault, TheAddressOfItsPortIsOfAVendorsRange) {
  constexpr std::string_view kUnicastOfAVendor = "048c";
  for (const std::string node : {"v01-n01", "v01-n02", "a", "b", "c"})
    EXPECT_TRUE(kUnicastOfAVendor.contains(make_hardware(dgx(), node, 1, {}).bmc_mac.at(1)))
        << node;
}

TEST(BmcFault, IpmiIsIllOfTheSame) {
  CUPEL_NEEDS_REAL_PART(installed("ipmitool"), "ipmitool is not there");
  const ServedBmc full{one(FaultKind::bmc_sessions_full)};
  const ServedBmc locked{one(FaultKind::bmc_locked)};
  const ServedBmc hung{one(FaultKind::bmc_hung)};
  const ServedBmc right;
  const ServedBmc late{{{.kind = FaultKind::bmc_clock_wrong, .amount = -30}}};

  EXPECT_THAT(full.ipmitool({"-v", "mc", "info"}).err, HasSubstr("nsufficient resources"));
  EXPECT_THAT(locked.ipmitool({"-v", "mc", "info"}).err, HasSubstr("unauthorized name"));
  EXPECT_NE(hung.ipmitool({"-R", "1", "mc", "info"}).status, 0);
  const auto year = [](const ServedBmc& bmc) {
    return bmc.ipmitool({"sel", "time", "get"}).out.substr(6, 2);  // "11/21/96 20:03:24 UTC"
  };
  EXPECT_NE(year(late), year(right));
}

TEST(BmcLatency, IsTheSameForTheSameAndDiffersForTheRest) {
  const auto& dgx = latency_behavior_of("dgx");
  const Asked system{"GET", "/redfish/v1/Systems/DGX"};

  EXPECT_EQ(latency_of(dgx, system, 1, "n1", 1), latency_of(dgx, system, 1, "n1", 1));
  EXPECT_NE(latency_of(dgx, system, 1, "n1", 1), latency_of(dgx, system, 1, "n1", 2));
  EXPECT_NE(latency_of(dgx, system, 1, "n1", 1), latency_of(dgx, system, 2, "n1", 1));
  EXPECT_NE(latency_of(dgx, system, 1, "n1", 1), latency_of(dgx, system, 1, "n2", 1));
}

TEST(BmcLatency, TheSlowPartsAreSlowAndTheFirstAnswerIsSlower) {
  for (const auto& row : all_vendor_behaviors()) {
    const auto& behavior = latency_behavior_of(row.vendor);
    const auto mean = [&](const Asked& asked) {
      VirtualTime sum{0};
      for (int i = 0; i < 200; ++i) sum += latency_of(behavior, asked, 7, "n1", i);
      return sum / 200;
    };
    const auto usual = mean({"GET", "/redfish/v1/Systems"});

    ASSERT_EQ(behavior.vendor, row.vendor);
    EXPECT_GT(mean({"GET", "/redfish/v1/Systems", true}), 2 * usual) << row.vendor;
    EXPECT_GT(mean({"PATCH", "/redfish/v1/Systems"}), 2 * usual) << row.vendor;
    const auto slow = mean({"GET", std::string{behavior.slow[0].path}});
    EXPECT_GT(slow, 3 * usual) << row.vendor;
  }
  const Asked firmware{"GET", "/redfish/v1/UpdateService/FirmwareInventory"};
  const auto minutes = latency_of(latency_behavior_of("dgx"), firmware, 1, "n1", 1);
  EXPECT_GT(minutes, VirtualTime{120});
  EXPECT_LE(minutes, VirtualTime{210});
}

TEST(BmcLatency, IsScaledByTheRacksSpeedAndLeftOutWhereNobodyAskedForIt) {
  BmcBench quick{BmcSpec{.vendor = "dell"}};
  BmcBench slow{BmcSpec{.vendor = "dell", .latency = true}, {}, 10};

  EXPECT_EQ(quick.ask("GET", "/redfish/v1/Systems").late.count(), 0);
  EXPECT_GE(slow.ask("GET", "/redfish/v1/Systems").late, std::chrono::milliseconds{325});
  EXPECT_LE(slow.ask("GET", "/redfish/v1/Systems").late, std::chrono::milliseconds{150});
}

}  // namespace
}  // namespace cupel::rehearsal
