#include "inventory/parts.h"

namespace cupel::inventory {

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
