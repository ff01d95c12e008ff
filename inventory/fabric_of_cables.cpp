// Rows of a file of cables to a fabric: which device is what, and which port is meant.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "inventory/cable_files.h"
#include "inventory/port_names.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;

/// "Port 13", "P13", "13": 13.
std::optional<int> plain_port(std::string_view text) {
  for (const std::string_view word : {"IB Port ", "Port ", "port ", "P", "p"})
    if (text.starts_with(word)) {
      text.remove_prefix(word.size());
      break;
    }
  const auto found = number<int>(text);
  return found && *found >= 1 ? found : std::nullopt;
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

class FileFabric {
 public:
  FileFabric(const CableFileSite& site, Problems& problems) : site_{site}, problems_{problems} {
    for (const auto& member : site.members) {
      members_.try_emplace(lower_case(member.name), &member);
      if (!member.host.empty()) members_.try_emplace(lower_case(member.host), &member);
    }
  }

  Fabric build(const std::vector<CableRow>& rows) {
    for (const auto& row : rows) add(row);
    level();
    group();
    return std::move(fabric_);
  }

 private:
  void add(const CableRow& row) {
    auto from = end(row.from, row.from_port, row), to = end(row.to, row.to_port, row);
    if (!from || !to) return;
    if (!from->at_switch() && !to->at_switch()) {
      problems_.push_back({row.where, fmt::format("a cable between two nodes, {} and {}",
                                                  from->device, to->device)});
      return;
    }
    locate(*from, row.location_from);
    locate(*to, row.location_to);
    auto at_from = row.at_from, at_to = row.at_to;
    if (from->at_switch() && !to->at_switch()) {
      std::swap(from, to);
      std::swap(at_from, at_to);
    }
    fabric_.cables.push_back({.from = *std::move(from),
                              .to = *std::move(to),
                              .type = row.type,
                              .metres = row.metres,
                              .speed = speed_of(row.speed),
                              .serial = row.serial,
                              .at_from = std::move(at_from),
                              .at_to = std::move(at_to),
                              .where = row.where});
  }

  /// Speeds in Mb/s, as in NDT files, say nothing that ibnetdiscover prints.
  std::string speed_of(const std::string& text) const {
    return text.empty() || number<double>(text) ? site_.speed : text;
  }

  std::optional<CableEnd> end(const std::string& device, const std::string& port,
                              const CableRow& row) {
    if (const auto member = members_.find(lower_case(device)); member != members_.end())
      return hca_end(*member->second, port, row);
    auto name = device;
    std::optional<int> found = caged_port(port, site_.ports_per_cage);
    if (const auto blade = blade_port(port)) {
      name += blade->chip;
      found = blade->port;
    }
    if (!found) found = plain_port(port);
    if (!found) found = port_of_name(port, site_.ports_per_cage);
    if (!found) {
      problems_.push_back(
          {row.where, fmt::format("'{}' is no port of a switch, and the inventory has no node '{}'",
                                  port, device)});
      return std::nullopt;
    }
    return CableEnd{switch_named(name, row.where), "", *found};
  }

  std::optional<CableEnd> hca_end(const FabricMember& member, std::string_view port,
                                  const CableRow& row) {
    auto name = port;
    if (const auto parts = words(port);
        parts.size() == 2 && (lower_case(parts[0]) == lower_case(member.name) ||
                              lower_case(parts[0]) == lower_case(member.host)))
      name = parts[1];
    if (std::ranges::find(member.hcas, name) != member.hcas.end())
      return CableEnd{member.name, std::string{name}, 1};
    const auto counted = plain_port(name);
    if (counted && static_cast<std::size_t>(*counted) <= member.hcas.size())
      return CableEnd{member.name, member.hcas[static_cast<std::size_t>(*counted - 1)], 1};
    problems_.push_back({row.where, fmt::format("{} has no compute HCA '{}'; it has {}",
                                                member.name, port, fmt::join(member.hcas, ", "))});
    return std::nullopt;
  }

  /// The name as it was first written: cases differ between lines of one file.
  const std::string& switch_named(const std::string& name, const Place& where) {
    const auto [found, fresh] = switches_.try_emplace(lower_case(name), fabric_.switches.size());
    if (fresh)
      fabric_.switches.push_back(
          {.name = name, .ports_per_cage = site_.ports_per_cage, .where = where});
    return fabric_.switches[found->second].name;
  }

  void locate(const CableEnd& end, const std::string& location) {
    const auto found = switches_.find(lower_case(end.device));
    if (end.at_switch() && found != switches_.end() && !location.empty())
      fabric_.switches[found->second].location = location;
  }

  /// Leaves have nodes, spines have leaves, cores have spines; the lower end of a cable stands
  /// first.
  void level() {
    std::unordered_map<std::string_view, int> height;
    for (const auto& cable : fabric_.cables)
      if (cable.is_access()) height[cable.to.device] = 0;
    for (int below = 0; below < 2; ++below)
      for (const auto& cable : fabric_.cables) {
        if (cable.is_access()) continue;
        const auto raise = [&](const CableEnd& low, const CableEnd& high) {
          const auto found = height.find(low.device);
          if (found != height.end() && found->second == below)
            height.try_emplace(high.device, below + 1);
        };
        raise(cable.from, cable.to);
        raise(cable.to, cable.from);
      }
    const auto of = [&](std::string_view name) {
      const auto found = height.find(name);
      return found == height.end() ? 2 : found->second;
    };
    for (auto& one : fabric_.switches) one.level = static_cast<SwitchLevel>(of(one.name));
    for (auto& cable : fabric_.cables)
      if (!cable.is_access() && of(cable.from.device) > of(cable.to.device)) {
        std::swap(cable.from, cable.to);
        std::swap(cable.at_from, cable.at_to);
      }
  }

  /// Nodes with the same leaves are a group; a leaf that serves one rail has it.
  void group() {
    std::map<std::string, std::set<std::string>> leaves_of;
    std::map<std::string, std::set<int>> rails_of;
    for (const auto& cable : fabric_.cables) {
      if (!cable.is_access()) continue;
      leaves_of[cable.from.device].insert(cable.to.device);
      const auto& hcas = members_.at(lower_case(cable.from.device))->hcas;
      rails_of[cable.to.device].insert(
          static_cast<int>(std::ranges::find(hcas, cable.from.hca) - hcas.begin()));
    }
    std::map<std::set<std::string>, std::pair<int, int>> groups;  // number, and nodes so far
    for (const auto& member : site_.members) {
      const auto leaves = leaves_of.find(member.name);
      if (leaves == leaves_of.end()) continue;
      auto& known =
          groups.try_emplace(leaves->second, static_cast<int>(groups.size()), 0).first->second;
      fabric_.nodes.push_back({member.name, member.hcas, known.first, known.second++, member.host});
      for (const auto& leaf : leaves->second)
        fabric_.switches[switches_.at(lower_case(leaf))].group = known.first;
    }
    for (const auto& [leaf, rails] : rails_of)
      if (rails.size() == 1) fabric_.switches[switches_.at(lower_case(leaf))].rail = *rails.begin();
  }

  const CableFileSite& site_;
  Problems& problems_;
  std::unordered_map<std::string, const FabricMember*> members_{};
  std::unordered_map<std::string, std::size_t> switches_{};
  Fabric fabric_{};
};

}  // namespace

Fabric fabric_of_cables(const std::vector<CableRow>& rows, const CableFileSite& site,
                        Problems& problems) {
  return FileFabric{site, problems}.build(rows);
}

}  // namespace cupel::inventory
