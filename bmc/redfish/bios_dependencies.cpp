#include "bmc/redfish/bios_dependencies.h"

#include <algorithm>
#include <array>
#include <set>

#include "bmc/bios.h"
#include "bmc/bios_dependencies.h"

namespace cupel::bmc::redfish {
namespace {

// An iLO has some 940, an iDRAC some 590, of at most 8 conditions.
constexpr std::size_t kMostDependencies = 4096, kMostConditions = 32, kMostConditionsOfAll = 16'384;
constexpr std::size_t kMostUnusable = 64;
constexpr std::size_t kLongestName = 256, kLongestValue = 1024;

using Test = BiosCondition::Test;
constexpr std::array<std::pair<std::string_view, Test>, 6> kTests{{{"EQU", Test::equal},
                                                                   {"NEQ", Test::unequal},
                                                                   {"GTR", Test::greater},
                                                                   {"GEQ", Test::at_least},
                                                                   {"LSS", Test::less},
                                                                   {"LEQ", Test::at_most}}};

/// Of what is shown to people alone: no setting depends on it.
constexpr std::array<std::string_view, 5> kShown{"HelpText", "WarningText", "DisplayName",
                                                 "DisplayOrder", "ValueExpression"};

std::optional<std::string> name_at(const json::value& value, std::string_view key) {
  auto name = text_at(value, key);
  if (name && name->size() > kLongestName) return std::nullopt;
  return name;
}

std::optional<BiosValue> value_at(const json::value& value, std::string_view key) {
  const auto* found = find(value, key);
  auto read = found == nullptr ? std::nullopt : bios_value_of(*found);
  const auto* text = read ? std::get_if<std::string>(&*read) : nullptr;
  if (text != nullptr && text->size() > kLongestValue) return std::nullopt;
  return read;
}

/// Errors: kMalformed says what is missing.
Result<BiosCondition> condition_of(const json::value& entry) {
  const auto malformed = [](std::string what) {
    return Error{Code::kMalformed, "a condition " + std::move(what)};
  };
  auto attribute = name_at(entry, "MapFromAttribute");
  auto property = name_at(entry, "MapFromProperty");
  const auto word = name_at(entry, "MapFromCondition");
  auto value = value_at(entry, "MapFromValue");
  if (!attribute) return malformed("names no attribute (MapFromAttribute)");
  if (!property) return malformed("names no property (MapFromProperty)");
  if (!value) return malformed("has no value (MapFromValue)");
  const auto test = std::ranges::find(kTests, word.value_or(""),
                                      [](const auto& one) { return std::string{one.first}; });
  if (test == kTests.end()) return malformed("has no MapFromCondition of EQU, NEQ, GTR, ...");
  return BiosCondition{.test = test->second,
                       .of = {*std::move(attribute), *std::move(property)},
                       .value = *std::move(value)};
}

/// Without a word between them, conditions are alternatives: an iDRAC lists the values of one
/// attribute so. Some write the word before the first.
Result<std::vector<BiosCondition>> conditions_of(const json::array& entries) {
  std::vector<BiosCondition> conditions;
  if (entries.empty()) return Error{Code::kMalformed, "it has no conditions (MapFrom)"};
  if (entries.size() > kMostConditions)
    return Error{Code::kMalformed,
                 "it has more than " + std::to_string(kMostConditions) + " conditions"};
  const auto first = text_at(entries.front(), "MapTerms");
  for (const auto& entry : entries) {
    TRY(auto condition, condition_of(entry));
    auto word = text_at(entry, "MapTerms");
    if (!word && conditions.size() == 1) word = first;
    if (word && *word != "AND" && *word != "OR")
      return Error{Code::kMalformed, "a condition has MapTerms other than AND and OR"};
    condition.and_before = !conditions.empty() && word == "AND";
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

Result<BiosDependency> dependency_of(const json::value& entry) {
  const auto type = text_at(entry, "Type");
  if (type && *type != "Map") return Error{Code::kMalformed, "its Type is not Map"};
  const auto* from = find(entry, "Dependency/MapFrom");
  const auto* entries = from == nullptr ? nullptr : from->if_array();
  auto attribute = name_at(entry, "Dependency/MapToAttribute");
  auto property = name_at(entry, "Dependency/MapToProperty");
  auto value = value_at(entry, "Dependency/MapToValue");
  if (entries == nullptr) return Error{Code::kMalformed, "it has no conditions (MapFrom)"};
  if (!attribute) return Error{Code::kMalformed, "it names no attribute (MapToAttribute)"};
  if (!property) return Error{Code::kMalformed, "it names no property (MapToProperty)"};
  if (!value) return Error{Code::kMalformed, "it has no value (MapToValue)"};
  TRY(auto conditions, conditions_of(*entries));
  return BiosDependency{.trigger = name_at(entry, "DependencyFor").value_or(""),
                        .conditions = std::move(conditions),
                        .sets = {*std::move(attribute), *std::move(property)},
                        .value = *std::move(value)};
}

bool is_shown_alone(const json::value& entry) {
  const auto property = text_at(entry, "Dependency/MapToProperty");
  return property && std::ranges::find(kShown, *property) != kShown.end();
}

std::set<BiosProperty> properties_named(const BiosRegistry& registry) {
  std::set<BiosProperty> named;
  const auto add = [&](const BiosProperty& property) {
    if (property.name != kCurrentValue) named.insert(property);
  };
  for (const auto& dependency : registry.dependencies) {
    add(dependency.sets);
    for (const auto& condition : dependency.conditions) add(condition.of);
  }
  return named;
}

void read_properties(const json::value& registry, BiosRegistry& into) {
  const auto named = properties_named(into);
  const auto* list = find(registry, "RegistryEntries/Attributes");
  const auto* entries = list == nullptr ? nullptr : list->if_array();
  if (entries == nullptr) return;
  for (const auto& entry : *entries) {
    const auto name = text_at(entry, "AttributeName");
    if (!name) continue;
    for (auto at = named.lower_bound({*name, ""}); at != named.end() && at->attribute == *name;
         ++at)
      if (auto value = value_at(entry, at->name))
        into.properties.insert_or_assign(*at, *std::move(value));
  }
}

}  // namespace

std::optional<BiosValue> bios_value_of(const json::value& value) {
  if (value.is_bool()) return BiosValue{value.get_bool()};
  if (value.is_int64()) return BiosValue{value.get_int64()};
  if (value.is_double()) return BiosValue{value.get_double()};
  if (value.is_string()) return BiosValue{std::string{value.get_string()}};
  return std::nullopt;
}

void read_dependencies(const json::value& registry, BiosRegistry& into) {
  const auto* list = find(registry, "RegistryEntries/Dependencies");
  const auto* entries = list == nullptr ? nullptr : list->if_array();
  if (entries == nullptr) return;
  std::size_t conditions = 0, seen = 0;
  for (const auto& entry : *entries) {
    if (++seen > kMostDependencies || conditions > kMostConditionsOfAll) {
      into.cut = entries->size() - (seen - 1);
      break;
    }
    if (is_shown_alone(entry)) continue;
    auto dependency = dependency_of(entry);
    if (dependency) {
      conditions += dependency->conditions.size();
      into.dependencies.push_back(*std::move(dependency));
    } else if (into.unusable.size() < kMostUnusable) {
      into.unusable.emplace_back(name_at(entry, "Dependency/MapToAttribute").value_or(""),
                                 dependency.error().what);
    }
  }
  read_properties(registry, into);
}

}  // namespace cupel::bmc::redfish
