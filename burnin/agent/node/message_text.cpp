#include "burnin/agent/node/message_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent {

std::string bounded(std::string_view text) {
  constexpr std::size_t kMostDetail = 160;
  std::string kept{trimmed(text.substr(0, kMostDetail))};
  for (char& c : kept)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) c = '?';
  return kept;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

std::optional<std::string_view> after(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  return at == text.npos ? std::nullopt : std::optional{text.substr(at + mark.size())};
}

std::optional<int> leading_number(std::string_view text) {
  int value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc{} && value >= 0 ? std::optional{value} : std::nullopt;
}

std::string_view leading_word(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && end < 32 &&
         (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
    ++end;
  return text.substr(0, end);
}

std::string first_address(std::string_view text) {
  for (std::size_t dot = text.find('.'); dot != text.npos; dot = text.find('.', dot + 1)) {
    if (dot < 10 || dot + 1 >= text.size()) continue;
    const auto found = pci_address(text.substr(dot - 10, 12));
    if (found && text[dot - 3] == ':' && text[dot - 6] == ':') return *found;
  }
  return {};
}

}  // namespace cupel::agent
