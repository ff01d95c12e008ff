#include "playbooks/parameter.h"

namespace cupel::playbooks {

std::string filled_in(std::string_view text, const Arguments& values,
                      std::set<std::string>* unknown) {
  std::string filled;
  for (;;) {
    const auto open = text.find("${");
    const auto close = open == text.npos ? text.npos : text.find('}', open);
    if (close == text.npos) return filled.append(text);
    filled.append(text.substr(0, open));
    const auto name = text.substr(open + 2, close - open - 2);
    const auto value = values.find(name);
    if (value != values.end())
      filled += value->second;
    else
      filled.append(text.substr(open, close + 1 - open));
    if (value == values.end() && unknown != nullptr) unknown->emplace(name);
    text.remove_prefix(close + 1);
  }
}

}  // namespace cupel::playbooks
