// What one map of a YAML file says, key by key.
#include <cmath>

#include "base/text.h"
#include "inventory/read_shape.h"
#include "inventory/yaml.h"

namespace cupel::inventory {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};

constexpr std::array<Unit, 13> kSizes{{{"", 1},
                                       {"B", 1},
                                       {"kB", 1e3},
                                       {"MB", 1e6},
                                       {"GB", 1e9},
                                       {"TB", 1e12},
                                       {"PB", 1e15},
                                       {"KiB", 1024.0},
                                       {"MiB", 1024.0 * 1024},
                                       {"GiB", 1024.0 * 1024 * 1024},
                                       {"TiB", 1024.0 * 1024 * 1024 * 1024},
                                       {"KB", 1e3},
                                       {"PiB", 1024.0 * 1024 * 1024 * 1024 * 1024}}};

std::optional<long> seconds_in(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 86400;
    default:
      return std::nullopt;
  }
}

using Kind = ReadShape::Kind;

/// For whoever notes what readers ask for.
void note_asked(const Place& map, std::string_view key, Kind kind, long least = 0, long most = 0) {
  if (auto* shape = ReadShape::noting()) shape->asked(map, key, kind, least, most);
}

std::string hint(const std::optional<std::string>& word) {
  return word ? " (did you mean '" + *word + "'?)" : std::string{};
}

}  // namespace

std::string did_you_mean(std::string_view typed, std::span<const std::string_view> known) {
  return hint(nearest(typed, known));
}

std::string did_you_mean(std::string_view typed, std::span<const std::string> known) {
  return hint(nearest(typed, known));
}

std::optional<std::chrono::seconds> duration_of(std::string_view text) {
  constexpr long kLongest = 10L * 366 * 86400;
  text = trimmed(text);
  if (text.empty()) return std::nullopt;
  long total = 0;
  while (!text.empty()) {
    const auto digits = text.find_first_not_of("0123456789");
    if (digits == 0 || digits == text.npos) return std::nullopt;
    const auto amount = cupel::number<long>(text.substr(0, digits));
    const auto unit = seconds_in(text[digits]);
    if (!amount || !unit || *amount > kLongest) return std::nullopt;
    total += *amount * *unit;
    if (total > kLongest) return std::nullopt;
    text.remove_prefix(digits + 1);
  }
  return std::chrono::seconds{total};
}

std::optional<double> size_of(std::string_view text) {
  text = trimmed(text);
  const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto amount = cupel::number<double>(text.substr(0, end));
  if (!amount || !std::isfinite(*amount)) return std::nullopt;
  const auto unit = trimmed(text.substr(end));
  for (const auto& known : kSizes)
    if (known.name == unit) return *amount * known.bytes;
  return std::nullopt;
}

YamlFields::YamlFields(const YamlValue& value, std::string what, const std::string& file,
                       std::vector<Problem>& problems)
    : value_{value}, what_{std::move(what)}, file_{file}, problems_{problems} {
  if (auto* shape = ReadShape::noting()) shape->opened(place());
  if (value.kind != YamlValue::Kind::map) report(place(), what_ + " must be a map (key: value)");
}

const YamlValue* YamlFields::value(std::string_view key) {
  if (std::ranges::find(asked_, key) == asked_.end()) asked_.push_back(key);
  note_asked(place(), key, Kind::any);
  const auto* entry = value_.entry(key);
  return entry == nullptr || entry->kind == YamlValue::Kind::null ? nullptr : entry;
}

bool YamlFields::has(std::string_view key) { return value(key) != nullptr; }

Place YamlFields::place(std::string_view key) const {
  const auto* entry = value_.entry(key);
  if (entry == nullptr) return place();
  return {file_, entry->line, entry->column};
}

std::optional<std::string> YamlFields::text(std::string_view key) {
  const auto* found = value(key);
  note_asked(place(), key, Kind::text);
  if (found == nullptr) return std::nullopt;
  if (found->kind != YamlValue::Kind::scalar) {
    report(place(key), std::string{key} + " must be a single value");
    return std::nullopt;
  }
  return found->text;
}

