#include "burnin/fabric/link_look.h"

#include <fmt/format.h>

#include "base/text.h"

namespace cupel::burnin {
namespace {

using inventory::SeenDevice;

PortId id_of(const inventory::SeenFabric& seen, const inventory::SeenEnd& end) {
  const auto& device = seen.devices[end.device];
  return {device.name, device.hca, end.port};
}

/// As ibqueryerrors writes names: "n07 mlx5_2", and of a switch its name alone.
PortId id_of(const PortCounters& counted) {
  const auto parts = words(counted.name);
  if (parts.size() == 2) return {std::string{parts[0]}, std::string{parts[1]}, counted.port};
  return {counted.name, {}, counted.port};
}

}  // namespace

std::string to_string(const PortId& port) {
  if (port.hca.empty()) return fmt::format("{} port {}", port.device, port.port);
  return port.port == 1 ? fmt::format("{} {}", port.device, port.hca)
                        : fmt::format("{} {} port {}", port.device, port.hca, port.port);
}

std::string to_string(const LookedLink& link) {
  if (link.to.device.empty()) return to_string(link.from);
  return to_string(link.from) + " - " + to_string(link.to);
}

void add_links(LinkLook& look, const inventory::SeenFabric& seen) {
  std::size_t nameless = 0;
  for (const auto& link : seen.links) {
    const auto& from = seen.devices[link.from.device];
    const auto& to = seen.devices[link.to.device];
    using enum SeenDevice::Kind;
    if (from.kind == aggregation || to.kind == aggregation) continue;
    if (from.name.empty() || to.name.empty()) {
      ++nameless;
      continue;
    }
    auto one = LookedLink{id_of(seen, link.from), id_of(seen, link.to), link.width, link.speed,
                          from.kind == hca ? from.type : to.type};
    // The HCA first: reports that list either end first are then the same.
    if (one.from.hca.empty() && (!one.to.hca.empty() || one.to < one.from))
      std::swap(one.from, one.to);
    look.links.push_back(std::move(one));
  }
  for (const auto& doubt : seen.doubts) look.doubts.push_back(doubt);
  if (nameless > 0)
    look.doubts.push_back(fmt::format(
        "{} links have an end whose node description names no node and HCA: run rdma-ndd",
        nameless));
}

void add_counters(LinkLook& look, const QueryErrors& found) {
  for (const auto& port : found.ports) look.counters[id_of(port)] = port.counters;
  look.absent_is_zero = found.failed_queries == 0 && !found.filtered;
  if (found.failed_queries > 0)
    look.doubts.push_back(
        fmt::format("{} ports did not answer ibqueryerrors: their counters, and those of all "
                    "ports that it did not print, are unknown",
                    found.failed_queries));
  if (found.filtered)
    look.doubts.push_back(
        "ibqueryerrors ran with thresholds or left out counters: what it did not print is unknown");
}

void add_ibdiagnet(LinkLook& look, const IbdiagnetReport& found) {
  std::map<std::uint64_t, const SeenDevice*> devices;
  for (const auto& device : found.seen.devices) devices.emplace(device.guid, &device);
  const auto port_of = [&](std::uint64_t guid, int port) -> std::optional<PortId> {
    const auto device = devices.find(guid);
    if (device == devices.end() || device->second->name.empty()) return std::nullopt;
    return PortId{device->second->name, device->second->hca, port};
  };
  const bool has_counters = !look.counters.empty() || look.absent_is_zero;
  for (const auto& port : found.ports)
    if (const auto id = port_of(port.guid, port.port); id && !has_counters)
      look.counters[*id] = port.counters;
  for (const auto& [end, module] : found.cables) {
    const auto id = port_of(end.first, end.second);
    if (!id || look.reports.contains(*id)) continue;
    MlxlinkReport report{.state = "Active", .module = module};
    if (const auto version = found.firmware.find(end.first); version != found.firmware.end())
      report.firmware = version->second;
    look.reports.emplace(*id, std::move(report));
  }
}

void add_host_counters(LinkLook& look, const std::string& node, const HostCounters& found) {
  for (const auto& [port, counters] : found) {
    auto& known = look.counters[{node, port.first, port.second}];
    for (const auto& [name, value] : counters) known.try_emplace(name, value);
  }
}

std::optional<std::uint64_t> count_of(const LinkLook& look, const PortId& port,
                                      std::string_view counter) {
  if (const auto known = look.counters.find(port); known != look.counters.end()) {
    const auto value = known->second.find(counter);
    if (value != known->second.end()) return value->second;
  }
  return look.absent_is_zero ? std::optional<std::uint64_t>{0} : std::nullopt;
}

}  // namespace cupel::burnin
