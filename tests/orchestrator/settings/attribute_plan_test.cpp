// BIOS attributes that depend on each other: what one apply sets, what another makes read-only, and
// what the next boot changes.
#include "orchestrator/settings/attribute_plan.h"

#include "bmc/redfish/bios_dependencies.h"
#include "bmc/redfish/bios_registry.h"
#include "inventory/profile.h"
#include "tests/orchestrator/settings/reported.h"
#include "tests/support/captures.h"

namespace cupel::settings {
namespace {

using Compare = bmc::BiosCondition::Test;

bmc::BiosDependency when(const std::string& attribute, Compare test, const std::string& value,
                         bmc::BiosProperty sets, bmc::BiosValue becomes) {
  return {.trigger = attribute,
          .conditions = {{.test = test, .of = {attribute, "CurrentValue"}, .value = word(value)}},
          .sets = std::move(sets),
          .value = std::move(becomes)};
}

/// Turbo and CStates are a person's to set in Custom alone; Fast turns Turbo on.
ReportedSettings machine_in(const std::string& profile) {
  auto reported = machine_of("Contoso", {{"Profile", word(profile)},
                                         {"Turbo", word("On")},
                                         {"CStates", word("On")},
                                         {"Delay", word("5")}});
  auto& registry = reported.bios_registry;
  registry.rules["Profile"].allowed = {"Fast", "Slow", "Custom"};
  registry.dependencies = {
      when("Profile", Compare::unequal, "Custom", {"Turbo", "ReadOnly"}, true),
      when("Profile", Compare::unequal, "Custom", {"CStates", "ReadOnly"}, true),
      when("Profile", Compare::equal, "Fast", {"Turbo", "CurrentValue"}, word("On"))};
  return reported;
}

inventory::Profile wanting_bios(std::vector<inventory::ExpectedSetting> expected) {
  inventory::Profile profile;
  profile.bios = std::move(expected);
  return profile;
}

SettingsPlan plan_of(const ReportedSettings& reported,
                     std::vector<inventory::ExpectedSetting> expected) {
  return plan_settings(wanting_bios(std::move(expected)), reported);
}

std::vector<std::string> notes_of(const SettingsPlan& plan) {
  std::vector<std::string> notes;
  for (const auto& item : plan.items) notes.push_back(item.note);
  return notes;
}

TEST(AttributePlan, SendsWhatAnotherWantedOneMakesWritable) {
  const auto plan = plan_of(machine_in("Slow"), {{.attribute = "Turbo", .value = "Off"},
                                                 {.attribute = "Profile", .value = "Custom"}});

  EXPECT_THAT(lines_of(plan), ElementsAre("bios Turbo: On -> Off, differs",
                                          "bios Profile: Slow -> Custom, differs"));
  EXPECT_THAT(notes_of(plan),
              ElementsAre("read-only now, while Profile is Slow: sent with what changes that", ""));
  EXPECT_EQ(plan.bios, (bmc::BiosValues{{"Profile", word("Custom")}, {"Turbo", word("Off")}}));
}

TEST(AttributePlan, NamesTheValueThatMakesAnAttributeReadOnlyAndSetsTheOthers) {
  const auto plan = plan_of(machine_in("Slow"), {{.attribute = "Turbo", .value = "Off"},
                                                 {.attribute = "Delay", .value = "7"}});

  EXPECT_THAT(lines_of(plan),
              ElementsAre("bios Turbo: On -> Off, refused: Turbo is read-only while Profile is "
                          "Slow; add Profile: Custom",
                          "bios Delay: 5 -> 7, differs"));
  EXPECT_EQ(plan.bios, (bmc::BiosValues{{"Delay", word("7")}}));
}

TEST(AttributePlan, RefusesWhatAnotherWantedOneMakesOtherwiseWhateverIsSoNow) {
  const std::vector<inventory::ExpectedSetting> expected{{.attribute = "Profile", .value = "Fast"},
                                                         {.attribute = "Turbo", .value = "Off"}};
  auto off = machine_in("Custom");
  off.bios->current["Turbo"] = word("Off");

  const auto from_custom = plan_of(machine_in("Custom"), expected);
  const auto from_off = plan_of(off, expected);
  const auto there = plan_of(machine_in("Fast"), expected);

  const std::string why =
      "; the profile wants that too (bios Profile), and Profile has to be Custom";
  EXPECT_EQ(from_custom.items[1].refusal,
            "Turbo is read-only while Profile is Fast, which sets it to On" + why);
  EXPECT_EQ(from_off.items[1].refusal, from_custom.items[1].refusal);
  EXPECT_EQ(there.items[1].refusal, "Turbo is read-only while Profile is Fast" + why);
  EXPECT_EQ(from_off.bios, (bmc::BiosValues{{"Profile", word("Fast")}}));
}

TEST(AttributePlan, LeavesToTheBootWhatAnotherWantedOneSetsSo) {
  auto reported = machine_in("Custom");
  reported.bios->current["Turbo"] = word("Off");
  const std::vector<inventory::ExpectedSetting> expected{{.attribute = "Profile", .value = "Fast"},
                                                         {.attribute = "Turbo", .value = "On"}};

  const auto before = plan_of(reported, expected);
  reported.bios->pending = before.bios;
  const auto staged = plan_of(reported, expected);

  EXPECT_EQ(before.bios, (bmc::BiosValues{{"Profile", word("Fast")}}));
  EXPECT_THAT(notes_of(before), ElementsAre("", "set by the boot, as Profile is Fast"));
  EXPECT_THAT(lines_of(staged), ElementsAre("bios Profile: Custom -> Fast, waits for a boot",
                                            "bios Turbo: Off -> On, waits for a boot"));
  EXPECT_TRUE(staged.bios.empty());
}

/// An iDRAC shows as current what a job will set, and its registry the state before.
TEST(AttributePlan, WaitsForWhatABootSetsThoughItsCauseIsShownAsCurrent) {
  auto reported = machine_in("Fast");
  reported.bios->current["Turbo"] = word("Off");
  reported.bios->pending = {{"Profile", word("Fast")}};

  const auto plan = plan_of(reported, {{.attribute = "Turbo", .value = "On"}});

  EXPECT_THAT(lines_of(plan), ElementsAre("bios Turbo: Off -> On, waits for a boot"));
  EXPECT_TRUE(plan.bios.empty());
}

TEST(AttributePlan, SetsAfterTheBootWhatTheBmcTakesOnlyThen) {
  auto reported = machine_in("Slow");
  reported.bios->pending = {{"Profile", word("Custom")}};
  const std::vector<inventory::ExpectedSetting> expected{
      {.attribute = "Profile", .value = "Custom"}, {.attribute = "Turbo", .value = "Off"}};

  const auto waiting = plan_of(reported, expected);
  reported.bios = bmc::BiosSettings{
      .current = {{"Profile", word("Custom")}, {"Turbo", word("On")}, {"CStates", word("On")}}};
  const auto booted = plan_of(reported, expected);

  EXPECT_THAT(lines_of(waiting), ElementsAre("bios Profile: Slow -> Custom, waits for a boot",
                                             "bios Turbo: On -> Off, to be set after a boot"));
  EXPECT_TRUE(waiting.bios.empty());
  EXPECT_TRUE(waiting.needs_restart());
  EXPECT_FALSE(waiting.is_as_expected());
  EXPECT_EQ(booted.bios, (bmc::BiosValues{{"Turbo", word("Off")}}));
}

/// A preset that leaves an attribute writable: the boot sets it, the apply after that sets it back.
TEST(AttributePlan, SetsAfterTheBootWhatThatBootWouldChange) {
  auto reported = machine_in("Custom");
  auto& registry = reported.bios_registry;
  registry.dependencies = {
      when("Profile", Compare::equal, "Fast", {"Turbo", "CurrentValue"}, word("On"))};
  reported.bios->current["Turbo"] = word("Off");
  const std::vector<inventory::ExpectedSetting> expected{{.attribute = "Profile", .value = "Fast"},
                                                         {.attribute = "Turbo", .value = "Off"}};

  const auto before = plan_of(reported, expected);
  reported.bios->current = {{"Profile", word("Fast")}, {"Turbo", word("On")}};
  const auto booted = plan_of(reported, expected);

  EXPECT_EQ(before.bios, (bmc::BiosValues{{"Profile", word("Fast")}}));
  EXPECT_EQ(before.items[1].state, SettingState::after_boot);
  EXPECT_EQ(before.items[1].note, "the next boot sets it to On, as Profile is Fast then");
  EXPECT_EQ(booted.bios, (bmc::BiosValues{{"Turbo", word("Off")}}));
}

TEST(AttributePlan, DoesNotBlameAnAttributeThatIsNotSetItself) {
  auto reported = machine_in("Slow");
  auto& registry = reported.bios_registry;
  registry.rules["Delay"].read_only = true;
  registry.dependencies.push_back(
      when("Delay", Compare::equal, "9", {"Profile", "ReadOnly"}, true));

  const auto plan = plan_of(reported, {{.attribute = "Delay", .value = "9"},
                                       {.attribute = "Profile", .value = "Fast"},
                                       {.attribute = "CStates", .value = "Off"}});

  EXPECT_THAT(lines_of(plan),
              ElementsAre("bios Delay: 5 -> 9, refused: Delay is read-only",
                          "bios Profile: Slow -> Fast, differs",
                          "bios CStates: On -> Off, refused: CStates is read-only while Profile is "
                          "Fast; the profile wants that too (bios Profile), and Profile has to be "
                          "Custom"));
}

TEST(AttributePlan, RefusesWhatDependsOnARefusedOne) {
  auto reported = machine_in("Slow");
  reported.bios_registry.rules["Profile"].read_only = true;

  const auto plan = plan_of(reported, {{.attribute = "Turbo", .value = "Off"},
                                       {.attribute = "Profile", .value = "Custom"}});

  EXPECT_THAT(lines_of(plan),
              ElementsAre("bios Turbo: On -> Off, refused: Turbo is read-only while Profile is "
                          "Slow; Profile has to be Custom, and cannot be set",
                          "bios Profile: Slow -> Custom, refused: Profile is read-only"));
  EXPECT_TRUE(plan.bios.empty());
}

TEST(AttributePlan, EndsWhereAttributesLockEachOther) {
  auto reported = machine_of("Contoso", {{"A", word("0")}, {"B", word("0")}});
  reported.bios_registry.dependencies = {when("A", Compare::equal, "1", {"B", "ReadOnly"}, true),
                                         when("B", Compare::equal, "1", {"A", "ReadOnly"}, true)};

  const auto plan =
      plan_of(reported, {{.attribute = "A", .value = "1"}, {.attribute = "B", .value = "1"}});

  EXPECT_EQ(plan.count(SettingState::refused), 2);
  EXPECT_TRUE(plan.bios.empty());
}

/// DSP0268: "the attribute value can be modified".
TEST(AttributePlan, SetsAGrayedOutAttributeAndSaysThatItHasNoEffect) {
  auto reported = machine_in("Slow");
  reported.bios_registry.dependencies = {
      when("Profile", Compare::equal, "Slow", {"Turbo", "GrayOut"}, true)};

  const auto plan = plan_of(reported, {{.attribute = "Turbo", .value = "Off"}});

  EXPECT_EQ(plan.items[0].state, SettingState::differs);
  EXPECT_EQ(plan.items[0].note, "without effect while Profile is Slow");
  EXPECT_EQ(plan.bios, (bmc::BiosValues{{"Turbo", word("Off")}}));
}

TEST(AttributePlan, ChecksANumberByTheBoundsThatDependenciesMake) {
  auto reported = machine_in("Slow");
  reported.bios_registry.rules["Delay"] = {.least = 1, .most = 9};
  reported.bios_registry.dependencies = {
      when("Profile", Compare::equal, "Fast", {"Delay", "UpperBound"}, std::int64_t{6})};

  const auto slow = plan_of(reported, {{.attribute = "Delay", .value = "7"}});
  const auto fast = plan_of(
      reported, {{.attribute = "Delay", .value = "7"}, {.attribute = "Profile", .value = "Fast"}});

  EXPECT_EQ(slow.items[0].state, SettingState::differs);
  EXPECT_EQ(fast.items[0].refusal, "Delay is at most 6");
}

TEST(AttributePlan, NotesWhichDependenciesOfTheWantedAttributesAreIgnored) {
  auto reported = machine_in("Custom");
  reported.bios_registry.unusable = {{"Other", "it has no value (MapToValue)"},
                                     {"Turbo", "it names no property (MapToProperty)"}};
  reported.bios_registry.cut = 3;

  const auto plan = plan_of(reported, {{.attribute = "Turbo", .value = "Off"}});

  EXPECT_THAT(plan.notes,
              ElementsAre("1 of the BIOS registry's dependencies ignored, the first for Turbo: it "
                          "names no property (MapToProperty)",
                          "the BIOS registry has 3 dependencies more than are evaluated: the BMC "
                          "may refuse what the plan does not"));
  EXPECT_FALSE(plan.has(SettingState::refused));
}

bmc::BiosValues values_in(const json::value& body) {
  bmc::BiosValues values;
  const auto* attributes = find(body, "Attributes");
  if (attributes == nullptr || !attributes->is_object()) return values;
  for (const auto& entry : attributes->get_object())
    if (auto value = bmc::redfish::bios_value_of(entry.value()))
      values.emplace(entry.key(), *std::move(value));
  return values;
}

ReportedSettings captured(const std::filesystem::path& tree, std::string vendor, const char* bios,
                          const char* registry) {
  const auto body = test::captured_answer(tree, bios), file = test::captured_answer(tree, registry);
  const auto values = parse_json(body.value_or("")), document = parse_json(file.value_or(""));
  EXPECT_TRUE(values && document) << bios << " or " << registry << " was not captured";
  if (!values || !document) return machine_of(std::move(vendor), {});
  auto reported = machine_of(std::move(vendor), values_in(*values));
  reported.bios_registry = bmc::redfish::registry_in(*document);
  return reported;
}

TEST(AttributePlan, OfACapturedIdracNeedsTheSystemProfileCustomForItsParts) {
  CUPEL_NEED_CAPTURE(tree, "dell");
  const auto idrac = captured(tree, "Dell", "/redfish/v1/Systems/System.Embedded.1/Bios",
                              "/redfish/v1/Systems/System.Embedded.1/Bios/BiosRegistry");

  const auto alone = plan_of(idrac, {{.attribute = "ProcTurboMode", .value = "Disabled"}});
  const auto with = plan_of(idrac, {{.attribute = "ProcTurboMode", .value = "Disabled"},
                                    {.attribute = "SysProfile", .value = "Custom"}});

  EXPECT_EQ(described(alone, SettingState::refused),
            "bios ProcTurboMode cannot be Disabled: ProcTurboMode is read-only while SysProfile is "
            "PerfOptimized; add SysProfile: Custom");
  EXPECT_FALSE(with.has(SettingState::refused));
  EXPECT_EQ(with.bios,
            (bmc::BiosValues{{"ProcTurboMode", word("Disabled")}, {"SysProfile", word("Custom")}}));
  EXPECT_THAT(with.notes, IsEmpty());
}

TEST(AttributePlan, OfACapturedIloSaysWhatAWorkloadProfileContradicts) {
  CUPEL_NEED_CAPTURE(tree, "hpe");
  const auto ilo =
      captured(tree, "HPE", "/redfish/v1/Systems/1/Bios",
               "/redfish/v1/registrystore/registries/en/biosattributeregistrya42.v1_2_60");

  const auto plan =
      plan_of(ilo, {{.attribute = "WorkloadProfile", .value = "HighPerformanceCompute(HPC)"},
                    {.attribute = "Sriov", .value = "Enabled"},
                    {.attribute = "AccessControlService", .value = "Disabled"}});
  const auto custom = plan_of(ilo, {{.attribute = "WorkloadProfile", .value = "Custom"},
                                    {.attribute = "NumaGroupSizeOpt", .value = "Clustered"}});

  EXPECT_THAT(described(plan, SettingState::refused),
              HasSubstr("Sriov is read-only while WorkloadProfile is HighPerformanceCompute(HPC), "
                        "which sets it to Disabled"));
  EXPECT_EQ(plan.bios, (bmc::BiosValues{{"WorkloadProfile", word("HighPerformanceCompute(HPC)")},
                                        {"AccessControlService", word("Disabled")}}));
  EXPECT_EQ(custom.bios, (bmc::BiosValues{{"NumaGroupSizeOpt", word("Clustered")},
                                          {"WorkloadProfile", word("Custom")}}));
}

}  // namespace
}  // namespace cupel::settings
