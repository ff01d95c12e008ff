#pragma once
// The cable plan against what was seen: which plug has to go where. Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "inventory/cable_moves.h"
#include "inventory/fabric.h"
#include "inventory/seen_fabric.h"

namespace cupel::inventory {

enum class CableFault {
  swapped,             // two cables are in each other's port
  moved,               // one or more cables are in a wrong port, in a chain or a larger cycle
  missing,             // no link where one is planned
  extra,               // a link that is not planned
  slow,                // fewer lanes or a lower speed than planned
  switch_absent,       // a planned switch is not in the report
  node_absent,         // none of a node's HCAs has a link
  nodes_exchanged,     // nodes are in each other's ports on all rails
  switches_exchanged,  // switches have each other's cables
  name_twice,          // two HCAs report the same name
  wrong_name,          // an HCA reports another node's name than its GUID is known for
};

std::string_view to_string(CableFault fault);

struct CableFinding {
  CableFault fault{};
  CableEnd cable{};    // its HCA, or its end at the lower switch; of a device: its name
  std::string what{};  // what is wrong, where
  std::string instruction{};
  std::vector<CableMove> moves{};        // in the order in which they can be made
  std::vector<std::string> exchanged{};  // the other devices of an exchange
  friend bool operator==(const CableFinding&, const CableFinding&) = default;
};

struct FabricAudit {
  std::vector<CableFinding> findings{};
  std::vector<std::string> unknown{};  // what could not be judged, and why
  std::size_t planned = 0;             // cables
  std::size_t right = 0;               // of those: in their ports
  bool passed() const { return findings.empty() && unknown.empty(); }
  std::size_t moves() const;  // plugs to be moved
};

/// Whose HCA a GUID is, as the nodes themselves said.
using HcaGuids = std::unordered_map<std::uint64_t, CableEnd>;

/// Names of devices are compared without regard to case, and without their domain where that leaves
/// one of the plan. An HCA is who its GUID says, else who its node description says. Aggregation
/// nodes of switches are no HCAs. No instruction takes out a plug that is right, and each one
/// leaves more ends right than before. Cables whose HCA has no name that is understood, and of a
/// report that is cut off what is absent or missing, are not judged.
FabricAudit audit_fabric(const Fabric& plan, const SeenFabric& seen, const HcaGuids& guids = {});

/// "leaf1-r3 port 7/1", "a01-n05 mlx5_6 (rail 5)".
std::string end_text(const FabricMap& map, const CableEnd& end);

}  // namespace cupel::inventory
