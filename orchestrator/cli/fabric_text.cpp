#include "orchestrator/cli/fabric_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "orchestrator/cli/table.h"

namespace cupel::cli {
namespace {

using inventory::Cable;
using inventory::CableEnd;
using inventory::Fabric;
using inventory::FabricAudit;
using inventory::FabricMap;
using inventory::FabricSwitch;
using inventory::SwitchLevel;

std::size_t count(const Fabric& fabric, SwitchLevel level) {
  return static_cast<std::size_t>(std::ranges::count(fabric.switches, level, &FabricSwitch::level));
}

std::size_t access_count(const Fabric& fabric) {
  return static_cast<std::size_t>(std::ranges::count_if(fabric.cables, &Cable::is_access));
}

/// How much of what the nodes of a leaf can send fits into its uplinks: 2 is 2:1. The worst leaf.
double oversubscription(const Fabric& fabric) {
  std::map<std::string_view, std::pair<int, int>> ports;
  for (const auto& cable : fabric.cables) {
    if (cable.is_access())
      ++ports[cable.to.device].first;
    else
      ++ports[cable.from.device].second;
  }
  double worst = 0;
  for (const auto& one : fabric.switches) {
    const auto& [down, up] = ports[one.name];
    if (one.level == SwitchLevel::leaf && up > 0)
      worst = std::max(worst, static_cast<double>(down) / up);
  }
  return worst;
}

/// A row for each group of nodes: its leaves, and what hangs on them.
std::string groups_text(const Fabric& fabric, const FabricMap& map) {
  struct Group {
    std::vector<std::string_view> nodes{}, leaves{};
  };
  std::map<int, Group> groups;
  for (const auto& node : fabric.nodes) groups[node.group].nodes.push_back(node.name);
  for (const auto& one : fabric.switches)
    if (one.level == SwitchLevel::leaf) groups[one.group].leaves.push_back(one.name);
  std::vector<Row> rows{{"GROUP", "NODES", "FIRST", "LAST", "LEAVES", "UPLINKS OF EACH", "SPINES"}};
  for (const auto& [number, group] : groups) {
    if (group.leaves.empty() || group.nodes.empty()) continue;
    const auto& leaf = group.leaves.front();
    rows.push_back({fmt::format("{}", number + 1), fmt::format("{}", group.nodes.size()),
                    std::string{group.nodes.front()}, std::string{group.nodes.back()},
                    group.leaves.size() == 1 ? std::string{leaf}
                                             : fmt::format("{} ... {}", leaf, group.leaves.back()),
                    fmt::format("{}", map.uplinks(leaf).size()),
                    fmt::format("{}", map.spines(leaf).size())});
  }
  return table(rows);
}

/// The rails of the first node: a plan that is right for one is read at a glance.
std::string rails_text(const Fabric& fabric, const FabricMap& map) {
  if (fabric.nodes.empty()) return {};
  const auto& node = fabric.nodes.front();
  std::vector<Row> rows{{"RAIL", "HCA OF " + node.name, "LEAF", "PORT"}};
  for (std::size_t rail = 0; rail < node.hcas.size(); ++rail) {
    const auto port = map.rail_port(node.name, static_cast<int>(rail));
    if (!port) continue;
    const auto* leaf = map.find_switch(port->leaf);
    rows.push_back({fmt::format("{}", rail + 1), node.hcas[rail], std::string{port->leaf},
                    leaf ? port_label(*leaf, port->port) : fmt::format("{}", port->port)});
  }
  return table(rows);
}

bool has_parts(const Cable& cable) {
  return cable.type != inventory::CableType::unknown || cable.metres > 0 || !cable.serial.empty() ||
         !cable.at_from.serial.empty() || !cable.at_to.serial.empty();
}

/// Of the cable, and of the transceivers at its two ends.
std::string serials_text(const Cable& cable) {
  std::string text = cable.serial;
  for (const auto* end : {&cable.at_from, &cable.at_to})
    if (!end->serial.empty()) text += (text.empty() ? "" : ", ") + end->serial;
  return printable(text);
}

std::string cables_text(const Fabric& fabric, const FabricMap& map) {
  const bool parts = std::ranges::any_of(fabric.cables, has_parts);
  std::vector<Row> rows{{"FROM", "TO", "SPEED"}};
  if (parts) rows.front().insert(rows.front().end(), {"TYPE", "LENGTH", "SERIAL NUMBERS"});
  for (const auto& cable : fabric.cables) {
    rows.push_back({end_text(map, cable.from), end_text(map, cable.to), cable.speed});
    if (!parts) continue;
    rows.back().insert(
        rows.back().end(),
        {std::string{inventory::to_string(cable.type)},
         cable.metres > 0 ? fmt::format("{} m", cable.metres) : "", serials_text(cable)});
  }
  return table(rows);
}

boost::json::object json_of(const CableEnd& end) {
  boost::json::object object{{"device", end.device}, {"port", end.port}};
  if (!end.at_switch()) object["hca"] = end.hca;
  return object;
}

boost::json::object json_of(const inventory::Transceiver& part) {
  boost::json::object object;
  if (!part.model.empty()) object["model"] = valid_utf8(part.model);
  if (!part.serial.empty()) object["serial"] = valid_utf8(part.serial);
  return object;
}

std::string location_of(const FabricMap& map, const CableEnd& end) {
  const auto* at = map.find_switch(end.device);
  return at ? at->location : std::string{};
}

}  // namespace

std::string plan_text(const inventory::FabricSite& site, bool every) {
  const auto& fabric = site.fabric;
  const FabricMap map{fabric};
  const auto access = access_count(fabric);
  std::size_t rails = 0;
  for (const auto& node : fabric.nodes) rails = std::max(rails, node.hcas.size());
  auto text = fmt::format(
      "{} nodes with {} rails, {} leaves, {} spines, {} cores\n"
      "{} cables: {} from nodes to leaves, {} between switches\n",
      fabric.nodes.size(), rails, count(fabric, SwitchLevel::leaf),
      count(fabric, SwitchLevel::spine), count(fabric, SwitchLevel::core), fabric.cables.size(),
      access, fabric.cables.size() - access);
  if (const double ratio = oversubscription(fabric); ratio > 0)
    text += fmt::format("oversubscription of the leaves: {}:1\n", plain(ratio, 2));
  text += "\n" + groups_text(fabric, map) + "\n\n" + rails_text(fabric, map) + "\n";
  if (every) text += "\n" + cables_text(fabric, map) + "\n";
  if (site.left_out > 0)
    text += fmt::format("\n{} rows of the file are of other networks and left out; the first: {}\n",
                        site.left_out, to_string(site.first_left_out));
  return text;
}

boost::json::object plan_json(const inventory::FabricSite& site) {
  const auto& fabric = site.fabric;
  boost::json::array switches, cables;
  for (const auto& one : fabric.switches)
    switches.push_back(boost::json::object{{"name", one.name},
                                           {"level", inventory::to_string(one.level)},
                                           {"group", one.group},
                                           {"rail", one.rail},
                                           {"plane", one.plane}});
  for (const auto& cable : fabric.cables) {
    boost::json::object one{
        {"from", json_of(cable.from)}, {"to", json_of(cable.to)}, {"speed", cable.speed}};
    if (cable.type != inventory::CableType::unknown) one["type"] = inventory::to_string(cable.type);
    if (cable.metres > 0) one["metres"] = cable.metres;
    if (!cable.serial.empty()) one["serial"] = valid_utf8(cable.serial);
    if (auto part = json_of(cable.at_from); !part.empty()) one["at_from"] = std::move(part);
    if (auto part = json_of(cable.at_to); !part.empty()) one["at_to"] = std::move(part);
    cables.push_back(std::move(one));
  }
  return {{"nodes", fabric.nodes.size()},
          {"oversubscription", oversubscription(fabric)},
          {"switches", std::move(switches)},
          {"cables", std::move(cables)},
          {"left_out", site.left_out}};
}

std::string audit_text(const FabricAudit& audit) {
  std::string text;
  for (const auto& finding : audit.findings)
    text += fmt::format("{}: {}\n  {}\n", to_string(finding.fault), printable(finding.what),
                        printable(finding.instruction));
  for (const auto& doubt : audit.unknown) text += fmt::format("not judged: {}\n", printable(doubt));
  return text + fmt::format("{} of {} cables are in their ports; {} findings, {} plugs to move\n",
                            audit.right, audit.planned, audit.findings.size(), audit.moves());
}

boost::json::object audit_json(const FabricAudit& audit) {
  boost::json::array findings, unknown;
  for (const auto& finding : audit.findings) {
    boost::json::array moves;
    for (const auto& move : finding.moves) {
      boost::json::object one{{"cable", json_of(move.cable)}};
      if (move.from) one["from"] = json_of(*move.from);
      if (move.to) one["to"] = json_of(*move.to);
      moves.push_back(std::move(one));
    }
    findings.push_back(boost::json::object{{"fault", to_string(finding.fault)},
                                           {"cable", json_of(finding.cable)},
                                           {"what", valid_utf8(finding.what)},
                                           {"instruction", valid_utf8(finding.instruction)},
                                           {"moves", std::move(moves)}});
  }
  for (const auto& doubt : audit.unknown) unknown.emplace_back(valid_utf8(doubt));
  return {{"planned", audit.planned},
          {"right", audit.right},
          {"findings", std::move(findings)},
          {"not_judged", std::move(unknown)}};
}

std::string walking_list(const Fabric& plan, const FabricAudit& audit) {
  const FabricMap map{plan};
  // Findings stay whole, since their moves have an order; they are walked to switch by switch.
  std::multimap<std::string, const inventory::CableFinding*> by_place;
  for (const auto& finding : audit.findings) {
    const auto& moves = finding.moves;
    const auto at = !moves.empty() && moves.front().from ? *moves.front().from : finding.cable;
    const auto* cable = map.cable_at(finding.cable);
    const auto& end = at.at_switch() || !cable ? at : cable->to;
    auto place = location_of(map, end);
    if (!place.empty()) place += ", ";
    by_place.emplace(place + end.device, &finding);
  }
  std::string text, before;
  for (const auto& [place, finding] : by_place) {
    if (place != before) text += fmt::format("{}{}\n", text.empty() ? "" : "\n", printable(place));
    before = place;
    if (finding->moves.empty())
      text +=
          fmt::format("  [ ] {}. {}\n", printable(finding->what), printable(finding->instruction));
    for (const auto& move : finding->moves) {
      const auto cable = printable(end_text(map, move.cable));
      const auto label = [&](const CableEnd& end) { return printable(end_text(map, end)); };
      if (!move.to)
        text += fmt::format("  [ ] unplug {}: {}\n", label(*move.from), cable);
      else if (!move.from)
        text += fmt::format("  [ ] plug {} into {}\n", cable, label(*move.to));
      else
        text +=
            fmt::format("  [ ] move {} from {} to {}\n", cable, label(*move.from), label(*move.to));
    }
  }
  return text;
}

}  // namespace cupel::cli
