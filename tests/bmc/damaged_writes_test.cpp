// A BMC whose resources are damaged, by seed: every verb that changes something ends, with what it
// requested or with an error that says something, and never writes where it was not asked to. And a
// BMC whose answers are lost: every verb ends with what the BMC shows, and nothing is sent twice.
#include <random>

#include "bmc/power.h"
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

template <class T>
Task<Result<void>> outcome_of(Task<Result<T>> work) {
  auto done = co_await std::move(work);
  if (!done) co_return std::move(done).error();
  co_return ok();
}

/// A verb that writes once.
struct WritingVerb {
  const char* name;
  std::function<Task<Result<void>>(Bmc&)> act;
  bool shows = true;  // the BMC shows afterwards whether it was done
};

class LostAnswers : public DamagedWrites {
 protected:
  static constexpr const char* kEvents = "/redfish/v1/EventService";
  static constexpr const char* kSubscriptions = "/redfish/v1/EventService/Subscriptions";

  void SetUp() override {
    server.change([this](auto& options) {
      options.writes = [this, acts = test::captured_actions(machine)](
                           const std::string& method, const std::string& uri,
                           const json::value& body,
                           test::Resources& now) -> std::optional<test::Written> {
        if (uri != kSubscriptions) return acts(method, uri, body, now);
        const std::string member = uri + "/" + std::to_string(++subscriptions_);
        now.write(member, body);
        now.write(uri, collection({member}));
        return test::Written{201};
      };
    });
    prepare();
  }
  /// As if nothing had been written.
  void prepare() {
    auto resources = whole();
    auto& system = resources.at(kSystem).as_object();
    system["LocationIndicatorActive"] = false;
    system["SecureBoot"] = link(under("SecureBoot"));
    system["Boot"].as_object()["BootOrder"] = {"Boot0001", "Boot0002"};
    resources[under("SecureBoot")] = {{"SecureBootEnable", false}};
    const auto only = [&](const std::string& uri, const char* name, const char* target) {
      resources.at(uri).as_object()["Actions"] =
          json::object{{name, json::object{{"target", uri + "/Actions/" + target}}}};
    };
    only(kOne, "#Manager.Reset", "Manager.Reset");
    only(under("CD"), "#VirtualMedia.InsertMedia", "VirtualMedia.InsertMedia");
    only(under("SEL"), "#LogService.ClearLog", "LogService.ClearLog");
    resources.at(under("Bios")).as_object()["@Redfish.Settings"] =
        json::object{{"SettingsObject", link(under("Bios/Settings"))}};
    resources[under("Bios/Settings")] = {{"Attributes", json::object{}}};
    resources.at(under("Net")).as_object()["NTP"] = {{"ProtocolEnabled", false},
                                                     {"NTPServers", json::array{}}};
    resources.at(under("Entries")).as_object()["Members@odata.count"] = 40;
    resources["/redfish/v1/SessionService"] = {{"SessionTimeout", 600}};
    resources[kEvents] = {{"Subscriptions", link(kSubscriptions)}};
    resources[kSubscriptions] = collection({});
    for (auto& [uri, body] : resources) server.set(uri, std::move(body));
  }
  static std::vector<WritingVerb> verbs() {
    static constexpr Pace kQuick{.first = 1ms, .longest = 5ms, .after_lost_answer = 20ms};
    const auto boot = [](Bmc& bmc) {
      return outcome_of(bmc.boot.set({.target = BootTarget::pxe, .once = true}, soon()));
    };
    const auto service = [](Bmc& bmc) {
      return outcome_of(bmc.manager.enable_service("SSH", false, soon()));
    };
    const auto clock = [](Bmc& bmc) {
      return outcome_of(bmc.manager.set_clock(Seconds{1'800'000'000s}, soon()));
    };
    const auto bios = [](Bmc& bmc) {
      return outcome_of(bmc.bios.stage({{"Boot", std::string{"Uefi"}}}, soon()));
    };
    const auto events = [](Bmc& bmc) {
      return bmc.settings.add_event_target(
          {EventTarget::Kind::redfish, "https://10.0.0.9/events", {}}, soon());
    };
    const auto password = [](Bmc& bmc) {
      return outcome_of(bmc.accounts.change_password("audit", "Gr4phite-Crucible", soon()));
    };
    const auto insert = [](Bmc& bmc) {
      return outcome_of(bmc.media.insert("http://10.0.0.1/a.iso", soon()));
    };
    const auto restart = [](Bmc& bmc) {
      return outcome_of(bmc.power.reset(ResetType::force_restart, soon()));
    };
    const auto order = [](Bmc& bmc) {
      return bmc.settings.set_boot_order({"Boot0002", "Boot0001"}, soon());
    };
    return {{"boot override", boot},
            {"boot order", order},
            {"network service", service},
            {"clock", clock},
            {"BIOS settings", bios},
            {"event destination", events},
            {"insert media", insert},
            {"secure boot", [](Bmc& bmc) { return bmc.settings.set_secure_boot(true, soon()); }},
            {"NTP", [](Bmc& bmc) { return bmc.settings.set_ntp({"10.0.0.1"}, soon()); }},
            {"session timeout",
             [](Bmc& bmc) { return bmc.settings.set_session_timeout(900s, soon()); }},
            {"locator light", [](Bmc& bmc) { return outcome_of(bmc.locator.set(true, soon())); }},
            {"event log", [](Bmc& bmc) { return outcome_of(bmc.log.clear(soon())); }},
            {"power off", [](Bmc& bmc) { return ensure_off(bmc, 0ms, soon(), kQuick); }},
            {"password", password, false},
            {"restart", restart, false},
            {"restart of the BMC", [](Bmc& bmc) { return outcome_of(bmc.manager.reset(soon())); },
             false}};
  }
  int writes() const { return count("PATCH") + count("POST"); }

  /// The machine does all of it, and `lose` has the answers lost from now on.
  void expect_done_once(std::string_view how, const std::function<void()>& lose) {
    prepare();
    const auto bmc = open();
    ASSERT_TRUE(run(bmc->power.state(soon())));  // logs in
    lose();
    for (const auto& verb : verbs()) {
      const int before = writes();
      const auto done = run(verb.act(*bmc));
      EXPECT_EQ(writes() - before, 1) << verb.name << ", " << how;
      EXPECT_EQ(done.has_value(), verb.shows) << verb.name << ", " << how;
      const auto code = done ? Code::kUnreachable : done.error().code;
      EXPECT_EQ(code, Code::kUnreachable) << verb.name << ", " << how;
    }
    run(bmc->log_out());
  }
  /// Every answer to a write comes as this.
  void answer_with(int status, const std::string& text) {
    server.change([&](auto& options) {
      options.last_word = [status, text](test::Exchanged& now) {
        const bool writes = now.method == "PATCH" || now.method == "POST";
        if (!writes || now.path.ends_with("/Sessions")) return;
        now.status = status;
        now.answer = text;
      };
    });
  }
  void misbehave_to_writes(test::Habit::Kind kind) {
    for (const auto* method : {"PATCH", "POST"})
      server.misbehave({.method = method, .times = 1000, .kind = kind});
  }

 private:
  int subscriptions_ = 0;
};

TEST_F(LostAnswers, EndWithWhatTheBmcShowsAndNothingIsSentTwice) {
  const std::string page = "<html><body>Bad Gateway</body></html>";

  expect_done_once("a gateway's page", [&] { answer_with(502, page); });
  expect_done_once("a page of success", [&] { answer_with(200, page); });
  expect_done_once("a failure without a reason", [&] { answer_with(500, ""); });
  server.change([](auto& options) { options.last_word = nullptr; });
  expect_done_once("no answer", [&] { misbehave_to_writes(test::Habit::Kind::act_and_reset); });
}

TEST_F(LostAnswers, OfWhatWasNotDoneAreErrorsAndNothingIsSentTwice) {
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power.state(soon())));
  misbehave_to_writes(test::Habit::Kind::reset_connection);
  const int before = writes();

  const auto done = run(for_each_of<void>(verbs(), verbs().size(),
                                          [&](const WritingVerb& verb) { return verb.act(*bmc); }));
  run(bmc->log_out());

  EXPECT_EQ(writes() - before, static_cast<int>(done.size()));
  for (const auto& each : done) {
    ASSERT_FALSE(each);
    EXPECT_EQ(each.error().code, Code::kUnreachable) << each.error().what;
  }
}

/// A refusal with a reason is one, whatever its status, and so is one that names another status.
TEST_F(LostAnswers, AreNoneWhereTheBmcGivesAReason) {
  for (const auto& [status, text] : {std::pair{500, "The image is damaged."},
                                     std::pair{400, "The image could not be fetched: HTTP 502."}}) {
    prepare();
    answer_with(status, test::refusal("Base.1.8.GeneralError", text));
    const auto bmc = open();
    const auto done = run(bmc->settings.set_secure_boot(true, soon()));
    run(bmc->log_out());

    ASSERT_FALSE(done) << text;
    EXPECT_EQ(done.error().code, Code::kFailed) << done.error().what;
    EXPECT_THAT(done.error().what, HasSubstr(text));
  }
}

}  // namespace
}  // namespace cupel::bmc
