// Every verb that changes something, on every machine that was captured, in its own layout. What a
// machine offers was looked up in its capture by hand.
#include <sstream>

#include "tests/bmc/fixture.h"
#include "tests/support/captures.h"

namespace cupel::bmc {
namespace {

/// What is expected of a verb.
enum class Is { done, unsupported };

struct Expected {
  const char* machine;
  Is http;           // UefiHttp among the boot targets
  Is http_uri;       // and Boot.HttpBootUri
  Is disk;           // Hdd
  Is stays;          // Continuous
  const char* cd;    // the word that is sent for the virtual disc; empty: none
  const char* ac;    // what is done for an AC cycle of a machine that is off; empty: none
  const char* slot;  // that takes the disc; empty: none
  const char* user;  // whose password changes
  const char* password;
  const char* reset_bmc;
  int logs;             // cleared
  const char* service;  // that can be switched; empty: none
  const char* setting;  // of the BIOS; empty: none
  const char* value;
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.machine; }

constexpr const char* kGraceful = R"({"ResetType":"GracefulRestart"})";
constexpr const char* kForced = R"({"ResetType":"ForceRestart"})";
constexpr const char* kGood = "Gr4phite-Crucible";
constexpr const char* kHpeAc = R"(HpeComputerSystemExt.SystemReset {"ResetType":"AuxCycle"})";
constexpr const char* kLenovoAc =
    R"(LenovoComputerSystem.SystemReset {"ResetType":"ACPowerCycle"})";
constexpr auto yes = Is::done, no = Is::unsupported;

const Expected kExpected[] = {
    // Bios/SD, /Systems/DGX/SD; no member in VirtualMedia. SEL and EventLog of the BMC, EventLog of
    // the baseboard.
    {"nvidia_viking", yes, yes, yes, yes, "Cd", "", "", "tests_admin", kGood, kForced, 3, "SSH",
     "ARIEnable", "Disable"},
    // No HttpBootUri, no OEM action at the System. Health Event Log is the one of type SEL.
    {"supermicro", yes, no, yes, yes, "UsbCd", "", "VirtualMedia1", "tests_admin", kGood, kGraceful,
     1, "SNMP", "ADDDCSparing_3C3F", "Disabled"},
    // This firmware's chassis has only the standard's reset: On, ForceOff.
    {"dell", yes, no, yes, yes, "Cd", "", "1", "tests_admin", kGood, kGraceful, 1, "Telnet",
     "NumLock", "Off"},
    {"hpe", yes, no, yes, yes, "Cd", kHpeAc, "2", "tests_admin", kGood, kGraceful, 1, "IPMI",
     "AccessControlService", "Disabled"},
    // No UefiHttp; Once and Disabled are all that Enabled may be. SEL and PlatformLog. The System
    // links its own list of slots or not: both have EXT1 first of those that take an URL.
    {"lenovo", no, no, yes, no, "Cd", kLenovoAc, "EXT1", "root", kGood, kGraceful, 2, "IPMI",
     "DevicesandIOPorts_SerialPortAccessMode", "Disabled"},
    {"lenovo-sr670v2-xcc-1.40", no, no, yes, no, "Cd", kLenovoAc, "EXT1", "Egxadmin", kGood,
     kGraceful, 1, "IPMI", "Processors_TurboMode", "Disabled"},
    // EventLog and SEL of System_0, EventLog of the baseboard. No BootSourceOverrideMode anywhere.
    {"nvidia_gb200", no, no, yes, yes, "Cd",
     R"(NvidiaChassis.AuxPowerReset {"ResetType":"AuxPowerCycle"})", "USB2", "ipmiuser", kGood,
     kGraceful, 3, "SSH", "EGM", "true"},
    // Its settings list other targets than its System: UefiHttp is in one, Hdd and Cd in the other.
    {"nvidia_dpu", yes, yes, yes, yes, "Cd", "", "", "root", kGood, kGraceful, 0, "SSH",
     "EnableSMMU", "false"},
    {"nvidia-bluefield3-bmc-23.10", yes, yes, no, yes, "", "", "", "root", kGood, kGraceful, 2,
     "SSH", "Enable SMMU", "false"},
    // Its Bios link is a 404 in the capture.
    {"XL675d_A100", yes, no, yes, yes, "Cd", kHpeAc, "2", "root", kGood, kGraceful, 1, "SSH", "",
     ""},
    {"hpe-dl380a-gen11-ilo6-2xh100nvl", yes, no, yes, yes, "Cd", kHpeAc, "2", "prostack_admin",
     kGood, kGraceful, 1, "IPMI", "", ""},
    // A BIOS resource without attributes.
    {"OpenBMC-stock", no, no, yes, yes, "Cd", "", "", "root", kGood, kGraceful, 1, "SSH", "", ""},
    // Its @Redfish.Settings names no settings resource, and /SD was not captured.
    {"Gigabyte", yes, no, yes, yes, "Cd", "", "CD1", "root", kGood, kForced, 2, "SNMP", "", ""},
};

class CapturedWrites : public ::testing::TestWithParam<Expected> {
 protected:
  void SetUp() override {
    const auto tree = test::capture(GetParam().machine);
    CUPEL_NEEDS_REAL_PART(tree.has_value(), "no capture " << GetParam().machine);
    server.emplace(
        test::HttpsServer::Options{.tree = *tree, .writes = test::captured_actions(machine)});
    open();
  }
  void TearDown() override {
    if (server) RecordProperty("requests", server->asked().requests);
  }
  void open() {
    const inventory::BmcAccess access{
        .endpoint = server->endpoint(), .user = user, .password = {}, .trust = {}};
    bmc = redfish::open(transport, "n", access, password_from(password), keys);
  }
  template <class T>
  T run(Task<T> task) {
    return run_to_end(io, std::move(task));
  }
  static Deadline soon() { return Deadline::in(60s); }
  template <class T>
  static void expect(Is what, const Result<T>& done, const char* verb) {
    const std::string text = done ? "" : done.error().what;
    if (what == Is::done) {
      EXPECT_TRUE(done) << verb << ": " << text;
    } else {
      EXPECT_EQ(done ? Code{} : done.error().code, Code::kUnsupported) << verb << ": " << text;
      EXPECT_GT(text.size(), 20u) << verb;
    }
  }
  Result<Protocol> boot(BootOverride requested) { return run(bmc->boot.set(requested, soon())); }
  BootOverride seen() {
    auto reported = run(bmc->boot.read(soon()));
    return reported ? reported->value : BootOverride{};
  }

