#include "inventory/parts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace cupel::inventory {

const PartialList* partial_list(std::span<const PartialList> partial, PartKind kind) {
  const auto found = std::ranges::find(partial, kind, &PartialList::kind);
  return found == partial.end() ? nullptr : &*found;
}

std::optional<PartKind> kind_of_name(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, PartKind>, 2> kOthers{
      {{"mlx5_", PartKind::hca}, {"nvswitch", PartKind::switch_chip}}};
  const auto low = lower_case(name);
  for (const auto& [stem, kind] : kOthers)
    if (low.starts_with(stem)) return kind;
  for (const auto kind : kCountedKinds) {
    const auto word = to_string(kind);
    if (!low.starts_with(word)) continue;
    const auto next = low.size() == word.size() ? ' ' : low[word.size()];
    if (next < 'a' || next > 'z') return kind;
  }
  return std::nullopt;
}

void add_partial(std::vector<PartialList>& partial, PartialList entry) {
  const auto known = std::ranges::find(partial, entry.kind, &PartialList::kind);
  if (known == partial.end())
    partial.push_back(std::move(entry));
  else if (entry.passing && !known->passing)
    *known = std::move(entry);
}

bool is_about(std::string_view name, std::string_view part) {
  if (part.empty() || name == part) return true;
  for (auto at = name.find(part); at != name.npos; at = name.find(part, at + 1)) {
    const auto end = at + part.size();
    const bool begins = at == 0 || name[at - 1] == '-';
    const bool ends = end == name.size() || name[end] == '-' || name[end] == '/';
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace cupel::inventory
