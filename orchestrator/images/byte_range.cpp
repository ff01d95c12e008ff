#include "orchestrator/images/byte_range.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::images {
namespace {

constexpr std::string_view kUnit = "bytes=";

RequestedRange part(std::uint64_t first, std::uint64_t behind) {
  return {RangeAnswer::part, {first, behind - first}};
}

}  // namespace

RequestedRange requested_range(std::string_view field, std::uint64_t size) {
  const RequestedRange whole{RangeAnswer::whole, {0, size}};
  field = trimmed(field);
  if (!field.starts_with(kUnit)) return whole;
  field.remove_prefix(kUnit.size());
  const auto dash = field.find('-');
  if (dash == field.npos || field.contains(',')) return whole;
  const auto from = field.substr(0, dash), to = field.substr(dash + 1);
  const auto first = number<std::uint64_t>(from), last = number<std::uint64_t>(to);
  if ((!from.empty() && !first) || (!to.empty() && !last) || (!first && !last)) return whole;
  if (!first) {  // the last so many bytes
    if (*last == 0 || size == 0) return {RangeAnswer::unsatisfiable, {}};
    return part(size - std::min(*last, size), size);
  }
  if (last && *last < *first) return whole;
  if (*first >= size) return {RangeAnswer::unsatisfiable, {}};
  return part(*first, last && *last < size ? *last + 1 : size);
}

}  // namespace cupel::images
