#pragma once
// Cable plans as people and tools keep them: tables of NVIDIA's NDT and P2P and of integrators,
// NetBox's exports, .topo, PTM's .dot and ibdiagnet's .lst files. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "inventory/cable_header.h"
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
  int from_column = 1;  // where the two ports stand: of a table the cell, of others the character
  int to_column = 1;
  friend bool operator==(const CableRow&, const CableRow&) = default;
};

/// Every line that is a cable, and every line that should be one and is not. The header says what a
/// table is (CableHeader), with its columns in any order and others beside them, of which Speed,
/// Cable Type, Length (m), Cable Serial, and the transceivers' A-Module, A-Serial, Z-Module and
/// Z-Serial (in NDT StartModule ...) are read. `columns`: what the site calls its columns. A device
/// whose cells are merged stands in the first row alone; rows of totals and notes are left out.
/// A .topo file has no header: "TYPE NAME" for each system, below it "PORT -> TYPE NAME PORT". A
/// .dot file has "DEVICE":"PORT" -- "DEVICE":"PORT" a line, an ibdiagnet .lst file two ends in
/// braces. Sources: Mellanox/ufm_sdk_3.0, UFM_NDT_Plugin; NVIDIA Cable Validation Tool 1.9, P2P
/// file; NetBox, export of cables; ibutils, man ibdm-topo-file; Cumulus PTM, topology.dot;
/// ibdiagnet.lst.
std::vector<CableRow> parse_cables(std::string_view text, const std::string& file,
                                   std::vector<Problem>& problems, const ColumnNames& columns = {});

/// What a file of cables leaves open.
struct CableFileSite {
  std::vector<FabricMember> members{};  // nodes; every other device is a switch
  int ports_per_cage = 1;
  std::string speed{};
  int switch_ports = 0;  // of each switch; 0: not limited
};

/// What a file of cables is.
struct CableFile {
  Fabric fabric{};
  /// Rows of other networks (storage, BMC), which no compute HCA and no switch of theirs has.
  std::size_t left_out = 0;
  Place first_left_out{};
};

/// The fabric that these rows are. Nodes are named with or without their domain. A port of a node
/// names an HCA ("mlx5_3", "n05 mlx5_3", "mlx5_3/1", "mlx5_3 port 1"), or counts those of its list:
/// "IB Port 2", "2", "HCA-2", "OSFP1 P2" with two ports a cage, and from 0 "ib1". A port of a
/// switch is a number ("Port 13", "13"), a cage and its port ("7/1", "1/7/1", "7A"), the name that
/// its operating system gives it (port_names.h), or one of a director ("Blade 16_Port 2/20"). A
/// cable that is listed from both of its ends is one.
CableFile read_cable_file(const std::vector<CableRow>& rows, const CableFileSite& site,
                          std::vector<Problem>& problems);

}  // namespace cupel::inventory
