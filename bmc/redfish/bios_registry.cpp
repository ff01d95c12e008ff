#include "bmc/redfish/bios_registry.h"

#include <algorithm>

#include "base/text.h"
#include "bmc/bios.h"
#include "bmc/bios_dependencies.h"
#include "bmc/redfish/bios_dependencies.h"
#include "bmc/redfish/pages.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostNamed = 20;

/// A missing registry costs the checks, not the settings; being asked to stop is another matter.
bool is_missing(const Error& error) {
  return error.code == Code::kNotFound || error.code == Code::kMalformed ||
         error.code == Code::kInvalid || error.code == Code::kFailed ||
         error.code == Code::kUnsupported;
}

std::string registry_file(const std::vector<std::string>& members, std::string_view named) {
  std::string best;
  for (const auto& uri : members) {
    const auto id = lower_case(last_name(uri));
    if (!id.starts_with("biosattributeregistry")) continue;
    const bool exact = !named.empty() && id.starts_with(lower_case(named));
    if (best.empty() || exact) best = uri;
  }
  return best;
}

std::string english_in(const json::value& file) {
  const auto* list = find(file, "Location");
  const auto* places = list == nullptr ? nullptr : list->if_array();
  if (places == nullptr) return {};
  std::string best;
  for (const auto& place : *places) {
    const auto uri = path_of(text_at(place, "Uri").value_or(""));
    const bool english = text_at(place, "Language").value_or("").starts_with("en");
    if (is_on_the_bmc(uri) && (best.empty() || english)) best = uri;
    if (english && !best.empty()) break;
  }
  return best;
}

const json::value* entry_of(const json::value& registry, const std::string& name) {
  const auto* list = find(registry, "RegistryEntries/Attributes");
  const auto* entries = list == nullptr ? nullptr : list->if_array();
  if (entries == nullptr) return nullptr;
  for (const auto& entry : *entries)
    if (text_at(entry, "AttributeName") == name) return &entry;
  return nullptr;
}

/// The value in the type that the BIOS tells now, or that the registry names.
BiosValue as_reported(const BiosValue& requested, const BiosValue* now, std::string_view type) {
  const auto* text = std::get_if<std::string>(&requested);
  if (text == nullptr) return requested;
  const bool whole = type == "Integer" || (now && std::holds_alternative<std::int64_t>(*now));
  const bool flag = type == "Boolean" || (now && std::holds_alternative<bool>(*now));
  const auto value = number<std::int64_t>(*text);
  if (whole && value) return *value;
  if (flag && (*text == "true" || *text == "false")) return *text == "true";
  return requested;
}

/// What is wrong with a value for an enumeration; empty: nothing.
std::string wrong_word(const json::value& entry, const std::string& value) {
  const auto* list = find(entry, "Value");
  const auto* allowed = list == nullptr ? nullptr : list->if_array();
  if (allowed == nullptr || allowed->empty()) return {};
  std::vector<std::string> names;
  for (const auto& one : *allowed) {
    auto name = text_at(one, "ValueName").value_or("");
    if (name == value) return {};
    if (!name.empty() && names.size() < kMostNamed) names.push_back(std::move(name));
  }
  // A DGX lists words that are empty: nothing can be held against them.
  if (names.empty()) return {};
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ", ") + printable(name);
  return "is one of " + all;
}

std::string wrong_number(const json::value& entry, const BiosValue& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  if (whole == nullptr) return "is a whole number";
  const auto low = number_at(entry, "LowerBound"), high = number_at(entry, "UpperBound");
  const auto number = static_cast<double>(*whole);
  const bool in = (!low || number >= *low) && (!high || number <= *high);
  if (in) return {};
  return "is at least " + plain(low.value_or(0)) + " and at most " + plain(high.value_or(0));
}

std::string wrong_text(const json::value& entry, const std::string& value) {
  const auto least = number_at(entry, "MinLength"), most = number_at(entry, "MaxLength");
  const auto size = static_cast<double>(value.size());
  if (least && size < *least) return "has at least " + plain(*least) + " characters";
  if (most && *most > 0 && size > *most) return "has at most " + plain(*most) + " characters";
  return {};
}

std::string wrong_for(const json::value& entry, const BiosValue& value) {
  const auto type = text_at(entry, "Type").value_or("");
  if (type == "Enumeration") return wrong_word(entry, to_text(value));
  if (type == "Integer") return wrong_number(entry, value);
  if (type == "Boolean" && !std::holds_alternative<bool>(value)) return "is true or false";
  if (type == "String" || type == "Password") return wrong_text(entry, to_text(value));
  return {};
}

std::string nearest_name(const std::string& name, const BiosValues& current) {
  std::vector<std::string> names;
  for (const auto& [known, value] : current) names.push_back(known);
  const auto close = nearest(name, names);
  return close ? "; there is " + printable(*close) : std::string{};
}

