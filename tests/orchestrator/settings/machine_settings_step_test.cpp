// The step machine-settings on a virtual BMC of each vendor: it looks, sets, restarts nothing, and
// verifies after a restart by what the BMC and the operating system report.
#include <gmock/gmock.h>

#include "bmc/redfish/redfish.h"
#include "inventory/model.h"
#include "orchestrator/record/codec.h"
#include "orchestrator/settings/converge.h"
#include "orchestrator/steps/settings_before.h"
#include "orchestrator/steps/step_type.h"
#include "playbooks/plan.h"
#include "playbooks/step_kind.h"
#include "tests/orchestrator/store_fixture.h"
#include "tests/support/virtual_bmc.h"

namespace cupel::steps {
namespace {

using engine::EventKind;
using engine::Outcome;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ForgottenKeys final : public inventory::KnownKeys {
 public:
  std::optional<std::string> pinned(std::string_view) override { return std::nullopt; }
  void pin(std::string_view, std::string_view) override {}
};

class MachineSettings : public store::StoreTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    store = open();
    ASSERT_TRUE(store);
    node.name = "n1";
    node.profile = "one";
    profile().name = "one";
    profile().bios = {{.attribute = "BootMode", .value = "Bios"}};
    profile().settings.portable = {{"secure_boot", "on"}};
    profile().settings.boot_order = {"disk", "pxe"};
    profile().settings.bmc = {.ntp_servers = {"10.0.0.1"},
                              .syslog = {{"udp", "10.0.0.9", 514}},
                              .alerts = {"https://10.0.0.9/events"},
                              .services = {{"SNMP", true}, {"KVMIP", false}},
                              .session_timeout = std::chrono::seconds{900}};
    run = store->begin_run(run_on({"n1"})).value();
  }
  void become(test::VirtualBmc::Options options) {
    options.bmc.vendor = GetParam();
    machine = std::make_unique<test::VirtualBmc>(std::move(options));
  }
  inventory::Profile& profile() { return inventory.profiles["one"]; }

  std::unique_ptr<bmc::Bmc> bmc() {
    if (!machine) become({});
    const auto password = [this]() -> Task<Result<std::string>> {
      return [](std::string secret) -> Task<Result<std::string>> {
        co_return secret;
      }(machine->password());
    };
    return bmc::redfish::open(
        transport, "n1",
        {.endpoint = machine->endpoint(), .user = machine->user(), .password = {}, .trust = {}},
        password, keys);
  }
  engine::StepEnd step(const std::string& verify = "no") {
    playbooks::PlannedStep planned;
    planned.kind = playbooks::StepKind::machine_settings;
    planned.name = "machine-settings";
    planned.with = {{"verify", verify}};
    StepEnvironment doors{
        inventory, *store, [this](const inventory::Node&) { return bmc(); }, {}, nullptr};
    const auto stop = engine::Stop::no;
    const engine::StepRequest request{run,
                                      node,
                                      {},
                                      planned,
                                      1,
                                      {},
                                      Deadline::in(std::chrono::seconds{60}),
                                      stop,
                                      {},
                                      [](const std::string&) {}};
    auto ended = run_to_end(io, step_type(planned.kind).perform(doors, request));
    EXPECT_TRUE(ended) << ended.error().what;
    return ended ? *std::move(ended) : engine::StepEnd{};
  }
  Task<Result<bool>> is_as_expected() {
    const auto session = bmc();
    auto seen = co_await settings::read_settings(*session, profile(),
                                                 Deadline::in(std::chrono::seconds{20}));
    co_await session->log_out();
    if (!seen) co_return std::move(seen).error();
    co_return settings::plan_settings(profile(), *seen).is_as_expected();
  }
  static std::string pending(const engine::StepEnd& end) {
    return std::string{end.found.at("facts").at("settings.pending").as_string()};
  }
  int requests() {
    return machine->on([](auto&, auto& service) { return static_cast<int>(service.requests()); });
  }
  /// The stage `facts` has measured this.
  void measured(const std::string& name, double value) {
    auto ended = event(EventKind::step_ended, "n1", "facts");
    burnin::Findings findings;
    findings.measurements = {{.name = name, .value = value}};
    ended.data = record::to_json(findings);
    ended.data["outcome"] = "done";
    ASSERT_TRUE(store->append(run, ended));
  }

  asio::io_context io;
  bmc::redfish::Transport transport{io.get_executor()};
  ForgottenKeys keys;
  inventory::Node node{};
  inventory::Inventory inventory{};
  std::unique_ptr<store::Store> store{};
  std::unique_ptr<test::VirtualBmc> machine{};
  engine::RunId run{};
};

