#include "burnin/fabric/planned_parts.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "base/text.h"

namespace cupel::burnin {
namespace {

using inventory::Cable;
using inventory::CableEnd;
using inventory::CableType;
using inventory::Transceiver;

/// What mlxlink tells apart: it has one word for active copper and active optical cables.
enum class Build { unknown, passive, active, separate };

Build build_of(CableType type) {
  switch (type) {
    case CableType::dac:
      return Build::passive;
    case CableType::acc:
    case CableType::aoc:
      return Build::active;
    case CableType::fibre:
      return Build::separate;
    case CableType::unknown:
      break;
  }
  return Build::unknown;
}

/// Source: mstflint, mlxlink_cables: "Passive copper cable", "Active cable (active copper /
/// optics)", "Optical Module (separated)".
Build build_of(std::string_view reported) {
  const auto words = lower_case(reported);
  if (words.contains("passive copper")) return Build::passive;
  if (words.contains("separated")) return Build::separate;
  if (words.starts_with("active")) return Build::active;
  return Build::unknown;
}

using Key = std::tuple<std::string, std::string, int>;

class PlannedParts {
 public:
  explicit PlannedParts(const inventory::Fabric& plan) {
    std::map<std::string_view, std::string_view> hosts;
    for (const auto& node : plan.nodes)
      if (!node.host.empty()) hosts.try_emplace(node.name, node.host);
    for (const auto& cable : plan.cables)
      for (const auto* end : {&cable.from, &cable.to}) {
        cables_.try_emplace(key_of(end->device, end->hca, end->port), &cable);
        if (const auto host = hosts.find(end->device); host != hosts.end())
          cables_.try_emplace(key_of(host->second, end->hca, end->port), &cable);
      }
  }

  std::vector<OddLink> compare(const LinkLook& look) {
    for (std::size_t i = 0; i < look.links.size(); ++i) {
      const auto& link = look.links[i];
      const auto *cable = cable_at(link.from), *other = cable_at(link.to);
      if (cable == nullptr || cable != other) continue;  // in a wrong port: `fabric audit` says so
      const bool turned = !is_at(link.from, cable->from);
      compare_end(look, i, link.from, *cable, turned ? cable->at_to : cable->at_from);
      compare_end(look, i, link.to, *cable, turned ? cable->at_from : cable->at_to);
    }
    return std::move(found_);
  }

 private:
  static Key key_of(std::string_view device, std::string_view hca, int port) {
    return {lower_case(device), lower_case(hca), port};
  }
  /// Which end of its cable a port is; a node may go by the name of its host.
  static bool is_at(const PortId& port, const CableEnd& end) {
    if (!end.at_switch() || !port.hca.empty()) return !end.at_switch() && !port.hca.empty();
    return port.port == end.port && lower_case(port.device) == lower_case(end.device);
  }
  const Cable* cable_at(const PortId& port) const {
    const auto found = cables_.find(key_of(port.device, port.hca, port.port));
    return found == cables_.end() ? nullptr : found->second;
  }

  void compare_end(const LinkLook& look, std::size_t link, const PortId& port, const Cable& cable,
                   const Transceiver& transceiver) {
    const auto report = look.reports.find(port);
    if (report == look.reports.end()) return;
    const auto& module = report->second.module;
    const auto planned = build_of(cable.type), there = build_of(module.type);
    const auto add = [&](LinkFault fault, std::string_view is, std::string_view expected) {
      found_.push_back(
          {link, {fault, fmt::format("{} at {}, planned {}", is, to_string(port), expected)}});
    };
    if (planned != Build::unknown && there != Build::unknown && planned != there)
      add(LinkFault::wrong_type, module.type, inventory::to_string(cable.type));
    if (there == Build::separate) {
      if (differs(module.serial, transceiver.serial, false))
        add(LinkFault::wrong_serial, "transceiver " + module.serial, transceiver.serial);
      return;
    }
    if (cable.metres > 0 && module.metres > 0 && std::abs(cable.metres - module.metres) >= 1)
      add(LinkFault::wrong_length, fmt::format("{} m", module.metres),
          fmt::format("{} m", cable.metres));
    if (differs(module.serial, cable.serial, true))
      add(LinkFault::wrong_serial, "cable " + module.serial, cable.serial);
  }

  /// Without the sign of the end: "S2202655321-1".
  static std::string_view bare(std::string_view serial) {
    const bool signed_end = serial.size() > 2 && serial[serial.size() - 2] == '-';
    return signed_end ? serial.substr(0, serial.size() - 2) : serial;
  }

  static bool differs(std::string_view there, std::string_view planned, bool with_sign_of_end) {
    if (there.empty() || planned.empty()) return false;
    const auto is = lower_case(there), expected = lower_case(planned);
    if (is == expected) return false;
    return !with_sign_of_end ||
           (bare(is) != bare(expected) && is != expected + "a" && is != expected + "b");
  }

  std::map<Key, const Cable*> cables_{};  // by both ends
  std::vector<OddLink> found_{};
};

}  // namespace

std::vector<OddLink> unplanned_parts(const LinkLook& look, const inventory::Fabric& plan) {
  return PlannedParts{plan}.compare(look);
}

}  // namespace cupel::burnin