/// The bounds of an attribute as dependencies make them.
json::value bounded(const json::value& entry, const std::string& name, const BiosOutcome& outcome) {
  if (!entry.is_object()) return entry;
  auto object = entry.get_object();
  for (const auto* bound : {"LowerBound", "UpperBound", "MinLength", "MaxLength"})
    if (const auto* value = outcome.property(name, bound))
      std::visit([&](const auto& one) { object[bound] = one; }, *value);
  return object;
}

/// "is read-only while SysProfile is PerfOptimized"; empty: it is not.
std::string locked(const std::string& name, const BiosOutcome& outcome) {
  if (!outcome.is_locked(name)) return {};
  const auto* maker = outcome.maker_of(name, kReadOnly);
  return "is read-only" + (maker == nullptr ? "" : " while " + outcome.reason_of(*maker));
}

BiosValues over(BiosValues values, const BiosValues& more) {
  for (const auto& [name, value] : more) values.insert_or_assign(name, value);
  return values;
}

/// Some have an empty text, or null, for none.
std::optional<BiosValue> usual_of(const json::value& entry) {
  constexpr std::size_t kLongest = 1024;
  const auto* value = find(entry, "DefaultValue");
  auto usual = value == nullptr ? std::nullopt : bios_value_of(*value);
  const auto* text = usual ? std::get_if<std::string>(&*usual) : nullptr;
  if (text != nullptr && (text->empty() || text->size() > kLongest)) return std::nullopt;
  return usual;
}

}  // namespace

Task<Result<json::value>> read_bios_registry_file(Client& client, Layout layout, json::value bios,
                                                  Deadline deadline) {
  std::string uri = layout.registries;
  json::value document;
  // The collection, the file in it, its text.
  for (int step = 0; step < 3; ++step) {
    if (uri.empty()) co_return json::value{};
    auto answer = co_await client.get(uri, deadline);
    if (!answer && is_missing(answer.error())) co_return json::value{};
    if (!answer) co_return std::move(answer).error();
    document = *std::move(answer);
    if (find(document, "RegistryEntries") != nullptr) co_return document;
    if (step > 0) {
      uri = english_in(document);
      continue;
    }
    Document first{std::move(uri), std::move(document)};
    const auto files = co_await member_uris(client, std::move(first), kMostListed, deadline);
    if (!files && is_missing(files.error())) co_return json::value{};
    if (!files) co_return files.error();
    uri = registry_file(*files, reported(bios, "AttributeRegistry"));
  }
  co_return json::value{};
}

BiosRegistry registry_in(const json::value& registry) {
  constexpr std::size_t kMostRules = 5000, kMostWords = 1024;
  BiosRegistry reported;
  const auto* list = find(registry, "RegistryEntries/Attributes");
  const auto* entries = list == nullptr ? nullptr : list->if_array();
  if (entries == nullptr) return reported;
  for (const auto& entry : *entries) {
    const auto name = text_at(entry, "AttributeName");
    if (!name || reported.rules.size() >= kMostRules) continue;
    const bool immutable = flag_at(entry, "Immutable") == true;
    BiosRule rule{.least = number_at(entry, "LowerBound"),
                  .most = number_at(entry, "UpperBound"),
                  .read_only = immutable || flag_at(entry, "ReadOnly") == true,
                  .immutable = immutable,
                  .usual = usual_of(entry)};
    const auto* value = find(entry, "Value");
    const auto* words = value == nullptr ? nullptr : value->if_array();
    for (std::size_t i = 0; words != nullptr && i < std::min(words->size(), kMostWords); ++i)
      if (auto word = text_at((*words)[i], "ValueName")) rule.allowed.push_back(std::move(*word));
    reported.rules.emplace(*name, std::move(rule));
  }
  read_dependencies(registry, reported);
  return reported;
}

Result<BiosValues> checked(const BiosValues& requested, const BiosSettings& reported,
                           const json::value& registry) {
  const auto evaluable = without_conditional_locks(registry_in(registry), reported);
  const BiosOutcome outcome{evaluable, reported.current, over(reported.pending, requested)};
  BiosValues good;
  std::string wrong;
  for (const auto& [name, value] : requested) {
    const auto now = reported.current.find(name);
    const auto* entry = entry_of(registry, name);
    const auto type = entry == nullptr ? "" : text_at(*entry, "Type").value_or("");
    const bool there = now != reported.current.end();
    auto own = as_reported(value, there ? &now->second : nullptr, type);
    std::string why;
    if (!there)
      why = "is not an attribute of this board's BIOS" + nearest_name(name, reported.current);
    if (there) why = locked(name, outcome);
    if (there && entry != nullptr && why.empty())
      why = wrong_for(bounded(*entry, name, outcome), own);
    if (!why.empty()) wrong += (wrong.empty() ? "" : "; ") + printable(name) + " " + why;
    good.emplace(name, std::move(own));
  }
  if (wrong.empty()) return good;
  return Error{Code::kInvalid, "BIOS settings: " + wrong};
}

}  // namespace cupel::bmc::redfish
