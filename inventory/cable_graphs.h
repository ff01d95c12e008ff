#pragma once
// Files of cables that are no tables: .topo, .dot and .lst. Pure. Not public: of cable_files.cpp.
#include "inventory/cable_files.h"

namespace cupel::inventory {

/// "MQM9700 leaf1", below it "P1 -4x-NDR-> HCA n01 mlx5_0".
void read_topo(std::string_view text, const std::string& file, std::vector<CableRow>& rows,
               std::vector<Problem>& problems);

/// `"n01":"mlx5_0" -- "leaf1":"swp1"` a line, as PTM reads it; attributes in brackets are ignored.
void read_dot(std::string_view text, const std::string& file, std::vector<CableRow>& rows,
              std::vector<Problem>& problems);

/// `{ CA Ports:01 ... {n01 mlx5_0} LID:0001 PN:01 } { SW ... {leaf1} LID:0003 PN:08 } PHY=4x ...`.
void read_lst(std::string_view text, const std::string& file, std::vector<CableRow>& rows,
              std::vector<Problem>& problems);

}  // namespace cupel::inventory