TEST_P(MachineSettings, AreSetAndTrueAfterTheNextBoot) {
  const auto set = step();
  const auto again = step();
  const auto early = step("yes");
  ASSERT_TRUE(machine->boot());
  const auto verified = step("yes");
  const auto later = step();
  const auto alerts = machine->on([](auto&, auto& service) {
    return std::ranges::count_if(service.state().subscriptions, [](const auto& one) {
      return one.second.destination == "https://10.0.0.9/events";
    });
  });

  EXPECT_EQ(alerts, 1);
  EXPECT_EQ(set.outcome, Outcome::done) << set.detail;
  EXPECT_EQ(pending(set), "yes");
  EXPECT_THAT(set.detail, HasSubstr("the next boot applies them"));
  EXPECT_EQ(again.outcome, Outcome::done) << again.detail;
  EXPECT_THAT(again.detail, HasSubstr("0 settings set"));
  EXPECT_EQ(early.outcome, Outcome::retry) << early.detail;
  EXPECT_THAT(early.detail, HasSubstr("still wait for a boot"));
  EXPECT_EQ(verified.outcome, Outcome::done) << verified.detail;
  EXPECT_EQ(later.outcome, Outcome::done) << later.detail;
  EXPECT_EQ(pending(later), "no");
}

TEST_P(MachineSettings, AreKeptAsTheyWereBeforeTheFirstOneIsSet) {
  step();
  profile().bios = {{.attribute = "BootMode", .value = "Uefi"}};
  step();

  const auto before = settings_before(*store, "n1");

  ASSERT_TRUE(before) << before.error().what;
  ASSERT_TRUE(*before);
  EXPECT_EQ((*before)->bios.at("BootMode"), bmc::BiosValue{std::string{"Uefi"}});
  ASSERT_TRUE(drop_settings_before(*store, "n1"));
  EXPECT_EQ(*settings_before(*store, "n1"), std::nullopt);
}

TEST_P(MachineSettings, ThatABootDropsFailTheVerification) {
  become({.faults = {{.kind = rehearsal::FaultKind::settings_ignored}}});

  const auto set = step();
  ASSERT_TRUE(machine->boot());
  const auto verified = step("yes");

  EXPECT_EQ(set.outcome, Outcome::done) << set.detail;
  EXPECT_EQ(verified.outcome, Outcome::reject);
  EXPECT_THAT(verified.detail, HasSubstr("bios BootMode is Uefi, expected Bios"));
  EXPECT_THAT(verified.detail, HasSubstr("is pxe, disk, http, shell, expected disk, pxe"));
}

TEST_P(MachineSettings, AreSetBesideOneThatIsRefused) {
  profile().bios.push_back({.attribute = "NoSuchThing", .value = "1"});

  const auto set = step();
  const auto ntp = machine->on([](auto&, auto& service) { return service.state().ntp_servers; });
  const bool staged =
      machine->on([](auto&, auto& service) { return !service.state().bios.pending().empty(); });

  EXPECT_EQ(set.outcome, Outcome::reject);
  EXPECT_THAT(set.detail, HasSubstr("not set: bios NoSuchThing cannot be 1"));
  EXPECT_THAT(set.detail, HasSubstr("the other settings are set"));
  EXPECT_THAT(ntp, Not(IsEmpty()));
  EXPECT_TRUE(staged);
}

TEST_P(MachineSettings, ThatTheMachineDoesNotHaveAreLeftOutAndSaid) {
  profile().settings.bmc.services.push_back({.name = "Gopher", .enabled = false});

  const auto set = step();

  EXPECT_EQ(set.outcome, Outcome::done) << set.detail;
  EXPECT_THAT(set.detail, HasSubstr("not on this machine: bmc service Gopher: this BMC has no "
                                    "such service"));
}

TEST_P(MachineSettings, ThatTheOperatingSystemSeesOtherwiseFailTheVerification) {
  profile().bios.clear();
  profile().settings = {};
  profile().settings.portable = {{"iommu", "on"}};
  const auto reported = run_to_end(io, is_as_expected());
  ASSERT_TRUE(reported) << reported.error().what;
  if (!*reported) GTEST_SKIP() << "this vendor has no row for the IOMMU";

  measured("iommu.on", 0);
  const auto verified = step("yes");
  measured("iommu.on", 1);
  const auto now = step("yes");

  EXPECT_EQ(verified.outcome, Outcome::reject);
  EXPECT_EQ(verified.detail, "iommu is off to the operating system (iommu.on 0), expected on");
  EXPECT_EQ(now.outcome, Outcome::done) << now.detail;
  EXPECT_THAT(now.detail, HasSubstr("1 by the operating system too"));
}

