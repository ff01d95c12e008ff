#include "inventory/port_names.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/text.h"

namespace cupel::inventory {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// "7", "7/1", "1/7/1", of at most three numbers.
std::vector<int> numbers_in(std::string_view text) {
  std::vector<int> all;
  for (const auto piece : split(text, '/')) {
    const auto value = number<int>(piece);
    if (!value || *value < 0 || *value > 4096 || all.size() == 3) return {};
    all.push_back(*value);
  }
  return all;
}

/// Port `port` of a cage, both from 1.
std::optional<int> of_cage(int cage, int port, int ports_per_cage) {
  if (cage < 1 || port < 1 || port > ports_per_cage) return std::nullopt;
  return (cage - 1) * ports_per_cage + port;
}

}  // namespace

std::optional<int> port_of_name(std::string_view name, int ports_per_cage) {
  name = trimmed(name);
  if (name.empty() || !is_letter(name.front())) return std::nullopt;
  name.remove_prefix(
      static_cast<std::size_t>(std::ranges::find_if_not(name, is_letter) - name.begin()));
  name = trimmed(name);
  if (const auto split_at = name.find('s'); split_at != name.npos) {
    const auto cage = number<int>(name.substr(0, split_at)),
               port = number<int>(name.substr(split_at + 1));
    if (!cage || !port || *port < 0) return std::nullopt;
    return of_cage(*cage, *port + 1, ports_per_cage);
  }
  auto numbers = numbers_in(name);
  if (numbers.size() == 3) {
    if (numbers.front() != 1) return std::nullopt;
    return of_cage(numbers[1], numbers[2], ports_per_cage);
  }
  if (numbers.size() == 1) return numbers[0] >= 1 ? std::optional{numbers[0]} : std::nullopt;
  if (numbers.size() != 2) return std::nullopt;
  if (ports_per_cage > 1)
    if (const auto port = of_cage(numbers[0], numbers[1], ports_per_cage)) return port;
  if (numbers[0] == 1 && numbers[1] >= 1) return numbers[1];
  return numbers[1] == 1 && numbers[0] >= 1 ? std::optional{numbers[0]} : std::nullopt;
}

}  // namespace cupel::inventory
