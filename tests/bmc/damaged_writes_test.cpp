// A BMC whose resources are damaged, by seed: every verb that changes something ends, with what it
// wanted or with an error that says something, and never writes where it was not asked to.
#include <random>

#include "tests/bmc/acting.h"

namespace cupel::bmc {
namespace {

constexpr const char* kOne = "/redfish/v1/Managers/1";

class DamagedWrites : public Acting {
 protected:
  static std::string under(const char* name) { return std::string{kOne} + "/" + name; }
  static json::value action(const char* name, const std::string& target) {
    return {
        {name, {{"target", target}, {"ResetType@Redfish.AllowableValues", {"On", "ForceOff"}}}}};
  }
  static std::map<std::string, json::value> whole() {
    auto system = test_system();
    system.as_object()["Bios"] = link(under("Bios"));
    system.as_object()["LogServices"] = link(under("Logs"));
    return {
        {kSystem, system},
        {kOne,
         {{"ManagerType", "BMC"},
          {"DateTime", "2024-08-08T18:48:10Z"},
          {"VirtualMedia", link(under("Media"))},
          {"NetworkProtocol", link(under("Net"))},
          {"Actions", action("#Manager.Reset", under("Actions/Manager.Reset"))}}},
        {under("Media"), collection({under("CD")})},
        {under("CD"),
         {{"Id", "CD"},
          {"MediaTypes", {"CD"}},
          {"Image", nullptr},
          {"Inserted", false},
          {"Actions",
           action("#VirtualMedia.InsertMedia", under("CD/Actions/VirtualMedia.InsertMedia"))}}},
        {under("Net"), {{"SSH", {{"ProtocolEnabled", true}, {"Port", 22}}}}},
        {under("Logs"), collection({under("SEL")})},
        {under("SEL"),
         {{"Id", "SEL"},
          {"Entries", link(under("Entries"))},
          {"Actions", action("#LogService.ClearLog", under("SEL/Actions/LogService.ClearLog"))}}},
        {under("Entries"), {{"Members", json::array{}}, {"Members@odata.count", 0}}},
        {under("Bios"),
         {{"Attributes", {{"Boot", "Bios"}}},
          {"@Redfish.Settings", {{"SettingsObject", link(under("Settings"))}}}}},
        {under("Settings"), {{"Attributes", json::object{}}}},
        {"/redfish/v1/AccountService", {{"Accounts", link("/redfish/v1/AccountService/Accounts")}}},
        {"/redfish/v1/AccountService/Accounts", collection({under("Account")})},
        {under("Account"), {{"Id", "1"}, {"UserName", "audit"}, {"Password", nullptr}}}};
  }

  /// One value somewhere in it, instead of what is there.
  static void damage(json::value& value, std::mt19937& random) {
    auto* object = value.if_object();
    const bool deeper = object != nullptr && !object->empty() && random() % 4 != 0;
    if (deeper) {
      auto at = object->begin() + static_cast<std::ptrdiff_t>(random() % object->size());
      return damage(at->value(), random);
    }
    static const json::array kNasty{nullptr,
                                    42,
                                    -1.5e308,
                                    true,
                                    "",
                                    std::string(3000, 'x'),
                                    "/etc/passwd",
                                    json::array{},
                                    json::object{},
                                    {{{{"x"}}}},
                                    "/redfish/v1/../x",
                                    "https://10.9.9.9/redfish/v1/x",
                                    "\x1b[2J"};
    value = kNasty[random() % kNasty.size()];
  }

  void expect_errors(unsigned seeds);

  template <class T>
  void ends(Task<Result<T>> task, const char* verb, unsigned seed) {
    const auto done = run(std::move(task));
    if (!done) {
      EXPECT_FALSE(done.error().what.empty()) << verb << ", seed " << seed;
      EXPECT_EQ(done.error().what.find('\x1b'), std::string::npos) << verb << " " << seed;
    }
  }
};

class LongDamagedWrites : public DamagedWrites {};

TEST_F(DamagedWrites, EndWithAnErrorThatSaysSomething) { expect_errors(30); }
TEST_F(LongDamagedWrites, EndWithAnErrorThatSaysSomething) { expect_errors(100); }

void DamagedWrites::expect_errors(unsigned seeds) {
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    std::mt19937 random{seed};
    auto resources = whole();
    auto victim =
        std::next(resources.begin(), static_cast<std::ptrdiff_t>(random() % resources.size()));
    damage(victim->second, random);
    for (auto& [uri, body] : resources) server.set(uri, body);
    const auto bmc = open();
    const auto little = [] { return Deadline::in(2s); };

    ends(bmc->boot.set({.target = BootTarget::pxe, .once = true}, little()), "boot", seed);
    ends(bmc->power.reset(ResetType::force_off, little()), "off", seed);
    ends(bmc->power.allowed_resets(little()), "allowed", seed);
    ends(bmc->media.insert("http://10.0.0.1/a.iso", little()), "insert", seed);
    ends(bmc->media.eject(little()), "eject", seed);
    ends(bmc->accounts.change_password("audit", "Gr4phite-Crucible", little()), "password", seed);
    ends(bmc->manager.enable_service("SSH", false, little()), "service", seed);
    ends(bmc->manager.set_clock(Seconds{1'800'000'000s}, little()), "clock", seed);
    ends(bmc->log.clear(little()), "clear", seed);
    ends(bmc->bios.stage({{"Boot", std::string{"Uefi"}}}, little()), "bios", seed);
    ends(bmc->console.ways(little()), "console", seed);
    ends(bmc->manager.reset(little()), "reset BMC", seed);
    run(bmc->log_out());
  }
  const auto asked = server.asked();
  EXPECT_EQ(asked.open_sessions, 0);
  EXPECT_GT(machine.patched.size(), seeds);
  for (const auto& line : asked.lines) {
    EXPECT_THAT(line, HasSubstr(" /redfish/v1"));
    EXPECT_THAT(line, Not(HasSubstr("..")));
  }
}

}  // namespace
}  // namespace cupel::bmc
