#pragma once
// The cable plan against what was seen: which plug has to go where. Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

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
  nodes_exchanged,     // two nodes are in each other's ports on all rails
  switches_exchanged,  // two leaves have each other's cables
  name_twice,          // two HCAs report the same name
  wrong_name,          // an HCA reports another node's name than its GUID is known for
};

std::string_view to_string(CableFault fault);

/// One plug from one port to another. `cable` is its other end, which stays: the lower one, or the
/// upper one where the lower plug is in a wrong port. Nothing in `from`: it is in the hand, nothing
/// in `to`: unplug it and keep it at hand.
struct CableMove {
  CableEnd cable;
  std::optional<CableEnd> from{};
  std::optional<CableEnd> to{};
  friend bool operator==(const CableMove&, const CableMove&) = default;
};

struct CableFinding {
  CableFault fault{};
  CableEnd cable{};    // its HCA, or its end at the lower switch; of a device: its name
  std::string what{};  // what is wrong, where
  std::string instruction{};
  std::vector<CableMove> moves{};  // in the order in which they can be made
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

/// Names of devices are compared without regard to case. An HCA is who its GUID says, else who its
/// node description says. Aggregation nodes of switches are no HCAs.
FabricAudit audit_fabric(const Fabric& plan, const SeenFabric& seen, const HcaGuids& guids = {});

/// "leaf1-r3 port 7/1", "a01-n05 mlx5_6 (rail 5)".
std::string end_text(const FabricMap& map, const CableEnd& end);

}  // namespace cupel::inventory