  test::Done machine;
  asio::io_context io;
  std::optional<test::HttpsServer> server;
  redfish::Transport transport{io.get_executor()};
  RememberedKeys keys;
  std::string user = "admin", password = "open sesame";
  std::unique_ptr<Bmc> bmc;
};

TEST_P(CapturedWrites, BootsFromWhatItHas) {
  const Expected& truth = GetParam();

  expect(yes, boot({.target = BootTarget::pxe, .once = true}), "pxe");
  EXPECT_EQ(seen(), (BootOverride{.target = BootTarget::pxe, .once = true}));
  expect(truth.http, boot({.target = BootTarget::uefi_http, .once = true}), "http");
  expect(truth.http_uri,
         boot({.target = BootTarget::uefi_http, .once = true, .uri = "http://10.0.0.1/a.efi"}),
         "http with URI");
  if (truth.http_uri == Is::done) {
    EXPECT_EQ(seen().uri, "http://10.0.0.1/a.efi");
  }
  expect(truth.disk, boot({.target = BootTarget::disk, .once = true}), "disk");
  expect(truth.stays, boot({.target = BootTarget::pxe, .once = false}), "pxe that stays");
  const auto cd = boot({.target = BootTarget::virtual_cd, .once = true});
  expect(truth.cd[0] != 0 ? yes : no, cd, "cd");
  if (truth.cd[0] != 0) {
    EXPECT_THAT(server->asked().patches.back(),
                HasSubstr("\"BootSourceOverrideTarget\":\"" + std::string{truth.cd} + "\""));
  }
  expect(yes, boot({}), "none");
  EXPECT_EQ(seen(), BootOverride{});
}

TEST_P(CapturedWrites, TurnsOffAndOnAgain) {
  const auto off = run(bmc->power.reset(ResetType::force_off, soon()));
  const auto was_off = run(bmc->power.state(soon()));
  const auto on = run(bmc->power.reset(ResetType::on, soon()));
  const auto was_on = run(bmc->power.state(soon()));

  expect(yes, off, "off");
  expect(yes, on, "on");
  EXPECT_EQ(*was_off, PowerState::off);
  EXPECT_EQ(*was_on, PowerState::on);
  EXPECT_THAT(machine.actions, ElementsAre(R"(ComputerSystem.Reset {"ResetType":"ForceOff"})",
                                           R"(ComputerSystem.Reset {"ResetType":"On"})"));
}

TEST_P(CapturedWrites, CutsItsStandbyPowerWhereItCan) {
  const std::string expected = GetParam().ac;
  ASSERT_TRUE(run(bmc->power.reset(ResetType::force_off, soon())));

  const auto has = run(bmc->power.has_ac_cycle(soon()));
  const auto done = run(bmc->power.reset(ResetType::ac_cycle, soon()));

  expect(expected.empty() ? no : yes, done, "AC cycle");
  EXPECT_EQ(*has, !expected.empty());
  if (!expected.empty()) {
    EXPECT_EQ(machine.actions.back(), expected);
  }
}

TEST_P(CapturedWrites, TakesADiscAndGivesItBack) {
  const std::string slot = GetParam().slot, url = "http://10.0.0.1/images/rescue.iso";
  const auto held = [&] {
    std::vector<std::string> ids;
    const auto media = run(bmc->media.slots(soon()));
    if (!media) return ids;
    for (const auto& one : *media)
      if (one.inserted) ids.push_back(one.id + " " + one.image);
    return ids;
  };

  const auto inserted = run(bmc->media.insert(url, soon()));
  const auto then = held();
  const auto again = run(bmc->media.insert(url, soon()));
  const auto ejected = run(bmc->media.eject(soon()));

  expect(slot.empty() ? no : yes, inserted, "insert");
  expect(slot.empty() ? no : yes, again, "insert again");
  expect(slot.empty() ? no : yes, ejected, "eject");
  if (!slot.empty()) {
    EXPECT_THAT(then, ElementsAre(slot + " " + url));
  }
  EXPECT_THAT(held(), ElementsAre());
}

TEST_P(CapturedWrites, ChangesThePasswordThatLogsIn) {
  const Expected& truth = GetParam();

  const auto done = run(bmc->accounts.change_password(truth.user, truth.password, soon()));
  user = truth.user;
  password = truth.password;
  open();
  const auto accounts = run(bmc->accounts.read(soon()));

  expect(yes, done, "change password");
  ASSERT_TRUE(accounts) << accounts.error().what;
  EXPECT_EQ(std::ranges::count(accounts->value, user, &Account::user), 1);
  EXPECT_EQ(std::ranges::count(accounts->value, "", &Account::user), 0);
}

TEST_P(CapturedWrites, RestartsItsBmc) {
  const auto done = run(bmc->manager.reset(soon()));
  const auto after = run(bmc->power.state(soon()));

  expect(yes, done, "reset BMC");
  EXPECT_THAT(machine.actions, ElementsAre("Manager.Reset " + std::string{GetParam().reset_bmc}));
  EXPECT_TRUE(after) << after.error().what;
}

TEST_P(CapturedWrites, SetsItsClock) {
  const Seconds requested = std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + 12h;

  const auto before = run(bmc->manager.clock(soon()));
  const auto done = run(bmc->manager.set_clock(requested, soon()));
  const auto after = run(bmc->manager.clock(soon()));

  ASSERT_TRUE(before) << before.error().what;
  EXPECT_LT(before->ahead, -24h * 30);
  expect(yes, done, "set clock");
  EXPECT_EQ(after->time, requested);
}

TEST_P(CapturedWrites, TurnsItsLocatorLightOnAndOff) {
  // The BlueField's two captures show no light anywhere.
  const bool dpu = std::string_view{GetParam().machine}.find("dpu") != std::string_view::npos ||
                   std::string_view{GetParam().machine}.find("bluefield") != std::string_view::npos;
  const auto located = [&] {
    const auto reported = run(bmc->locator.read(soon()));
    return reported && reported->value;
  };

  const auto on = run(bmc->locator.set(true, soon()));
  const bool lit = located();
  const auto off = run(bmc->locator.set(false, soon()));

  expect(dpu ? no : yes, on, "locate on");
  expect(dpu ? no : yes, off, "locate off");
  EXPECT_EQ(lit, !dpu);
  EXPECT_FALSE(located());
}

TEST_P(CapturedWrites, ClearsItsEventLog) {
  const auto done = run(bmc->log.clear(soon()));

  expect(GetParam().logs > 0 ? yes : no, done, "clear");
  EXPECT_EQ(machine.actions.size(), static_cast<std::size_t>(GetParam().logs))
      << ::testing::PrintToString(machine.actions);
}

TEST_P(CapturedWrites, SwitchesAServiceOverAndBack) {
  const std::string name = GetParam().service;
  const auto is_on = [&] {
    const auto all = run(bmc->manager.services(soon()));
    if (!all) return -1;
    for (const auto& one : all->value)
      if (one.name == name) return one.enabled ? 1 : 0;
    return -1;
  };
  const int before = is_on();

  const auto done = run(bmc->manager.enable_service(name, before == 0, soon()));
  const int after = is_on();
  const auto none = run(bmc->manager.enable_service("Gopher", true, soon()));

  expect(yes, done, "enable service");
  expect(no, none, "no such service");
  EXPECT_EQ(before + after, 1);
}

TEST_P(CapturedWrites, StagesABiosSettingWhichTheNextBootMakesTrue) {
  const std::string name = GetParam().setting;
  const BiosValues requested{{name, std::string{GetParam().value}}};
  const auto in_words = [](const auto& value) {  // some machines have a text, others its type
    return std::visit(
        [](const auto& one) {
          std::ostringstream text;
          text << std::boolalpha << one;
          return text.str();
        },
        value);
  };

  const auto staged = run(bmc->bios.stage(requested, soon()));
  const auto before = run(bmc->bios.read(soon()));
  const auto again = run(bmc->bios.stage(requested, soon()));
  const auto patches = server->asked().patches.size();
  (void)run(bmc->power.reset(ResetType::force_restart, soon()));
  const auto after = run(bmc->bios.read(soon()));

  if (name.empty()) {
    const auto reported = run(bmc->bios.stage({{"Anything", true}}, soon()));
    EXPECT_FALSE(reported);
    EXPECT_GT(reported.error().what.size(), 20u);
    return;
  }
  ASSERT_TRUE(staged) << staged.error().what;
  ASSERT_TRUE(before) << before.error().what;
  ASSERT_TRUE(before->pending.contains(name));
  EXPECT_EQ(in_words(before->pending.at(name)), GetParam().value);
  EXPECT_TRUE(again) << again.error().what;
  EXPECT_EQ(patches, 1u);
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_FALSE(after->pending.contains(name));
  EXPECT_EQ(in_words(after->current.at(name)), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(All, CapturedWrites, ::testing::ValuesIn(kExpected), [](const auto& one) {
  std::string name = one.param.machine;
  for (char& c : name)
    if (c == '-' || c == '.') c = '_';
  return name;
});

}  // namespace
}  // namespace cupel::bmc
