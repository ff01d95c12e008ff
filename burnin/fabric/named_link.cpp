#include "burnin/fabric/named_link.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kLongestName = 500;
constexpr int kMostPorts = 10'000;

/// As records write a port of a switch.
std::string_view without_kind(std::string_view name) {
  constexpr std::string_view kKind = "port:";
  return name.starts_with(kKind) ? name.substr(kKind.size()) : name;
}

/// A port by what stands behind its device: a number, or an HCA and perhaps its port.
std::optional<PortId> port_behind(std::string_view device, std::string_view hca,
                                  std::string_view port) {
  const auto count = port.empty() ? std::optional{1} : number<int>(port);
  if (device.empty() || !count || *count < 1 || *count > kMostPorts) return std::nullopt;
  return PortId{std::string{device}, std::string{hca}, *count};
}

/// Without a plan: by its form alone. The name of a director's chip has '/' too.
std::optional<PortId> port_of_form(std::string_view name) {
  const auto parts = words(name);
  if (parts.size() == 2) return port_behind(parts[0], parts[1], "");
  if (parts.size() == 3 && parts[1] == "port") return port_behind(parts[0], "", parts[2]);
  if (parts.size() == 4 && parts[2] == "port") return port_behind(parts[0], parts[1], parts[3]);
  const auto slash = name.rfind('/');
  if (parts.size() != 1 || slash == name.npos) return std::nullopt;
  const auto last = name.substr(slash + 1);
  if (number<int>(last)) return port_behind(name.substr(0, slash), "", last);
  return last.empty() ? std::nullopt : port_behind(name.substr(0, slash), last, "");
}

/// As looks call it: by the host name, where that is another.
PortId port_seen(const inventory::CableEnd& end, const inventory::FabricMap& map) {
  const auto* node = map.find_node(end.device);
  const bool renamed = node != nullptr && !node->host.empty();
  return {renamed ? node->host : end.device, end.hca, end.port};
}

std::vector<std::string> names_of_hca(const PortId& port) {
  auto slashes = fmt::format("{}/{}", port.device, port.hca);
  if (port.port != 1) slashes += fmt::format("/{}", port.port);
  return {to_string(port), std::move(slashes)};
}

/// What a plan's port may be called; the first is as the plan prints it.
std::vector<std::string> names_of_port(const inventory::CableEnd& end,
                                       const inventory::FabricMap& map) {
  if (!end.at_switch()) {
    auto names = names_of_hca({end.device, end.hca, end.port});
    for (auto& name : names_of_hca(port_seen(end, map))) names.push_back(std::move(name));
    return names;
  }
  std::vector<std::string> names{fmt::format("{} port {}", end.device, end.port),
                                 fmt::format("{}/{}", end.device, end.port)};
  const auto* device = map.find_switch(end.device);
  if (device == nullptr || device->ports_per_cage <= 1) return names;
  const auto label = inventory::port_label(*device, end.port);
  names.push_back(fmt::format("{} port {}", end.device, label));
  names.push_back(fmt::format("{}/{}", end.device, label));
  return names;
}

Error not_planned(std::string_view name, const std::vector<std::string>& known) {
  const auto close = nearest(name, known);
  return Error{
      Code::kInvalid,
      fmt::format("the cable plan has no port '{}'{}; all of them: cupel fabric plan --cables",
                  printable(name),
                  close ? fmt::format("; the nearest is '{}'", *close) : std::string{})};
}

Result<NamedLink> planned_link(std::string_view name, const inventory::Fabric& plan) {
  TRY(const auto here, planned_end(name, plan));
  const inventory::FabricMap map{plan};
  const auto* cable = map.cable_at(here);
  const auto& there = cable->from == here ? cable->to : cable->from;
  return NamedLink{port_seen(here, map), port_seen(there, map)};
}

Result<NamedLink> link_of_port(std::string_view name, const inventory::Fabric* plan) {
  name = without_kind(trimmed(name));
  if (plan != nullptr) return planned_link(name, *plan);
  auto port = port_of_form(name);
  if (port) return NamedLink{.here = *std::move(port)};
  return Error{Code::kInvalid, fmt::format("'{}' names no port: write \"n05 mlx5_3\", n05/mlx5_3, "
                                           "\"leaf1-r3 port 7\" or leaf1-r3/7",
                                           printable(name))};
}

}  // namespace

Result<NamedLink> named_link(std::string_view name, const inventory::Fabric* plan) {
  constexpr std::string_view kBetween = " - ";
  if (name.size() > kLongestName)
    return Error{Code::kInvalid,
                 fmt::format("the name of a port has at most {} bytes", kLongestName)};
  const auto between = name.find(kBetween);
  if (between == name.npos) return link_of_port(name, plan);
  TRY(auto link, link_of_port(name.substr(0, between), plan));
  TRY(const auto other, link_of_port(name.substr(between + kBetween.size()), plan));
  if (!link.there.device.empty() && link.there != other.here)
    return Error{Code::kInvalid,
                 fmt::format("the cable of {} leads to {}, not to {}", to_string(link.here),
                             to_string(link.there), to_string(other.here))};
  link.there = other.here;
  return link;
}

Result<inventory::CableEnd> planned_end(std::string_view name, const inventory::Fabric& plan) {
  const inventory::FabricMap map{plan};
  std::vector<std::string> known;
  for (const auto& cable : plan.cables)
    for (const auto* end : {&cable.from, &cable.to}) {
      auto names = names_of_port(*end, map);
      if (std::ranges::find(names, without_kind(name)) != names.end()) return *end;
      known.push_back(std::move(names.front()));
    }
  return not_planned(name, known);
}

}  // namespace cupel::burnin
