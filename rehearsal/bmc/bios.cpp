#include "rehearsal/bmc/bios.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace cupel::rehearsal {
namespace {

bool is(const json::value& value, std::string_view text) {
  const auto* own = value.if_string();
  return own != nullptr && std::string_view{*own} == text;
}

}  // namespace

Bios::Bios(std::string_view vendor) : rows_{&bios_attributes(vendor)} {
  for (const auto& attribute : *rows_) current_[attribute.name] = attribute.usual;
}

void Bios::boot_reset() {
  if (!std::exchange(resets_, false)) return;
  pending_.clear();
  for (const auto& attribute : *rows_) current_[attribute.name] = attribute.usual;
}

bool Bios::is_read_only(const BiosAttribute& attribute) const {
  const auto& depends = attribute.depends;
  return attribute.read_only || (depends && !is(current_.at(depends->attribute), depends->value));
}

std::string Bios::complaint(std::string_view name, const json::value& value,
                            const json::object& requested) const {
  const auto& all = *rows_;
  const auto row = std::ranges::find(all, name, &BiosAttribute::name);
  if (row == all.end()) return "there is no such attribute";
  if (row->read_only) return "it is read only";
  if (const auto& depends = row->depends) {
    const auto* next = requested.if_contains(depends->attribute);
    if (next == nullptr) next = pending_.if_contains(depends->attribute);
    if (next == nullptr) next = &current_.at(depends->attribute);
    if (!is(*next, depends->value)) return "it is read only";
  }
  switch (row->type) {
    case BiosAttribute::Type::choice: {
      const auto* text = value.if_string();
      const bool known =
          text && std::ranges::find(row->choices, std::string_view{*text}) != row->choices.end();
      return known ? "" : "it is not in the list of acceptable values";
    }
    case BiosAttribute::Type::integer: {
      const auto* number = value.if_int64();
      const bool good = number && *number >= row->least && *number <= row->most;
      return good ? "" : fmt::format("it is no number from {} to {}", row->least, row->most);
    }
    case BiosAttribute::Type::text: {
      const auto* text = value.if_string();
      const bool good = text && text->size() <= static_cast<std::size_t>(row->most);
      return good ? "" : fmt::format("it is no text of up to {} characters", row->most);
    }
    case BiosAttribute::Type::flag:
      return value.is_bool() ? "" : "it is neither true nor false";
  }
  return {};
}

void Bios::stage(const json::object& attributes) {
  for (const auto& attribute : attributes) {
    pending_[attribute.key()] = attribute.value();
    if (current_[attribute.key()] == attribute.value()) pending_.erase(attribute.key());
  }
}

void Bios::spoil(std::string_view name, std::string_view value) {
  const auto& all = *rows_;
  const auto row = std::ranges::find(all, name, &BiosAttribute::name);
  if (row == all.end()) return;
  switch (row->type) {
    case BiosAttribute::Type::integer:
      current_[name] = number<std::int64_t>(value).value_or(row->least);
      return;
    case BiosAttribute::Type::flag:
      current_[name] = value == "true" || value == "Enabled";
      return;
    case BiosAttribute::Type::choice:
    case BiosAttribute::Type::text:
      current_[name] = value;
      return;
  }
}

void Bios::apply() {
  const auto before = current_;
  for (const auto& attribute : std::exchange(pending_, {}))
    current_[attribute.key()] = attribute.value();
  for (const auto& row : *rows_) {
    if (!row.depends) continue;
    const auto& now = current_.at(row.depends->attribute);
    if (now == before.at(row.depends->attribute)) continue;
    for (const auto& setting : row.depends->settings)
      if (is(now, setting.with)) current_[row.name] = setting.becomes;
  }
}

}  // namespace cupel::rehearsal