std::optional<double> YamlFields::number(std::string_view key) {
  const auto word = text(key);
  note_asked(place(), key, Kind::number);
  if (!word) return std::nullopt;
  const auto found = cupel::number<double>(*word);
  if (!found || !std::isfinite(*found)) {
    report(place(key), std::string{key} + " must be a number, not '" + *word + "'");
    return std::nullopt;
  }
  return found;
}

std::optional<long> YamlFields::integer(std::string_view key, long least, long most) {
  const auto word = text(key);
  note_asked(place(), key, Kind::integer, least, most);
  if (!word) return std::nullopt;
  const auto found = cupel::number<long>(*word);
  if (!found || *found < least || *found > most) {
    report(place(key), std::string{key} + " must be a whole number from " + std::to_string(least) +
                           " to " + std::to_string(most) + ", not '" + *word + "'");
    return std::nullopt;
  }
  return found;
}

std::optional<bool> YamlFields::flag(std::string_view key) {
  const auto word = text(key);
  note_asked(place(), key, Kind::flag);
  if (!word) return std::nullopt;
  if (*word == "true" || *word == "yes") return true;
  if (*word == "false" || *word == "no") return false;
  report(place(key), std::string{key} + " must be true or false, not '" + *word + "'");
  return std::nullopt;
}

std::optional<std::chrono::seconds> YamlFields::duration(std::string_view key) {
  const auto word = text(key);
  note_asked(place(), key, Kind::duration);
  if (!word) return std::nullopt;
  const auto found = duration_of(*word);
  if (!found)
    report(place(key),
           std::string{key} + " must be a duration such as 90s, 15m or 72h, not '" + *word + "'");
  return found;
}

std::optional<double> YamlFields::size(std::string_view key) {
  const auto word = text(key);
  note_asked(place(), key, Kind::size);
  if (!word) return std::nullopt;
  const auto found = size_of(*word);
  if (!found)
    report(place(key),
           std::string{key} + " must be a size such as 64GiB or 3.84TB, not '" + *word + "'");
  return found;
}

std::vector<std::string> YamlFields::texts(std::string_view key) {
  const auto* found = value(key);
  note_asked(place(), key, Kind::texts);
  if (found == nullptr) return {};
  if (found->kind == YamlValue::Kind::scalar) return {found->text};
  if (found->kind != YamlValue::Kind::list) {
    report(place(key), std::string{key} + " must be a list");
    return {};
  }
  std::vector<std::string> all;
  for (const auto& item : found->items) {
    if (item.kind == YamlValue::Kind::scalar)
      all.push_back(item.text);
    else
      report({file_, item.line, item.column}, "each of " + std::string{key} + " must be a text");
  }
  return all;
}

std::span<const YamlValue> YamlFields::list(std::string_view key) {
  const auto* found = value(key);
  note_asked(place(), key, Kind::list);
  if (found == nullptr) return {};
  if (found->kind != YamlValue::Kind::list) {
    report(place(key), std::string{key} + " must be a list");
    return {};
  }
  return found->items;
}

std::string YamlFields::required(std::string_view key) {
  const bool there = has(key);
  if (auto* shape = ReadShape::noting()) shape->required(place(), key);
  if (!there) report(place(), what_ + " needs " + std::string{key});
  return text(key).value_or("");
}

void YamlFields::finish() {
  if (auto* shape = ReadShape::noting()) shape->closed(place());
  if (value_.kind != YamlValue::Kind::map) return;
  for (const auto& entry : value_.items) {
    if (std::ranges::find(asked_, entry.key) != asked_.end()) continue;
    report({file_, entry.key_line, entry.key_column},
           "unknown key '" + entry.key + "' in " + what_ + did_you_mean(entry.key, asked_));
  }
}

}  // namespace cupel::inventory