TEST_P(MachineSettings, AreNotAskedForWhereTheProfileWantsNone) {
  profile().bios.clear();
  profile().settings = {};
  become({});

  const auto set = step();

  EXPECT_EQ(set.outcome, Outcome::done);
  EXPECT_EQ(pending(set), "no");
  EXPECT_EQ(requests(), 0);
}

/// On an iDRAC, whose registry has attributes that SysProfile makes read-only.
class DependentSettings : public MachineSettings {
 protected:
  void SetUp() override {
    MachineSettings::SetUp();
    profile().settings = {};
    profile().bios = {{.attribute = "ProcTurboMode", .value = "Disabled"},
                      {.attribute = "AcPwrRcvry", .value = "On"}};
  }
  std::string current(const char* attribute) {
    return machine->on([&](auto&, auto& service) {
      return std::string{service.state().bios.current().at(attribute).as_string()};
    });
  }
};

TEST_P(DependentSettings, NameTheValueThatMakesThemReadOnlyAndTheOthersAreSet) {
  const auto set = step();
  ASSERT_TRUE(machine->boot());

  EXPECT_EQ(set.outcome, Outcome::reject);
  EXPECT_THAT(set.detail, HasSubstr("bios ProcTurboMode cannot be Disabled: ProcTurboMode is "
                                    "read-only while SysProfile is PerfOptimized; add SysProfile: "
                                    "Custom; the other settings are set"));
  EXPECT_EQ(current("ProcTurboMode"), "Enabled");
  EXPECT_EQ(current("AcPwrRcvry"), "On");
}

TEST_P(DependentSettings, AreSetWithWhatMakesThemWritableByOneBoot) {
  profile().bios.push_back({.attribute = "SysProfile", .value = "Custom"});

  const auto set = step();
  const auto again = step();
  ASSERT_TRUE(machine->boot());
  const auto verified = step("yes");

  EXPECT_EQ(set.outcome, Outcome::done) << set.detail;
  EXPECT_EQ(again.outcome, Outcome::done) << again.detail;
  EXPECT_EQ(verified.outcome, Outcome::done) << verified.detail;
  EXPECT_EQ(current("ProcTurboMode"), "Disabled");
}

TEST_P(DependentSettings, ThatAnotherSettingSetsAreLeftToIt) {
  profile().bios = {{.attribute = "SysProfile", .value = "PerfPerWattOptimizedOs"},
                    {.attribute = "ProcCStates", .value = "Enabled"}};

  const auto set = step();
  ASSERT_TRUE(machine->boot());
  const auto verified = step("yes");

  EXPECT_EQ(set.outcome, Outcome::done) << set.detail;
  EXPECT_EQ(verified.outcome, Outcome::done) << verified.detail;
}

/// SysProfile waits already, and an iDRAC takes no second job before the boot.
TEST_P(DependentSettings, WaitForTheBootThatMakesThemWritable) {
  profile().bios = {{.attribute = "SysProfile", .value = "Custom"}};
  const auto first = step();
  profile().bios.push_back({.attribute = "ProcTurboMode", .value = "Disabled"});

  const auto waiting = step();
  const auto early = step("yes");
  ASSERT_TRUE(machine->boot());
  const auto set = step();
  machine->on([](rehearsal::Machine& running, auto&) {
    return running.press(rehearsal::Reset::force_off);
  });
  ASSERT_TRUE(machine->boot());
  const auto verified = step("yes");

  EXPECT_EQ(first.outcome, Outcome::done) << first.detail;
  EXPECT_EQ(waiting.outcome, Outcome::done) << waiting.detail;
  EXPECT_THAT(waiting.detail, HasSubstr("to be set once more after the boot: bios ProcTurboMode"));
  EXPECT_EQ(pending(waiting), "yes");
  EXPECT_EQ(early.outcome, Outcome::retry) << early.detail;
  EXPECT_EQ(set.outcome, Outcome::done) << set.detail;
  EXPECT_EQ(verified.outcome, Outcome::done) << verified.detail;
  EXPECT_EQ(current("ProcTurboMode"), "Disabled");
}

INSTANTIATE_TEST_SUITE_P(OfVendor, DependentSettings, ::testing::Values("dell"));

INSTANTIATE_TEST_SUITE_P(OfVendor, MachineSettings,
                         ::testing::Values("dgx", "dell", "hpe", "hpe-ilo5", "lenovo", "supermicro",
                                           "ami", "openbmc"));

}  // namespace
}  // namespace cupel::steps
