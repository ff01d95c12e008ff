#include "orchestrator/settings/bios_defaults.h"

#include "bmc/bios.h"

namespace cupel::settings {
namespace {

bool is_compared(const bmc::BiosRule& rule) {
  if (!rule.usual || rule.read_only || rule.immutable) return false;
  return !rule.allowed.empty() || !std::holds_alternative<std::string>(*rule.usual);
}

}  // namespace

BiosDefaults bios_defaults(const bmc::BiosSettings& reported, const bmc::BiosRegistry& registry) {
  BiosDefaults defaults;
  for (const auto& [name, value] : reported.current) {
    const auto rule = registry.rules.find(name);
    if (rule == registry.rules.end() || !is_compared(rule->second)) continue;
    ++defaults.compared;
    if (!bmc::same_setting(value, *rule->second.usual)) defaults.off.push_back(name);
  }
  return defaults;
}

}  // namespace cupel::settings
