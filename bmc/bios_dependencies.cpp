#include "bmc/bios_dependencies.h"

#include <algorithm>

#include "base/text.h"
#include "bmc/bios.h"

namespace cupel::bmc {
namespace {

constexpr int kMostPasses = 8;               // the captured registries need 3
constexpr std::size_t kMostCandidates = 64;  // values that are tried for an advice

/// As a BIOS compares: case is no difference, nor are 5 and "5".
bool alike(const BiosValue& one, const BiosValue& other) {
  return same_setting(one, other) || lower_case(to_text(one)) == lower_case(to_text(other));
}

bool is_met(BiosCondition::Test test, const BiosValue& is, const BiosValue& asked) {
  using enum BiosCondition::Test;
  if (test == equal) return alike(is, asked);
  if (test == unequal) return !alike(is, asked);
  const auto left = number<double>(to_text(is)), right = number<double>(to_text(asked));
  if (!left || !right) return false;
  if (test == greater) return *left > *right;
  if (test == at_least) return *left >= *right;
  if (test == less) return *left < *right;
  return *left <= *right;
}

bool locks(const BiosDependency& dependency, const std::string& attribute) {
  return dependency.sets.attribute == attribute && dependency.sets.name == kReadOnly &&
         is_true(&dependency.value);
}

bool names_any(const BiosDependency& dependency, const BiosValues& values) {
  return std::ranges::any_of(dependency.conditions, [&](const BiosCondition& condition) {
    return values.contains(condition.of.attribute);
  });
}

/// What the attribute may be, of what the condition asks where the registry lists nothing.
std::vector<std::string> candidates(const BiosRegistry& registry, const std::string& attribute) {
  const auto rule = registry.rules.find(attribute);
  std::vector<std::string> words;
  if (rule != registry.rules.end()) words = rule->second.allowed;
  if (words.size() > kMostCandidates) words.resize(kMostCandidates);
  return words;
}

}  // namespace

bool is_true(const BiosValue* value) {
  return value != nullptr && lower_case(to_text(*value)) == "true";
}

BiosOutcome::BiosOutcome(const BiosRegistry& registry, const BiosValues& now, const BiosValues& set)
    : registry_{registry}, now_{now}, values_{now}, properties_{registry.properties} {
  for (const auto& [name, value] : set) values_.insert_or_assign(name, value);
  for (int pass = 0; pass < kMostPasses && !settled_; ++pass) settled_ = !step();
}

/// All dependencies once, by the state before it. Returns whether anything changed. Values stay
/// where the condition passes: a swap of two serial ports ends its own.
bool BiosOutcome::step() {
  auto values = values_;
  auto properties = registry_.properties;
  for (const auto& dependency : registry_.dependencies) {
    const bool of_value = dependency.sets.name == kCurrentValue;
    if (!holds(dependency) || (of_value && !is_triggered(dependency))) continue;
    if (of_value)
      values.insert_or_assign(dependency.sets.attribute, dependency.value);
    else
      properties.insert_or_assign(dependency.sets, dependency.value);
    makers_.insert_or_assign(dependency.sets, &dependency);
  }
  const bool changed = values != values_ || properties != properties_;
  values_ = std::move(values);
  properties_ = std::move(properties);
  return changed;
}

const BiosValue* BiosOutcome::at(const BiosProperty& property) const {
  if (property.name == kCurrentValue) return value(property.attribute);
  const auto found = properties_.find(property);
  return found == properties_.end() ? nullptr : &found->second;
}

const BiosValue* BiosOutcome::value(const std::string& attribute) const {
  const auto found = values_.find(attribute);
  return found == values_.end() ? nullptr : &found->second;
}

const BiosValue* BiosOutcome::property(const std::string& attribute, std::string_view name) const {
  return at({attribute, std::string{name}});
}

bool BiosOutcome::is_locked(const std::string& attribute) const {
  if (is_true(property(attribute, kImmutable))) return true;
  const auto rule = registry_.rules.find(attribute);
  const bool ruled = rule != registry_.rules.end();
  if (ruled && rule->second.immutable) return true;
  if (const auto* read_only = property(attribute, kReadOnly)) return is_true(read_only);
  return ruled && rule->second.read_only;
}

bool BiosOutcome::is_locked_now(const std::string& attribute) const {
  const auto rule = registry_.rules.find(attribute);
  const bool by_rule = rule != registry_.rules.end() && rule->second.read_only;
  return by_rule || is_locked(attribute);
}

bool BiosOutcome::holds(const BiosCondition& condition) const {
  const auto* is = at(condition.of);
  return is != nullptr && is_met(condition.test, *is, condition.value);
}

bool BiosOutcome::holds(const BiosDependency& dependency) const {
  bool all = false;
  for (const auto& condition : dependency.conditions)
    all = condition.and_before ? all && holds(condition) : all || holds(condition);
  return all;
}

bool BiosOutcome::has_changed(const std::string& attribute) const {
  const auto before = now_.find(attribute);
  const auto after = values_.find(attribute);
  if (before == now_.end() || after == values_.end())
    return (before == now_.end()) != (after == values_.end());
  return !alike(before->second, after->second);
}

/// An iLO's dependency names the attribute whose change triggers it among its conditions; an
/// iDRAC's names the one that it sets: there any condition's does.
bool BiosOutcome::is_triggered(const BiosDependency& dependency) const {
  const auto& all = dependency.conditions;
  const bool named = std::ranges::any_of(
      all, [&](const auto& one) { return one.of.attribute == dependency.trigger; });
  if (named) return has_changed(dependency.trigger);
  return std::ranges::any_of(all, [&](const auto& one) { return has_changed(one.of.attribute); });
}

const BiosDependency* BiosOutcome::maker_of(const std::string& attribute,
                                            std::string_view name) const {
  const auto found = makers_.find({attribute, std::string{name}});
  if (found == makers_.end()) return nullptr;
  const bool stays = found->first.name == kCurrentValue || holds(*found->second);
  return stays ? found->second : nullptr;
}

std::vector<const BiosCondition*> BiosOutcome::conditions_met(
    const BiosDependency& dependency) const {
  const bool together = std::ranges::any_of(dependency.conditions, &BiosCondition::and_before);
  std::vector<const BiosCondition*> met;
  for (const auto& condition : dependency.conditions) {
    if (!holds(condition)) continue;
    met.push_back(&condition);
    if (!together) break;
  }
  return met;
}

std::vector<std::string> BiosOutcome::causes_of(const BiosDependency& dependency) const {
  std::vector<std::string> names;
  for (const auto* condition : conditions_met(dependency)) names.push_back(condition->of.attribute);
  return names;
}

std::string BiosOutcome::reason_of(const BiosDependency& dependency) const {
  std::string text;
  for (const auto* condition : conditions_met(dependency)) {
    const auto* is = at(condition->of);
    const bool of_value = condition->of.name == kCurrentValue;
    text += (text.empty() ? "" : " and ") + printable(condition->of.attribute) +
            (of_value ? "" : "'s " + printable(condition->of.name)) + " is " +
            (is == nullptr ? "not reported" : to_text(*is));
  }
  return text;
}

std::vector<std::string> BiosOutcome::values_that_unlock(const std::string& attribute,
                                                         const std::string& cause) const {
  std::vector<std::string> good;
  BiosOutcome other{*this};
  for (auto& word : candidates(registry_, cause)) {
    other.values_.insert_or_assign(cause, BiosValue{word});
    const bool locked =
        std::ranges::any_of(registry_.dependencies, [&](const BiosDependency& dependency) {
          return locks(dependency, attribute) && other.holds(dependency);
        });
    if (!locked) good.push_back(std::move(word));
  }
  return good;
}

BiosRegistry without_conditional_locks(BiosRegistry registry, const BiosSettings& settings) {
  const BiosOutcome present{registry, settings.current, {}};
  std::vector<BiosProperty> conditional;
  for (const auto& [property, value] : registry.properties) {
    if (property.name != kReadOnly || !is_true(&value)) continue;
    const auto* maker = present.maker_of(property.attribute, kReadOnly);
    const bool waits = std::ranges::any_of(registry.dependencies, [&](const auto& dependency) {
      return locks(dependency, property.attribute) && names_any(dependency, settings.pending);
    });
    if ((maker != nullptr && is_true(&maker->value)) || waits) conditional.push_back(property);
  }
  for (const auto& property : conditional) registry.properties[property] = BiosValue{false};
  return registry;
}

}  // namespace cupel::bmc
