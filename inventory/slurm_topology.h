#pragma once
// Slurm's topology files, from a cable plan. Pure.
#include <string>

#include "inventory/fabric.h"

namespace cupel::inventory {

/// topology.conf of topology/tree: a switch for each group of nodes (Slurm knows no rails: a
/// group's leaves are one switch), and one above them. Source: Slurm, man topology.conf.
std::string topology_conf(const Fabric& fabric);

/// The same as topology.yaml. Source: Slurm 25.05, man topology.yaml.
std::string topology_yaml(const Fabric& fabric);

}  // namespace cupel::inventory
