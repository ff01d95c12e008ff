#include "inventory/cable_ports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cupel::inventory {
namespace {

/// More than any device has: what is counted from it fits an int.
constexpr int kMostCounted = 1'000'000;

/// "Port 13", "P13", "13": 13.
std::optional<int> plain_port(std::string_view text) {
  for (const std::string_view word : {"IB Port ", "Port ", "port ", "P", "p"})
    if (text.starts_with(word)) {
      text.remove_prefix(word.size());
      break;
    }
  const auto found = number<int>(text);
  return found && *found >= 1 && *found <= kMostCounted ? found : std::nullopt;
}

/// "7/1" with two ports a cage: 13.
std::optional<int> caged_port(std::string_view text, int ports_per_cage) {
  const auto slash = text.find('/');
  if (slash == text.npos) return std::nullopt;
  const auto cage = plain_port(text.substr(0, slash)), port = number<int>(text.substr(slash + 1));
  if (!cage || !port || *port < 1 || *port > ports_per_cage) return std::nullopt;
  return (*cage - 1) * ports_per_cage + *port;
}

/// "Blade 16_Port 2/20" of a director is port 20 of its chip L16/U2.
struct BladePort {
  std::string chip;
  int port = 0;
};
std::optional<BladePort> blade_port(std::string_view text) {
  constexpr std::string_view kBlade = "Blade ", kPort = "_Port ";
  const auto middle = text.find(kPort), slash = text.rfind('/');
  if (!text.starts_with(kBlade) || middle == text.npos || slash == text.npos || slash < middle)
    return std::nullopt;
  const auto blade = number<int>(text.substr(kBlade.size(), middle - kBlade.size()));
  const auto begin = middle + kPort.size();
  const auto chip = number<int>(text.substr(begin, slash - begin));
  const auto port = number<int>(text.substr(slash + 1));
  if (!blade || !chip || !port || *port < 1) return std::nullopt;
  return BladePort{fmt::format("/L{}/U{}", *blade, *chip), *port};
}

/// "7A": the first port of cage 7.
std::optional<int> lettered_port(std::string_view text, int ports_per_cage) {
  if (text.size() < 2 || ports_per_cage < 2) return std::nullopt;
  const auto cage = plain_port(text.substr(0, text.size() - 1));
  const int port = lower_case(text).back() - 'a' + 1;
  if (!cage || port < 1 || port > ports_per_cage) return std::nullopt;
  return (*cage - 1) * ports_per_cage + port;
}

/// "1/7/1" without the word before it.
std::string as_name(std::string_view text) {
  const bool bare = !text.empty() && text.front() >= '0' && text.front() <= '9';
  return (bare ? "port" : "") + std::string{text};
}

/// The number behind one of these words: 2 of "HCA-2", "HCA 2" and "hca2".
std::optional<int> numbered(std::string_view lower, std::string_view word) {
  if (!lower.starts_with(word)) return std::nullopt;
  lower.remove_prefix(word.size());
  if (lower.starts_with('-') || lower.starts_with('_') || lower.starts_with(' '))
    lower.remove_prefix(1);
  const auto found = number<int>(lower);
  return found && *found >= 0 && *found <= kMostCounted ? found : std::nullopt;
}

/// The place in the list, from 1, that is meant by counting.
std::optional<int> counted(std::string_view text) {
  const auto lower = lower_case(text);
  if (const auto found = numbered(lower, "hca")) return found;
  if (const auto found = numbered(lower, "ib"); found && lower.size() > 2 && lower[2] != ' ')
    return *found + 1;
  const auto parts = words(lower);
  if (parts.size() == 2 && parts[1].starts_with('p')) {
    constexpr int kPortsOfACage = 2;
    const auto cage = numbered(parts[0], "osfp"), port = number<int>(parts[1].substr(1));
    if (cage && port && *cage >= 1 && *port >= 1 && *port <= kPortsOfACage)
      return (*cage - 1) * kPortsOfACage + *port;
  }
  return plain_port(text);
}

/// "mlx5_3/1", "mlx5_3 port 1", "mlx5_3 p1": what stands before the port, and its number.
std::pair<std::string, std::optional<int>> without_port(std::string_view text) {
  const auto lower = lower_case(text);
  for (const std::string_view between : {"/", " port ", " port", ":p", " p"}) {
    const auto at = lower.rfind(between);
    if (at == lower.npos || at == 0) continue;
    const auto port = number<int>(trimmed(std::string_view{lower}.substr(at + between.size())));
    if (port) return {std::string{trimmed(std::string_view{lower}.substr(0, at))}, port};
  }
  return {std::string{trimmed(lower)}, std::nullopt};
}

std::string_view without_node(std::string_view text, const FabricMember& node) {
  const auto parts = words(text);
  if (parts.size() < 2) return text;
  const auto first = lower_case(parts[0]);
  const auto host = first.substr(0, first.find('.'));
  for (const auto& name : {lower_case(node.name), lower_case(node.host)})
    if (!name.empty() && (first == name || host == name))
      return trimmed(text.substr(static_cast<std::size_t>(parts[1].data() - text.data())));
  return text;
}

}  // namespace

std::optional<HcaPort> hca_port(const FabricMember& node, std::string_view text) {
  constexpr int kMostPorts = 8;  // of one HCA, and planes of a fabric
  const auto name = without_node(trimmed(text), node);
  const auto [bare, port] = without_port(name);
  for (const auto& hca : node.hcas) {
    const auto known = lower_case(hca);
    if (known == lower_case(name)) return HcaPort{hca, 1};
    if (port && known == bare && *port >= 1 && *port <= kMostPorts) return HcaPort{hca, *port};
  }
  const auto place = counted(name);
  if (!place || *place < 1 || static_cast<std::size_t>(*place) > node.hcas.size())
    return std::nullopt;
  return HcaPort{node.hcas[static_cast<std::size_t>(*place - 1)], 1};
}

void SwitchPorts::add(const std::string& device, const std::string& port) {
  names_[lower_case(device)].insert(as_name(trimmed(port)));
}

void SwitchPorts::decide(int ports_per_cage) {
  std::set<std::string> all;
  for (auto& [device, names] : names_) {
    std::erase_if(names, [&](const auto& name) { return !is_port_name(name, ports_per_cage); });
    all.insert(names.begin(), names.end());
  }
  // One network has one operating system as a rule; a switch that does not fit counts by itself.
  const auto common = namings_of(all, ports_per_cage);
  for (const auto& [device, names] : names_) {
    const auto own = common.empty() ? namings_of(names, ports_per_cage) : common;
    if (!own.empty()) namings_[device] = own.front();
  }
}

std::optional<SwitchPort> SwitchPorts::port(const std::string& device, std::string_view text,
                                            int ports_per_cage) const {
  text = trimmed(text);
  if (const auto blade = blade_port(text)) return SwitchPort{blade->chip, blade->port};
  // "7 port 2" is "7/2".
  if (const auto [cage, port] = without_port(text); port && number<int>(cage))
    if (const auto of_cage = caged_port(fmt::format("{}/{}", cage, *port), ports_per_cage))
      return SwitchPort{{}, *of_cage};
  auto found = caged_port(text, ports_per_cage);
  if (!found) found = plain_port(text);
  if (!found) found = lettered_port(text, ports_per_cage);
  if (!found)
    if (const auto naming = namings_.find(lower_case(device)); naming != namings_.end())
      found = port_of_name(as_name(text), ports_per_cage, naming->second);
  return found ? std::optional{SwitchPort{{}, *found}} : std::nullopt;
}

}  // namespace cupel::inventory
