#pragma once
// Cables of an Ethernet fabric: what LLDP reports, against the plan. Cables of nodes are compared
// from each node, those between switches from the switches. Pure.
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/fabric/discovery/lldp.h"
#include "burnin/job.h"
#include "inventory/fabric_audit.h"

namespace cupel::burnin::fabric {

/// A node with HCAs whose port is Ethernet.
struct EthernetNode {
  struct Interface {
    std::string hca{};
    bool up = false;
  };
  std::string node{};
  std::vector<std::string> hcas{};
  std::map<std::string, Interface> interfaces{};  // by name: "eth4"
  std::vector<LldpNeighbour> neighbours{};
  std::string why_none{};  // why there are no neighbours
};

/// What the node printed: "ethernet HCA" of each HCA whose port is Ethernet, "net HCA INTERFACE
/// STATE" of each network interface of those, and what lldpctl -f json0 printed as section "lldp",
/// or "cupel-no-lldp: WHY". Nothing where no HCA has a port that is Ethernet.
std::optional<EthernetNode> read_ethernet(std::string_view node, const Output& output);

/// Whether the fabric is Ethernet: most of the planned HCAs of the nodes that reported are.
bool is_ethernet(const inventory::Fabric& plan, std::span<const std::string> reported,
                 std::span<const EthernetNode> nodes);

struct LldpAudit {
  inventory::Fabric compared{};  // of the plan: the cables that could be compared
  inventory::FabricAudit audit{};
  std::map<inventory::CableEnd, std::string> undecided{};  // HCAs that could not be judged, and why
  std::map<std::string, std::string> not_compared{};       // nodes
};

/// An HCA without a neighbour whose interface is down has no link; one that is up is undecided,
/// since its switch may not speak LLDP. Errors: kNoMeasurement: no node has a neighbour.
Result<LldpAudit> audit_by_lldp(const inventory::Fabric& plan, std::span<const EthernetNode> nodes);

/// What lldpctl reports on a switch (Cumulus with NVUE and SONiC both run lldpd).
struct SwitchNeighbours {
  std::string name{};  // of the switch, with or without its domain
  std::vector<LldpNeighbour> neighbours{};
};

struct SwitchAudit {
  inventory::Fabric compared{};  // of the plan: the cables that could be compared
  inventory::FabricAudit audit{};
};

/// Cables between switches: those with an end where a switch is seen, and those between two
/// switches that both reported, which have no link if neither sees the other. Neighbours that are
/// no switch of the plan are passed over; switches that the plan does not have, or that report no
/// neighbour at all, are not judged.
/// Errors: kNoMeasurement: no switch sees another one of the plan.
Result<SwitchAudit> audit_switches_by_lldp(const inventory::Fabric& plan,
                                           std::span<const SwitchNeighbours> switches);

}  // namespace cupel::burnin::fabric
