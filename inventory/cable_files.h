#pragma once
// Cable plans as people and tools keep them: NVIDIA's NDT, point-to-point tables (P2P) and .topo
// files. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "inventory/fabric.h"
#include "inventory/fabric_rule.h"

namespace cupel::inventory {

/// One line of such a file: two devices, and their ports as they are written there.
struct CableRow {
  std::string from;
  std::string from_port;
  std::string to;
  std::string to_port;
  std::string speed{};
  std::string location_from{};
  std::string location_to{};
  CableType type = CableType::unknown;
  double metres = 0;
  std::string serial{};  // of the cable
  Transceiver at_from{};
  Transceiver at_to{};
  Place where{};
  friend bool operator==(const CableRow&, const CableRow&) = default;
};

/// Every line that is a cable, and every line that should be one and is not. The header says what a
/// CSV file is: StartDevice, StartPort, EndDevice, EndPort (NDT), or A-Node Name, A-Port, Z-Node
/// Name, Z-Port (P2P), in any order and with other columns beside them, of which Speed, Cable Type,
/// Length (m), Cable Serial, and the transceivers' A-Module, A-Serial, Z-Module and Z-Serial (in
/// NDT StartModule ...) are read. A .topo file has no header: "TYPE NAME" for each system, below it
/// "PORT -> TYPE NAME PORT". Sources: Mellanox/ufm_sdk_3.0, UFM_NDT_Plugin; NVIDIA Cable Validation
/// Tool 1.9, P2P file; ibutils, man ibdm-topo-file.
std::vector<CableRow> parse_cables(std::string_view text, const std::string& file,
                                   std::vector<Problem>& problems);

/// What a file of cables leaves open.
struct CableFileSite {
  std::vector<FabricMember> members{};  // nodes; every other device is a switch
  int ports_per_cage = 1;
  std::string speed{};
};

/// The fabric that these rows are. A port of a node names an HCA ("mlx5_3", "n05 mlx5_3"), or
/// counts those of its list ("IB Port 2", "2"); a port of a switch is a number ("Port 13", "13"),
/// a cage and its port ("7/1"), or one of a director ("Blade 16_Port 2/20").
Fabric fabric_of_cables(const std::vector<CableRow>& rows, const CableFileSite& site,
                        std::vector<Problem>& problems);

}  // namespace cupel::inventory
