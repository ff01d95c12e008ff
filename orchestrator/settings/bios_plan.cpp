#include "orchestrator/settings/bios_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "bmc/bios.h"
#include "inventory/machine_settings.h"
#include "inventory/profile.h"
#include "orchestrator/settings/attribute_plan.h"
#include "orchestrator/settings/vendor_attributes.h"

namespace cupel::settings {
namespace {

using Names = std::vector<std::string>;

const bmc::BiosRule* rule_of(const ReportedSettings& reported, const std::string& attribute) {
  const auto& rules = reported.bios_registry.rules;
  const auto rule = rules.find(attribute);
  return rule == rules.end() ? nullptr : &rule->second;
}

bool contains(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// Attributes that the machine has, of the first row that fits any.
struct Fit {
  const VendorAttribute* row = nullptr;
  Names attributes{};
};

Fit fit_of(std::string_view setting, const ReportedSettings& reported) {
  for (const auto* row : attributes_of(reported.vendor, setting)) {
    Fit fit{.row = row};
    for (const auto& [name, value] : reported.bios->current)
      if (matches(row->attribute, name)) fit.attributes.push_back(name);
    if (!fit.attributes.empty()) return fit;
  }
  return {};
}

/// How this attribute spells the value: what its registry allows; without one, the spelling that
/// goes with the word that it has now.
std::optional<std::string> spelled(const VendorAttribute& row, const std::string& value,
                                   const std::string& now, const bmc::BiosRule* rule) {
  const auto expected = std::ranges::find(row.values, value, &ValueSpelling::value);
  if (expected == row.values.end()) return std::nullopt;
  if (rule != nullptr && !rule->allowed.empty()) {
    for (const auto word : expected->words)
      if (std::ranges::find(rule->allowed, word) != rule->allowed.end()) return std::string{word};
    return std::nullopt;
  }
  if (contains(expected->words, now)) return now;
  for (const auto& other : row.values) {
    const auto at = std::ranges::find(other.words, now);
    const auto place = static_cast<std::size_t>(at - other.words.begin());
    if (at != other.words.end() && place < expected->words.size())
      return std::string{expected->words[place]};
  }
  return std::string{expected->words.front()};
}

std::string allowed_in(const bmc::BiosRule* rule) {
  if (rule == nullptr || rule->allowed.empty()) return "nothing that is known";
  Names shown;
  for (const auto& word : rule->allowed) shown.push_back(printable(word));
  return fmt::format("{}", fmt::join(shown, ", "));
}

class BiosPlan {
 public:
  BiosPlan(const ReportedSettings& reported, SettingsPlan& plan)
      : reported_{reported}, plan_{plan} {}

  void add_portable(const inventory::ExpectedPortable& expected) {
    const auto fit = fit_of(expected.name, reported_);
    if (fit.row == nullptr)
      return refuse(expected.name, "", expected.value, no_attribute(expected.name),
                    SettingState::absent);
    for (const auto& attribute : fit.attributes) {
      const auto now = bmc::to_text(reported_.bios->current.at(attribute));
      const auto name = expected.name + " (" + printable(attribute) + ")";
      const auto* rule = rule_of(reported_, attribute);
      const auto word = spelled(*fit.row, expected.value, now, rule);
      if (word)
        add(name, attribute, *word);
      else
        refuse(name, now, expected.value,
               fmt::format("{} allows {}", printable(attribute), allowed_in(rule)));
    }
  }

  void add_attribute(const inventory::ExpectedSetting& expected) {
    const auto name = "bios " + expected.attribute;
    if (!reported_.bios->current.contains(expected.attribute))
      return refuse(name, "", expected.value,
                    "it is not an attribute of this board's BIOS" + nearest_to(expected.attribute));
    const auto* rule = rule_of(reported_, expected.attribute);
    const auto now = bmc::to_text(reported_.bios->current.at(expected.attribute));
    const bool listed = rule == nullptr || rule->allowed.empty() ||
                        std::ranges::find(rule->allowed, expected.value) != rule->allowed.end();
    if (!listed)
      return refuse(name, now, expected.value,
                    fmt::format("{} allows {}", expected.attribute, allowed_in(rule)));
    add(name, expected.attribute, expected.value);
  }

  void finish() const { plan_attributes(reported_, expected_, plan_); }

 private:
  void refuse(std::string name, std::string current, std::string expected, std::string why,
              SettingState state = SettingState::refused) {
    plan_.items.push_back({.name = std::move(name),
                           .current = std::move(current),
                           .expected = std::move(expected),
                           .state = state,
                           .needs_boot = true,
                           .refusal = std::move(why)});
  }

  void add(const std::string& name, const std::string& attribute, const std::string& value) {
    const auto current = bmc::to_text(reported_.bios->current.at(attribute));
    const auto known = std::ranges::find(expected_, attribute, &ExpectedAttribute::attribute);
    if (known != expected_.end() && lower_case(known->value) != lower_case(value))
      return refuse(name, current, value,
                    "the profile wants " + known->value + " of " + attribute + " too");
    expected_.push_back({.attribute = attribute, .value = value, .item = plan_.items.size()});
    plan_.items.push_back({name, current, value, SettingState::differs, true, {}});
  }

  std::string no_attribute(const std::string& setting) const {
    const auto rows = attributes_of(reported_.vendor, setting);
    const auto vendor = reported_.vendor.empty() ? "this vendor" : reported_.vendor;
    if (rows.empty())
      return "no BIOS attribute of " + vendor +
             " is known for it; name the attribute itself under bios";
    Names names;
    for (const auto* row : rows) names.emplace_back(row->attribute);
    return fmt::format("this board's BIOS has no {}; name its own attribute under bios",
                       fmt::join(names, " or "));
  }

  std::string nearest_to(const std::string& attribute) const {
    Names names;
    for (const auto& [name, value] : reported_.bios->current) names.push_back(name);
    const auto close = nearest(attribute, std::span<const std::string>{names});
    return close ? "; there is " + printable(*close) : std::string{};
  }

  const ReportedSettings& reported_;
  SettingsPlan& plan_;
  std::vector<ExpectedAttribute> expected_{};
};

/// Without BIOS settings, each item says why. A machine that has none lacks what profiles want of
/// any machine; an attribute by its name is requested of this one.
void plan_without(const inventory::Profile& profile, const ReportedSettings& reported,
                  SettingsPlan& plan) {
  const auto found = reported.unreadable.find("BIOS");
  const auto why = found == reported.unreadable.end() ? "not reported" : found->second;
  const auto refuse = [&](std::string name, const std::string& expected, SettingState state) {
    plan.items.push_back({.name = std::move(name),
                          .expected = expected,
                          .state = state,
                          .needs_boot = true,
                          .refusal = why});
  };
  const auto portable =
      reported.lacking.contains("BIOS") ? SettingState::absent : SettingState::refused;
  for (const auto& expected : profile.settings.portable)
    if (is_bios_attribute(expected.name, reported)) refuse(expected.name, expected.value, portable);
  for (const auto& expected : profile.bios)
    refuse("bios " + expected.attribute, expected.value, SettingState::refused);
}

}  // namespace

bool is_bios_attribute(std::string_view setting, const ReportedSettings& reported) {
  return setting != "secure_boot" || !attributes_of(reported.vendor, setting).empty();
}

void plan_bios(const inventory::Profile& profile, const ReportedSettings& reported,
               SettingsPlan& plan) {
  if (!reported.bios) return plan_without(profile, reported, plan);
  BiosPlan bios{reported, plan};
  for (const auto& expected : profile.settings.portable)
    if (is_bios_attribute(expected.name, reported)) bios.add_portable(expected);
  for (const auto& expected : profile.bios) bios.add_attribute(expected);
  bios.finish();
}

}  // namespace cupel::settings
