// BIOS settings: what is checked before anything is sent, and each vendor's way to stage them.
#include "bmc/bios.h"

#include "bmc/redfish/bios_registry.h"
#include "tests/bmc/acting.h"

namespace cupel::bmc {
namespace {

constexpr const char* kBios = "/redfish/v1/Systems/1/Bios";
constexpr const char* kSettings = "/redfish/v1/Systems/1/Bios/Settings";
constexpr const char* kQueue = "/redfish/v1/Managers/1/Oem/Dell/Jobs";

const json::value kRegistry = {
    {"RegistryEntries",
     {{"Attributes",
       {{{"AttributeName", "Boot"},
         {"Type", "Enumeration"},
         {"Value", {{{"ValueName", "Uefi"}}, {{"ValueName", "Bios"}}}}},
        {{"AttributeName", "Delay"}, {"Type", "Integer"}, {"LowerBound", 1}, {"UpperBound", 9}},
        {{"AttributeName", "Board"}, {"Type", "String"}, {"ReadOnly", true}},
        {{"AttributeName", "Name"}, {"Type", "String"}, {"MaxLength", 4}},
        {{"AttributeName", "Egm"}, {"Type", "Boolean"}}}}}}};
const BiosValues kCurrent{{"Boot", std::string{"Bios"}},
                          {"Delay", std::int64_t{5}},
                          {"Board", std::string{"X"}},
                          {"Name", std::string{"a"}},
                          {"Egm", false}};

TEST(BiosRegistry, NamesAllThatIsWrongAtOnce) {
  const BiosValues requested{{"Boot", std::string{"Legacy"}}, {"Delay", std::int64_t{10}},
                             {"Board", std::string{"Y"}},     {"Name", std::string{"much longer"}},
                             {"Egm", std::string{"maybe"}},   {"Bot", std::string{"Uefi"}}};

  const auto checked = redfish::checked(requested, {.current = kCurrent}, kRegistry);

  EXPECT_EQ(checked.error().code, Code::kInvalid);
  EXPECT_EQ(
      checked.error().what,
      "BIOS settings: Board is read-only; Boot is one of Uefi, Bios; Bot is not an attribute "
      "of this board's BIOS; there is Boot; Delay is at least 1 and at most 9; Egm is true or "
      "false; Name has at most 4 characters");
}

TEST(BiosRegistry, TakesNumbersAndFlagsThatWereTypedAsTexts) {
  const BiosValues typed{{"Delay", std::string{"7"}}, {"Egm", std::string{"true"}}};

  const auto checked = redfish::checked(typed, {.current = kCurrent}, kRegistry);

  EXPECT_EQ(*checked, (BiosValues{{"Delay", std::int64_t{7}}, {"Egm", true}}));
}

TEST(BiosRegistry, IsMissedOnlyForItsChecks) {
  const auto good =
      redfish::checked({{"Boot", std::string{"?"}}}, {.current = kCurrent}, json::value{});
  const auto unknown = redfish::checked({{"Boots", true}}, {.current = kCurrent}, json::value{});

  EXPECT_TRUE(good);
  EXPECT_EQ(unknown.error().code, Code::kInvalid);
}

TEST(BiosRegistry, NamesTheMakersDefaultsWhereItHasThem) {
  const json::value file = {
      {"RegistryEntries",
       {{"Attributes",
         {{{"AttributeName", "Delay"}, {"Type", "Integer"}, {"DefaultValue", 3}},
          {{"AttributeName", "Boot"}, {"Type", "Enumeration"}, {"DefaultValue", "Uefi"}},
          {{"AttributeName", "Name"}, {"Type", "String"}, {"DefaultValue", ""}},
          {{"AttributeName", "Egm"}, {"Type", "Boolean"}, {"DefaultValue", nullptr}}}}}}};

  const auto rules = redfish::registry_in(file).rules;

  EXPECT_EQ(rules.at("Delay").usual, BiosValue{std::int64_t{3}});
  EXPECT_EQ(rules.at("Boot").usual, BiosValue{std::string{"Uefi"}});
  EXPECT_EQ(rules.at("Name").usual, std::nullopt);
  EXPECT_EQ(rules.at("Egm").usual, std::nullopt);
}

class Bios : public Acting {
 protected:
  void SetUp() override {
    Acting::SetUp();
    become_one_of("Contoso", {});
  }
  /// A machine of this make whose BIOS has attributes; `settings` are of @Redfish.Settings.
  void become_one_of(const char* manufacturer, const json::object& more) {
    auto system = test_system();
    system.as_object()["Manufacturer"] = manufacturer;
    system.as_object()["Bios"] = link(kBios);
    server.set(kSystem, system);
    json::object settings{{"SettingsObject", link(kSettings)}};
    for (const auto& entry : more) settings[entry.key()] = entry.value();
    server.set(kBios, json::value{{"Attributes", {{"Boot", "Bios"}, {"Delay", 5}}},
                                  {"@Redfish.Settings", settings}});
    server.set(kSettings, json::value{{"Attributes", json::object{}},
                                      {"Oem", {{"Dell", {{"Jobs", link(kQueue)}}}}}});
  }
  void queue(const std::string& state) {
    const std::string job = std::string{kQueue} + "/JID_1";
    server.set(kQueue, collection({job}));
    server.set(job, json::value{{"JobType", "BIOSConfiguration"}, {"JobState", state}});
  }
  Result<std::vector<std::string>> stage(BiosValues requested) {
    const auto bmc = open();
    auto done = run(bmc->bios.stage(std::move(requested), soon()));
    run(bmc->log_out());
    return done;
  }
  Result<BiosSettings> settings() {
    const auto bmc = open();
    auto reported = run(bmc->bios.read(soon()));
    run(bmc->log_out());
    return reported;
  }
  /// Of a BIOS whose action says this besides its target.
  Result<Protocol> reset(const char* manufacturer, const json::object& more) {
    become_one_of(manufacturer, {});
    json::object action{{"target", std::string{kBios} + "/Actions/Bios.ResetBios"}};
    for (const auto& entry : more) action[entry.key()] = entry.value();
    server.set(kBios, json::value{{"Attributes", {{"Boot", "Bios"}, {"Delay", 5}}},
                                  {"Actions", {{"#Bios.ResetBios", action}}}});
    const auto bmc = open();
    auto done = run(bmc->bios.reset(soon()));
    run(bmc->log_out());
    return done;
  }
  void refuse(const std::string& id, const std::string& text) {
    server.misbehave(
        {.method = "PATCH", .path = kSettings, .status = 400, .body = test::refusal(id, text)});
  }
  /// Delay is read-only unless Boot is Uefi.
  void let_delay_depend_on_boot() {
    const std::string registries = "/redfish/v1/Registries",
                      file = registries + "/BiosAttributeRegistry";
    server.set(registries, collection({file}));
    server.set(file, {{"Location", json::array{{{"Language", "en"}, {"Uri", file + "/en"}}}}});
    const json::value condition{{"MapFromAttribute", "Boot"},
                                {"MapFromProperty", "CurrentValue"},
                                {"MapFromCondition", "NEQ"},
                                {"MapFromValue", "Uefi"}};
    const json::value dependency{{"DependencyFor", "Delay"},
                                 {"Type", "Map"},
                                 {"Dependency",
                                  {{"MapFrom", json::array{condition}},
                                   {"MapToAttribute", "Delay"},
                                   {"MapToProperty", "ReadOnly"},
                                   {"MapToValue", true}}}};
    server.set(file + "/en",
               {{"RegistryEntries",
                 {{"Attributes", json::array{{{"AttributeName", "Boot"}, {"Type", "Enumeration"}},
                                             {{"AttributeName", "Delay"}, {"Type", "Integer"}}}},
                  {"Dependencies", json::array{dependency}}}}});
  }
  static BiosValues both() { return {{"Boot", std::string{"Uefi"}}, {"Delay", std::int64_t{7}}}; }
  static BiosValues uefi() { return {{"Boot", std::string{"Uefi"}}}; }
};

TEST_F(Bios, ResetsByTheWordThatTheActionOrItsVendorWants) {
  const auto info = std::string{kBios} + "/ResetBiosActionInfo";
  const json::object parameter{{"Name", "ResetType"}, {"AllowableValues", json::array{"Reset"}}};
  server.set(info, json::value{{"Parameters", json::array{parameter}}});

  const auto plain = reset("Contoso", {});
  const auto ami = reset("Contoso", {{"@Redfish.ActionInfo", info}});
  const auto ilo = reset("HPE", {});

  ASSERT_TRUE(plain) << plain.error().what;
  ASSERT_TRUE(ami) << ami.error().what;
  ASSERT_TRUE(ilo) << ilo.error().what;
  EXPECT_THAT(machine.actions,
              ElementsAre("Bios.ResetBios {}", R"(Bios.ResetBios {"ResetType":"Reset"})",
                          R"(Bios.ResetBios {"ResetType":"default"})"));
}

TEST_F(Bios, IsNotResetWhereTheBmcHasNoSuchActionOrOnlyUnknownWords) {
  const auto unknown =
      reset("Contoso", {{"ResetType@Redfish.AllowableValues", json::array{"Factory"}}});
  become_one_of("Contoso", {});
  const auto bmc = open();
  const auto none = run(bmc->bios.reset(soon()));
  run(bmc->log_out());

  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::kUnsupported);
  EXPECT_THAT(unknown.error().what, HasSubstr("none of which is known: Factory"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kUnsupported);
  EXPECT_THAT(none.error().what, HasSubstr("this BMC offers no reset of its BIOS settings"));
  EXPECT_THAT(machine.actions, ElementsAre());
}

TEST_F(Bios, StagesAllInOneRequest) {
  const auto done = stage({{"Boot", std::string{"Uefi"}}, {"Delay", std::string{"7"}}});

  ASSERT_TRUE(done) << done.error().what;
  ASSERT_EQ(server.asked().patches.size(), 1u);
  EXPECT_THAT(server.asked().patches.front(),
              HasSubstr(R"({"Attributes":{"Boot":"Uefi","Delay":7}})"));
  EXPECT_EQ(settings()->pending,
            (BiosValues{{"Boot", std::string{"Uefi"}}, {"Delay", std::int64_t{7}}}));
}

TEST_F(Bios, SendsNothingWhereAllIsSo) {
  ASSERT_TRUE(stage({{"Boot", std::string{"Bios"}}, {"Delay", std::int64_t{5}}}));
  EXPECT_EQ(count("PATCH"), 0);
}

TEST_F(Bios, SendsNothingWhereAnAttributeIsUnknownToTheBoard) {
  const auto done = stage({{"Boot", std::string{"Uefi"}}, {"Tpm2", true}});

  EXPECT_EQ(done.error().code, Code::kInvalid);
  EXPECT_THAT(done.error().what, HasSubstr("Tpm2 is not an attribute of this board's BIOS"));
  EXPECT_EQ(count("PATCH"), 0);
}

TEST_F(Bios, AsksForTheNextRestartWhereTheBmcKnowsThatWord) {
  become_one_of("Contoso", {{"SupportedApplyTimes", {"OnReset"}}});
  ASSERT_TRUE(stage(uefi()));
  EXPECT_THAT(server.asked().patches.front(),
              HasSubstr(R"("@Redfish.SettingsApplyTime":{"ApplyTime":"OnReset"})"));
}

TEST_F(Bios, LeavesTheApplyTimeOutWhereTheBmcRefusesIt) {
  become_one_of("Contoso", {{"SupportedApplyTimes", {"OnReset"}}});
  refuse("Base.1.8.PropertyUnknown", "@Redfish.SettingsApplyTime is unknown.");

  const auto done = stage(uefi());

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(server.asked().patches.back(), Not(HasSubstr("ApplyTime")));
}

TEST_F(Bios, NamesWhatWasAcceptedAndNotKept) {
  server.change([](auto& options) { options.forgets_patches = true; });

  const auto done = stage(uefi());

  EXPECT_EQ(done.error().code, Code::kFailed);
  EXPECT_THAT(done.error().what, HasSubstr("did not keep: Boot"));
}

TEST_F(Bios, SaysThatTheBmcIsInLockdown) {
  refuse("IDRAC.2.8.LOK001", "Unable to run the command: System Lockdown mode is on.");

  const auto done = stage(uefi());

  EXPECT_EQ(done.error().code, Code::kUnsupported);
  EXPECT_THAT(done.error().what, HasSubstr("in lockdown mode, which a person has to lift"));
}

TEST_F(Bios, CreatesNoJobWhereADellMakesItByTheRequestItself) {
  become_one_of("Dell Inc.", {{"SupportedApplyTimes", {"OnReset"}}});
  queue("Completed");
  ASSERT_TRUE(stage(uefi()));
  EXPECT_EQ(count("POST /redfish/v1/Managers"), 0);
}

TEST_F(Bios, CreatesADellsJobOnceWhereTheRequestDoesNot) {
  become_one_of("Dell Inc.", {});
  queue("Completed");
  server.misbehave({.method = "POST", .path = kQueue, .status = 200});

  const auto done = stage(uefi());
  queue("Scheduled");
  const auto again = stage(uefi());

  ASSERT_TRUE(done) << done.error().what;
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(count("POST " + std::string{kQueue}), 1);
  EXPECT_EQ(count("PATCH"), 1);
}

TEST_F(Bios, AreStagedWithOneJobThoughBothAnswersWereLost) {
  become_one_of("Dell Inc.", {});
  queue("Completed");
  server.change([this](auto& options) {
    options.writes = [acts = test::captured_actions(machine)](
                         const std::string& method, const std::string& uri, const json::value& body,
                         test::Resources& now) -> std::optional<test::Written> {
      if (uri != kQueue) return acts(method, uri, body, now);
      now.write(uri + "/JID_1",
                json::value{{"JobType", "BIOSConfiguration"}, {"JobState", "Scheduled"}});
      return test::Written{};
    };
  });
  server.misbehave({.method = "PATCH", .kind = test::Habit::Kind::act_and_reset});
  server.misbehave({.method = "POST", .path = kQueue, .kind = test::Habit::Kind::act_and_reset});

  const auto done = stage(uefi());

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_EQ(count("PATCH"), 1);
  EXPECT_EQ(count("POST " + std::string{kQueue}), 1);
}

/// A job would apply what somebody else has left pending, or nothing.
TEST_F(Bios, HaveNoJobWhereTheAnswerWasLostAndTheyDoNotShow) {
  become_one_of("Dell Inc.", {});
  queue("Completed");
  server.misbehave({.method = "PATCH", .kind = test::Habit::Kind::reset_connection});

  const auto done = stage(uefi());

  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kUnreachable) << done.error().what;
  EXPECT_EQ(count("PATCH"), 1);
  EXPECT_EQ(count("POST " + std::string{kQueue}), 0);
}

TEST_F(Bios, SaysThatADellsOtherJobWaits) {
  become_one_of("Dell Inc.", {{"SupportedApplyTimes", {"OnReset"}}});
  refuse("IDRAC.2.8.SYS011", "Pending configuration values are already committed.");

  const auto done = stage(uefi());

  EXPECT_EQ(done.error().code, Code::kConflict);
  EXPECT_THAT(done.error().what, HasSubstr("waits for the next restart"));
}

TEST_F(Bios, ArePendingAsLongAsADellsJobHasNotRunThoughTheyAreShownAsCurrent) {
  become_one_of("Dell Inc.", {});
  server.set(kBios, json::value{{"Attributes", {{"Boot", "Uefi"}}},
                                {"@Redfish.Settings", {{"SettingsObject", link(kSettings)}}}});
  server.set(kSettings, json::value{{"Attributes", {{"Boot", "Uefi"}}},
                                    {"Oem", {{"Dell", {{"Jobs", link(kQueue)}}}}}});
  queue("Scheduled");

  const auto before = settings();
  queue("Completed");
  const auto after = settings();

  ASSERT_TRUE(before) << before.error().what;
  EXPECT_EQ(before->pending, uefi());
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_TRUE(after->pending.empty());
}

TEST_F(Bios, ArePendingByAJobOnALaterPageOfALongQueue) {
  become_one_of("Dell Inc.", {});
  server.set(kBios, json::value{{"Attributes", {{"Boot", "Uefi"}}},
                                {"@Redfish.Settings", {{"SettingsObject", link(kSettings)}}}});
  server.set(kSettings, json::value{{"Attributes", {{"Boot", "Uefi"}}},
                                    {"Oem", {{"Dell", {{"Jobs", link(kQueue)}}}}}});
  const std::string old = std::string{kQueue} + "/JID_1", later = std::string{kQueue} + "/Later",
                    scheduled = std::string{kQueue} + "/JID_2";
  auto first = collection({old}).as_object();
  first["Members@odata.nextLink"] = later;
  server.set(kQueue, first);
  server.set(later, collection({scheduled}));
  server.set(old, json::value{{"JobType", "BIOSConfiguration"}, {"JobState", "Completed"}});
  server.set(scheduled, json::value{{"JobType", "BIOSConfiguration"}, {"JobState", "Scheduled"}});

  const auto reported = settings();

  ASSERT_TRUE(reported) << reported.error().what;
  EXPECT_EQ(reported->pending, uefi());
}

TEST_F(Bios, SaysThatAttributesMayComeBackWhereThereAreNone) {
  server.set(kBios, json::value{{"Attributes", json::object{}}});

  const auto done = settings();

  EXPECT_EQ(done.error().code, Code::kNotFound) << "not that the machine has no settings";
  EXPECT_THAT(done.error().what, HasSubstr("or the BMC was restarted"));
}

TEST_F(Bios, ArePendingUntilTheNextBootThoughAnIloDoesNotSaySo) {
  become_one_of("HPE", {});

  ASSERT_TRUE(stage(uefi()));
  const auto before = settings();
  ASSERT_TRUE(stage(uefi()));
  const auto bmc = open();
  ASSERT_TRUE(run(bmc->power.reset(ResetType::force_restart, soon())));
  run(bmc->log_out());
  const auto after = settings();

  ASSERT_TRUE(before) << before.error().what;
  EXPECT_EQ(before->pending, uefi());
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_TRUE(after->pending.empty());
  EXPECT_EQ(count("PATCH"), 1);
}

TEST_F(Bios, SetsTheOthersWhereTheBmcRefusesOneByItsName) {
  refuse("Base.1.8.PropertyNotWritable", "The property Delay is read only.");

  const auto done = stage({{"Boot", std::string{"Uefi"}}, {"Delay", std::int64_t{7}}});

  EXPECT_EQ(done.error().code, Code::kInvalid);
  EXPECT_THAT(done.error().what, HasSubstr("The property Delay is read only."));
  EXPECT_THAT(done.error().what, HasSubstr("the other BIOS settings are set"));
  EXPECT_EQ(settings()->pending, uefi());
}

TEST_F(Bios, SendsWhatAnotherMakesWritableInTheSameRequest) {
  let_delay_depend_on_boot();

  const auto done = stage(both());

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_TRUE(done->empty());
  ASSERT_EQ(server.asked().patches.size(), 1u);
  EXPECT_THAT(server.asked().patches.front(),
              HasSubstr(R"({"Attributes":{"Boot":"Uefi","Delay":7}})"));
}

TEST_F(Bios, NamesTheValueThatMakesAnAttributeReadOnly) {
  let_delay_depend_on_boot();

  const auto done = stage({{"Delay", std::int64_t{7}}});

  EXPECT_EQ(done.error().code, Code::kInvalid);
  EXPECT_THAT(done.error().what, HasSubstr("Delay is read-only while Boot is Bios"));
  EXPECT_EQ(count("PATCH"), 0);
}

/// The BMC names the attribute that locks the other one, too.
TEST_F(Bios, LeavesForTheNextBootWhatTheBmcTakesOnlyThen) {
  let_delay_depend_on_boot();
  refuse("Base.1.8.PropertyNotWritable", "The property Delay is read only: see Boot.");

  const auto done = stage(both());

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(*done, ElementsAre("Delay"));
  EXPECT_EQ(settings()->pending, uefi());
}

TEST_F(Bios, LeavesForTheNextBootWhatTheBmcAcceptsAndDoesNotKeep) {
  let_delay_depend_on_boot();
  server.misbehave({.method = "PATCH", .path = kSettings, .status = 200});
  server.set(kSettings, json::value{{"Attributes", {{"Boot", "Uefi"}}}});  // waits already

  const auto done = stage(both());

  ASSERT_TRUE(done) << done.error().what;
  EXPECT_THAT(*done, ElementsAre("Delay"));
}

TEST_F(Bios, SetsNothingWhereTheBmcRefusesAllOfItByItsName) {
  refuse("Base.1.8.PropertyNotWritable", "The property Boot is read only.");

  EXPECT_EQ(stage(uefi()).error().code, Code::kUnsupported);
  EXPECT_EQ(count("PATCH"), 1);
}

}  // namespace
}  // namespace cupel::bmc
