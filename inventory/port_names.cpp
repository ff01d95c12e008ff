#include "inventory/port_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"

namespace cupel::inventory {
namespace {

constexpr std::string_view kEthernet = "Ethernet";

constexpr int kMostCounted = 4096;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// "7", "7/1", "1/7/1", "1/1/c7/1", of at most four numbers.
std::vector<int> numbers_in(std::string_view text) {
  std::vector<int> all;
  for (auto piece : split(text, '/')) {
    if (all.size() == 2 && piece.starts_with('c')) piece.remove_prefix(1);
    const auto value = number<int>(piece);
    if (!value || *value < 0 || *value > kMostCounted || all.size() == 4) return {};
    all.push_back(*value);
  }
  return all;
}

/// Port `port` of a cage, both from 1.
std::optional<int> of_cage(int cage, int port, int ports_per_cage) {
  if (cage < 1 || port < 1 || port > ports_per_cage) return std::nullopt;
  return (cage - 1) * ports_per_cage + port;
}

/// The port of a cage that begins at this lane.
std::optional<int> of_lane(int cage, int lane, int ports_per_cage, int lane_step) {
  if (lane < 1 || (lane - 1) % lane_step != 0) return std::nullopt;
  return of_cage(cage, (lane - 1) / lane_step + 1, ports_per_cage);
}

/// "7s1" and "7p2" are ports of cage 7: the one counts from 0, the other from 1.
std::optional<int> of_split(std::string_view text, char mark, int first, int ports_per_cage) {
  const auto at = text.find(mark);
  if (at == text.npos) return std::nullopt;
  const auto cage = number<int>(text.substr(0, at)), port = number<int>(text.substr(at + 1));
  if (!cage || !port || *port < first) return std::nullopt;
  if (*cage > kMostCounted || *port > kMostCounted) return std::nullopt;
  return of_cage(*cage, *port - first + 1, ports_per_cage);
}

std::optional<int> of_one(int counted, std::string_view word, const PortNaming& naming) {
  if (naming.lanes == 0 || word != kEthernet)
    return counted >= 1 ? std::optional{counted} : std::nullopt;
  if (counted % naming.lanes != 0) return std::nullopt;
  return counted / naming.lanes + 1;
}

std::optional<int> of_two(int first, int second, int ports_per_cage, const PortNaming& naming) {
  if (ports_per_cage > 1) {
    const auto port = of_lane(first, second, ports_per_cage, naming.lane_step);
    if (port || naming.lane_step > 1) return port;
  }
  if (first == 1 && second >= 1) return second;
  return second == 1 && first >= 1 ? std::optional{first} : std::nullopt;
}

}  // namespace

std::optional<int> port_of_name(std::string_view name, int ports_per_cage,
                                const PortNaming& naming) {
  name = trimmed(name);
  if (name.empty() || !is_letter(name.front())) return std::nullopt;
  const auto letters =
      static_cast<std::size_t>(std::ranges::find_if_not(name, is_letter) - name.begin());
  const auto word = name.substr(0, letters);
  name = trimmed(name.substr(letters));
  // Junos: FPC, PIC and port, each from 0.
  if (word.size() == 2 && word[1] != 'p' && name.starts_with('-')) {
    const auto numbers = numbers_in(name.substr(1));
    if (numbers.size() != 3 || numbers[0] != 0 || numbers[1] != 0) return std::nullopt;
    const int port = numbers[2] + (naming.from_zero ? 1 : 0);
    return port >= 1 ? std::optional{port} : std::nullopt;
  }
  if (name.contains('s')) return of_split(name, 's', 0, ports_per_cage);
  if (name.contains('p')) return of_split(name, 'p', 1, ports_per_cage);
  const auto numbers = numbers_in(name);
  if (numbers.size() == 1) return of_one(numbers[0], word, naming);
  if (numbers.size() == 2) return of_two(numbers[0], numbers[1], ports_per_cage, naming);
  const bool first_module = numbers.size() > 2 && numbers.front() == 1;
  if (!first_module || (numbers.size() == 4 && numbers[1] != 1)) return std::nullopt;
  return of_lane(numbers[numbers.size() - 2], numbers.back(), ports_per_cage, naming.lane_step);
}

namespace {

/// Every way of counting that there is.
std::vector<PortNaming> all_namings(bool lanes_of_four, bool any_lanes) {
  std::vector<PortNaming> all;
  for (const int lane_step : {1, 4, 2})
    for (const bool from_zero : {false, true})
      for (const int lanes : {0, 8, 4, 2, 1})
        if (lanes == 0 || any_lanes || (lanes_of_four && lanes >= 4))
          all.push_back({.lanes = lanes, .lane_step = lane_step, .from_zero = from_zero});
  return all;
}

}  // namespace

bool is_port_name(std::string_view name, int ports_per_cage) {
  return std::ranges::any_of(all_namings(true, true), [&](const PortNaming& naming) {
    return port_of_name(name, ports_per_cage, naming).has_value();
  });
}

std::vector<PortNaming> namings_of(const std::set<std::string>& names, int ports_per_cage) {
  constexpr int kLanesOfAPort = 4;
  bool zero = false, multiples = true;
  for (const auto& name : names)
    if (name.starts_with(kEthernet))
      if (const auto counted = number<int>(std::string_view{name}.substr(kEthernet.size()))) {
        zero = zero || *counted == 0;
        multiples = multiples && *counted % kLanesOfAPort == 0;
      }
  std::vector<PortNaming> found;
  std::vector<std::vector<int>> numberings;
  const auto try_one = [&](const PortNaming& naming) {
    std::vector<int> numbers;
    for (const auto& name : names) {
      const auto port = port_of_name(name, ports_per_cage, naming);
      if (!port) return;
      numbers.push_back(*port);
    }
    if (std::ranges::find(numberings, numbers) != numberings.end()) return;
    numberings.push_back(std::move(numbers));
    found.push_back(naming);
  };
  for (const auto& naming : all_namings(multiples, zero)) try_one(naming);
  return found;
}

std::optional<PortNaming> naming_of(const std::set<std::string>& names, int ports_per_cage,
                                    const std::function<bool(const std::string&, int)>& agrees) {
  const auto possible = namings_of(names, ports_per_cage);
  if (possible.size() < 2) return possible.empty() ? std::nullopt : std::optional{possible.front()};
  std::size_t most = 0, second = 0;
  PortNaming best;
  for (const auto& naming : possible) {
    const auto count =
        static_cast<std::size_t>(std::ranges::count_if(names, [&](const std::string& name) {
          return agrees(name, *port_of_name(name, ports_per_cage, naming));
        }));
    if (count > most) best = naming;
    second = std::max(second, std::min(count, most));
    most = std::max(most, count);
  }
  return most > second && 2 * most >= names.size() ? std::optional{best} : std::nullopt;
}

}  // namespace cupel::inventory
