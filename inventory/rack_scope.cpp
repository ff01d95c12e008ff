#include "inventory/rack_scope.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "inventory/names.h"
#include "inventory/yaml.h"

namespace cupel::inventory {
namespace {

constexpr std::string_view kAll = "*";  // no rack's name: names.h

}  // namespace

RackScope RackScope::all() {
  RackScope scope;
  scope.all_ = true;
  return scope;
}

Result<RackScope> RackScope::of(std::span<const std::string> racks) {
  RackScope scope;
  for (const auto& rack : racks) {
    const auto name = trimmed(rack);
    if (name.empty())
      return Error{Code::kInvalid,
                   "racks has an empty name: name racks, or leave racks out for all"};
    if (const auto fault = fault_in_name(Named::rack, name))
      return Error{Code::kInvalid, "racks: " + *fault};
    scope.racks_.emplace(name);
  }
  if (scope.racks_.empty())
    return Error{Code::kInvalid, "racks names no rack: name some, or leave racks out for all"};
  return scope;
}

RackScope RackScope::parse(std::string_view text) {
  if (text == kAll) return all();
  RackScope scope;
  for (const auto rack : split(text, ','))
    if (!rack.empty()) scope.racks_.emplace(rack);
  return scope;
}

bool RackScope::includes(const RackScope& other) const {
  if (all_ || other.all_) return all_;
  return std::ranges::includes(racks_, other.racks_);
}

RackScope RackScope::common_with(const RackScope& other) const {
  if (all_) return other;
  if (other.all_) return *this;
  RackScope both;
  std::ranges::set_intersection(racks_, other.racks_,
                                std::inserter(both.racks_, both.racks_.end()));
  return both;
}

std::string RackScope::text() const {
  return all_ ? std::string{kAll} : fmt::format("{}", fmt::join(racks_, ","));
}

RackScope scope_in(YamlFields& fields, const YamlValue& map) {
  const auto named = fields.texts("racks");
  // Null is a value too: fields take it for a key that is not there.
  const auto* entry = map.entry("racks");
  if (entry == nullptr) return RackScope::all();
  auto scope = RackScope::of(named);
  if (scope) return *std::move(scope);
  // A value that is not there has no line of its own.
  auto where = fields.place("racks");
  where.line = entry->key_line;
  where.column = entry->key_column;
  fields.report(where, scope.error().what);
  return {};
}

}  // namespace cupel::inventory
