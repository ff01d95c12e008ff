// Dependencies of attribute registries: as captured machines write them, and as a hostile one may.
#include "bmc/bios_dependencies.h"

#include <gmock/gmock.h>

#include "bmc/bios.h"
#include "bmc/redfish/bios_dependencies.h"
#include "bmc/redfish/bios_registry.h"
#include "tests/support/captures.h"

namespace cupel::bmc {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

BiosValue word(std::string text) { return BiosValue{std::move(text)}; }

/// "Turbo.ReadOnly = true: SysProfile.CurrentValue NEQ Custom".
json::value condition(const char* attribute, const char* test, json::value value,
                      const char* terms = nullptr) {
  json::object object{{"MapFromAttribute", attribute},
                      {"MapFromProperty", "CurrentValue"},
                      {"MapFromCondition", test}};
  object["MapFromValue"] = std::move(value);
  if (terms != nullptr) object["MapTerms"] = terms;
  return object;
}

json::value dependency(json::array from, const char* attribute, const char* property,
                       json::value value, const char* trigger = "") {
  json::object map{{"MapToAttribute", attribute}, {"MapToProperty", property}};
  map["MapFrom"] = std::move(from);
  map["MapToValue"] = std::move(value);
  json::object object{{"DependencyFor", trigger}, {"Type", "Map"}};
  object["Dependency"] = std::move(map);
  return object;
}

json::array one(json::value value) {
  json::array list;
  list.push_back(std::move(value));
  return list;
}

BiosRegistry registry_of(json::array dependencies, json::array attributes = {}) {
  json::object entries;
  entries["Attributes"] = std::move(attributes);
  entries["Dependencies"] = std::move(dependencies);
  json::object registry;
  registry["RegistryEntries"] = std::move(entries);
  return redfish::registry_in(registry);
}

bool is_locked(const BiosRegistry& registry, const BiosValues& values) {
  return BiosOutcome{registry, values, {}}.is_locked("Turbo");
}

TEST(BiosDependencies, ConditionsWithoutAWordBetweenThemAreAlternatives) {
  const auto either = registry_of(
      one(dependency({condition("Profile", "EQU", "A"), condition("Profile", "EQU", "B")}, "Turbo",
                     "ReadOnly", true)));
  const auto both = registry_of(
      one(dependency({condition("Profile", "EQU", "A"), condition("Boost", "EQU", false, "AND")},
                     "Turbo", "ReadOnly", "true")));

  EXPECT_TRUE(is_locked(either, {{"Profile", word("A")}}));
  EXPECT_TRUE(is_locked(either, {{"Profile", word("B")}}));
  EXPECT_FALSE(is_locked(either, {{"Profile", word("C")}}));
  EXPECT_TRUE(is_locked(both, {{"Profile", word("A")}, {"Boost", false}}));
  EXPECT_FALSE(is_locked(both, {{"Profile", word("A")}, {"Boost", true}}));
}

TEST(BiosDependencies, AreEvaluatedFromTheLeftToTheRight) {
  const auto registry = registry_of(one(dependency(
      {condition("A", "EQU", 1), condition("B", "EQU", 1, "OR"), condition("C", "EQU", 1, "AND")},
      "Turbo", "ReadOnly", true)));

  EXPECT_FALSE(is_locked(registry, {{"A", word("1")}, {"B", word("0")}, {"C", word("0")}}))
      << "(A or B) and C";
  EXPECT_TRUE(is_locked(registry, {{"A", word("1")}, {"B", word("0")}, {"C", word("1")}}));
}

TEST(BiosDependencies, CompareNumbersAsNumbers) {
  const std::vector<std::pair<const char*, std::vector<bool>>> tests{
      {"EQU", {false, true, false}}, {"NEQ", {true, false, true}},  {"GTR", {false, false, true}},
      {"GEQ", {false, true, true}},  {"LSS", {true, false, false}}, {"LEQ", {true, true, false}}};
  for (const auto& [test, expected] : tests) {
    const auto registry =
        registry_of(one(dependency(one(condition("N", test, 10)), "Turbo", "ReadOnly", true)));
    EXPECT_EQ(is_locked(registry, {{"N", std::int64_t{9}}}), expected[0]) << test;
    EXPECT_EQ(is_locked(registry, {{"N", word("10")}}), expected[1]) << test;
    EXPECT_EQ(is_locked(registry, {{"N", 100.0}}), expected[2]) << test;
  }
}

TEST(BiosDependencies, AnAttributeThatIsNotReportedMeetsNoCondition) {
  const auto registry =
      registry_of(one(dependency(one(condition("Gone", "NEQ", "A")), "Turbo", "ReadOnly", true)));

  EXPECT_FALSE(is_locked(registry, {}));
  EXPECT_TRUE(is_locked(registry, {{"Gone", word("B")}}));
}

TEST(BiosDependencies, FollowWhatAnAttributeSetsOverOthers) {
  const auto registry = registry_of(
      {dependency(one(condition("Profile", "EQU", "Fast")), "Turbo", "CurrentValue", "On"),
       dependency(one(condition("Turbo", "EQU", "On")), "Fans", "CurrentValue", "Full")});
  const BiosValues now{{"Profile", word("Slow")}, {"Turbo", word("Off")}, {"Fans", word("Quiet")}};

  const BiosOutcome changed{registry, now, {{"Profile", word("Fast")}}};
  const BiosOutcome same{registry, {{"Profile", word("Fast")}, {"Turbo", word("Off")}}, {}};

  EXPECT_EQ(*changed.value("Fans"), word("Full"));
  EXPECT_TRUE(changed.settled());
  EXPECT_EQ(*same.value("Turbo"), word("Off")) << "set once, and changed afterwards";
}

/// As an iLO has it of its two serial ports: each takes the other's address.
TEST(BiosDependencies, ASwapEndsWithTheAttributeThatTriggeredIt) {
  const auto swap = [](const char* trigger, const char* other) {
    return dependency({condition(trigger, "EQU", "Com1"), condition(other, "EQU", "Com1", "AND")},
                      other, "CurrentValue", "Com2", trigger);
  };
  const auto registry = registry_of({swap("Embedded", "Virtual"), swap("Virtual", "Embedded")});
  const BiosValues now{{"Embedded", word("Com2")}, {"Virtual", word("Com1")}};

  const BiosOutcome after{registry, now, {{"Embedded", word("Com1")}}};

  EXPECT_EQ(*after.value("Embedded"), word("Com1"));
  EXPECT_EQ(*after.value("Virtual"), word("Com2"));
  EXPECT_TRUE(after.settled());
}

TEST(BiosDependencies, ReportsCycles) {
  const auto registry =
      registry_of({dependency(one(condition("A", "EQU", "1")), "B", "CurrentValue", "1"),
                   dependency(one(condition("B", "EQU", "1")), "A", "CurrentValue", "2"),
                   dependency(one(condition("A", "EQU", "2")), "B", "CurrentValue", "2"),
                   dependency(one(condition("B", "EQU", "2")), "A", "CurrentValue", "1")});

  const BiosOutcome after{registry, {{"A", word("0")}, {"B", word("0")}}, {{"A", word("1")}}};

  EXPECT_FALSE(after.settled());
}

TEST(BiosDependencies, ReadPropertiesOfAttributesTooAndTheirBounds) {
  auto from = condition("Turbo", "EQU", true).as_object();
  from["MapFromProperty"] = "ReadOnly";
  const auto registry =
      registry_of({dependency(one(condition("Profile", "EQU", "A")), "Turbo", "ReadOnly", true),
                   dependency(one(from), "Delay", "UpperBound", 5)},
                  one({{"AttributeName", "Delay"}, {"UpperBound", 9}}));

  const BiosOutcome locked{registry, {{"Profile", word("A")}}, {}};
  const BiosOutcome free{registry, {{"Profile", word("B")}}, {}};

  EXPECT_EQ(to_text(*locked.property("Delay", "UpperBound")), "5");
  EXPECT_EQ(to_text(*free.property("Delay", "UpperBound")), "9");
}

TEST(BiosDependencies, ThatAreMalformedAreListedAndTheOthersAreRead) {
  auto no_value = condition("A", "EQU", "1").as_object();
  no_value.erase("MapFromValue");
  json::array many;
  for (int i = 0; i < 33; ++i) many.push_back(condition("A", "EQU", "1"));
  json::array all{
      dependency(one(no_value), "B", "ReadOnly", true),
      dependency(one(condition("A", "MAYBE", "1")), "C", "ReadOnly", true),
      dependency(many, "D", "ReadOnly", true),
      dependency({}, "E", "ReadOnly", true),
      dependency(one(condition("A", "EQU", "1", "XOR")), "F", "ReadOnly", true),
      json::value(7),
      json::value(nullptr),
      dependency(one(condition(std::string(300, 'a').c_str(), "EQU", "1")), "G", "ReadOnly", true),
      dependency(one(condition("A", "EQU", "1")), "Turbo", "ReadOnly", true)};
  all.push_back(dependency(one(condition("A", "EQU", "1")), "H", "HelpText", "for people"));

  const auto registry = registry_of(all);

  ASSERT_EQ(registry.dependencies.size(), 1u);
  EXPECT_EQ(registry.dependencies[0].sets, (BiosProperty{"Turbo", "ReadOnly"}));
  std::vector<std::string> targets;
  for (const auto& [target, why] : registry.unusable) targets.push_back(target);
  EXPECT_THAT(targets, ElementsAre("B", "C", "D", "E", "F", "", "", "G"));
  EXPECT_THAT(registry.unusable[0].second, HasSubstr("has no value (MapFromValue)"));
}

TEST(BiosDependencies, BehindTheLimitAreCounted) {
  json::array all;
  for (int i = 0; i < 5000; ++i)
    all.push_back(dependency(one(condition("A", "EQU", "1")), "B", "ReadOnly", true));
  json::array wide, conditions;
  for (int i = 0; i < 32; ++i) conditions.push_back(condition("A", "EQU", "1"));
  for (int i = 0; i < 1000; ++i) wide.push_back(dependency(conditions, "B", "ReadOnly", true));

  const auto registry = registry_of(all), broad = registry_of(wide);

  EXPECT_EQ(registry.dependencies.size() + registry.cut, 5000u);
  EXPECT_EQ(registry.dependencies.size(), 4096u);
  EXPECT_EQ(broad.dependencies.size() + broad.cut, 1000u);
  EXPECT_GT(broad.cut, 0u);
}

/// An iDRAC's registry says "read-only" of what a dependency makes so, and of what never can be
/// set.
TEST(BiosDependencies, ALockByADependencyIsNotTheAttributesOwn) {
  const json::array attributes{{{"AttributeName", "Turbo"}, {"ReadOnly", true}},
                               {{"AttributeName", "Board"}, {"ReadOnly", true}}};
  const auto turbo = [&](const char* property) {
    return registry_of(
        one(dependency(one(condition("Profile", "NEQ", "Custom")), "Turbo", property, true)),
        attributes);
  };
  const BiosSettings settings{.current = {{"Profile", word("Fast")}}};
  const BiosValues custom{{"Profile", word("Custom")}};

  const auto registry = without_conditional_locks(turbo("ReadOnly"), settings);
  const auto other = without_conditional_locks(turbo("Hidden"), settings);
  const auto shown_early =
      without_conditional_locks(turbo("ReadOnly"), {.current = custom, .pending = custom});

  EXPECT_TRUE((BiosOutcome{registry, settings.current, {}}.is_locked("Turbo")));
  EXPECT_FALSE((BiosOutcome{registry, settings.current, custom}.is_locked("Turbo")));
  EXPECT_TRUE((BiosOutcome{registry, settings.current, custom}.is_locked("Board")));
  EXPECT_TRUE((BiosOutcome{other, settings.current, custom}.is_locked("Turbo")));
  EXPECT_FALSE((BiosOutcome{shown_early, custom, custom}.is_locked("Turbo")))
      << "an iDRAC shows as current what a job will set";
}

struct Machine {
  BiosRegistry registry{};
  BiosValues values{};
};

Machine captured(const std::filesystem::path& tree, const char* bios, const char* registry) {
  const auto body = test::captured_answer(tree, bios), file = test::captured_answer(tree, registry);
  if (!body || !file) return {};
  Machine machine;
  const auto parsed = parse_json(*body);
  const auto* attributes = parsed ? find(*parsed, "Attributes") : nullptr;
  if (attributes != nullptr)
    for (const auto& entry : attributes->as_object())
      if (auto value = redfish::bios_value_of(entry.value()))
        machine.values.emplace(entry.key(), *std::move(value));
  const auto document = parse_json(*file);
  if (document) machine.registry = redfish::registry_in(*document);
  return machine;
}

TEST(BiosDependencies, OfACapturedIdracMakeTurboWritableInTheProfileCustom) {
  CUPEL_NEED_CAPTURE(tree, "dell");
  const auto [all, values] = captured(tree, "/redfish/v1/Systems/System.Embedded.1/Bios",
                                      "/redfish/v1/Systems/System.Embedded.1/Bios/BiosRegistry");
  ASSERT_EQ(all.dependencies.size(), 588u);
  EXPECT_THAT(all.unusable, IsEmpty());
  EXPECT_TRUE(all.rules.at("ProcTurboMode").read_only);

  const auto registry = without_conditional_locks(all, {.current = values});
  const BiosOutcome now{registry, values, {}};
  const BiosOutcome custom{registry, values, {{"SysProfile", word("Custom")}}};

  ASSERT_TRUE(now.is_locked("ProcTurboMode"));
  EXPECT_FALSE(custom.is_locked("ProcTurboMode"));
  EXPECT_FALSE(custom.is_locked("ProcCStates"));
  EXPECT_TRUE(custom.is_locked("SystemModelName")) << "never writable";
  EXPECT_TRUE(custom.settled());
  EXPECT_EQ(now.reason_of(*now.maker_of("ProcTurboMode", kReadOnly)),
            "SysProfile is PerfOptimized");
  EXPECT_THAT(now.values_that_unlock("ProcTurboMode", "SysProfile"), ElementsAre("Custom"));
}

TEST(BiosDependencies, OfACapturedIloSetWhatAWorkloadProfileSets) {
  CUPEL_NEED_CAPTURE(tree, "hpe");
  const auto [all, values] =
      captured(tree, "/redfish/v1/Systems/1/Bios",
               "/redfish/v1/registrystore/registries/en/biosattributeregistrya42.v1_2_60");
  ASSERT_EQ(all.dependencies.size(), 723u);
  EXPECT_THAT(all.unusable, IsEmpty());

  const auto registry = without_conditional_locks(all, {.current = values});
  const BiosOutcome hpc{
      registry, values, {{"WorkloadProfile", word("HighPerformanceCompute(HPC)")}}};

  EXPECT_FALSE((BiosOutcome{registry, values, {}}.is_locked("Sriov")));
  EXPECT_EQ(*hpc.value("Sriov"), word("Disabled"));
  EXPECT_TRUE(hpc.is_locked("Sriov"));
  EXPECT_TRUE(hpc.settled());
  EXPECT_THAT(hpc.values_that_unlock("Sriov", "WorkloadProfile"), Contains("Custom"));
}

TEST(BiosDependencies, OfACapturedDgxIgnoreTheTwoThatHaveNoValue) {
  CUPEL_NEED_CAPTURE(tree, "nvidia_viking");
  const auto machine = captured(tree, "/redfish/v1/Systems/DGX/Bios",
                                "/redfish/v1/Registries/BiosAttributeRegistry113.en-US.1.1.3.json");

  EXPECT_EQ(machine.registry.dependencies.size(), 23u);
  ASSERT_EQ(machine.registry.unusable.size(), 2u);
  EXPECT_EQ(machine.registry.unusable[0].first, "Ip6Support1");
}

}  // namespace
}  // namespace cupel::bmc
