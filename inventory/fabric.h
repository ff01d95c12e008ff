#pragma once
// The fabric as it should be cabled: switches, nodes with their compute HCAs, and cables. Plain
// data, made by a rule (fabric_rule.h) or from a file of cables (cable_files.h). What was seen
// instead is seen_fabric.h.
#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inventory/problem.h"

namespace cupel::inventory {

enum class SwitchLevel { leaf, spine, core };

std::string_view to_string(SwitchLevel level);

struct FabricSwitch {
  std::string name;
  SwitchLevel level = SwitchLevel::leaf;
  int group = -1;  // of a leaf: the group of nodes that it serves, from 0; -1: of none
  int rail = -1;   // of a leaf that serves one rail alone, from 0
  int plane = 0;   // of a fabric with several planes, from 0
  int ports = 0;   // that cables can go to; 0: not reported
  /// Ports that share one cage: 2 with twin-port OSFP (NDR), where ports 13 and 14 are "7/1" and
  /// "7/2".
  int ports_per_cage = 1;
  std::string guid{};  // 16 lower-case digits; empty: not reported
  std::string serial{};
  std::string location{};  // for people who walk there: "rack a01, U42"
  Place where{};
  friend bool operator==(const FabricSwitch&, const FabricSwitch&) = default;
};

/// A node of the fabric. Rail k is the k-th HCA of its list: the number in "mlx5_6" says nothing.
struct FabricNode {
  std::string name;
  std::vector<std::string> hcas;
  int group = -1;      // of nodes that share their leaves, from 0
  int index = -1;      // in its group, from 0
  std::string host{};  // as its node descriptions call it, where that is not its name
  friend bool operator==(const FabricNode&, const FabricNode&) = default;
};

/// Where a cable ends: a port of a node's HCA, or of a switch.
struct CableEnd {
  std::string device;  // node or switch
  std::string hca{};   // empty at a switch
  int port = 1;        // from 1
  bool at_switch() const { return hca.empty(); }
  friend bool operator==(const CableEnd&, const CableEnd&) = default;
  friend auto operator<=>(const CableEnd&, const CableEnd&) = default;
};

struct CableEndHash {
  std::size_t operator()(const CableEnd& end) const;
};

enum class CableType { unknown, dac, acc, aoc, fibre };

std::string_view to_string(CableType type);
/// "DAC", "aoc", "MPO"; nothing for a word that says none of them.
std::optional<CableType> cable_type(std::string_view word);

/// A transceiver is a part of its own: it is replaced without its fibre.
struct Transceiver {
  std::string model{};
  std::string serial{};
  std::string firmware{};
  friend bool operator==(const Transceiver&, const Transceiver&) = default;
};

/// One link. With the HCA first, or the switch of the lower level.
struct Cable {
  CableEnd from;
  CableEnd to;
  CableType type = CableType::unknown;
  double metres = 0;    // 0: not reported
  std::string speed{};  // "NDR", of each lane; empty: not reported
  int width = 4;        // lanes
  std::string serial{};
  Transceiver at_from{};
  Transceiver at_to{};
  Place where{};
  bool is_access() const { return !from.at_switch(); }
  friend bool operator==(const Cable&, const Cable&) = default;
};

struct Fabric {
  std::vector<FabricSwitch> switches;
  std::vector<FabricNode> nodes;
  std::vector<Cable> cables;
  friend bool operator==(const Fabric&, const Fabric&) = default;
};

/// Where a node's rail is plugged in.
struct RailPort {
  std::string_view hca;
  std::string_view leaf;
  int port = 0;  // of the leaf
  friend bool operator==(const RailPort&, const RailPort&) = default;
};

struct Uplink {
  std::string_view leaf;
  int leaf_port = 0;
  std::string_view spine;
  int spine_port = 0;
  friend bool operator==(const Uplink&, const Uplink&) = default;
};

/// A fabric that can be asked. Views into `fabric`, which must outlive it and stay as it is. The
/// first cable of a port counts (check_fabric.h reports a second one).
class FabricMap {
 public:
  explicit FabricMap(const Fabric& fabric);

  const FabricSwitch* find_switch(std::string_view name) const;
  const FabricNode* find_node(std::string_view name) const;
  /// Of the node's HCA number `rail`, from 0, in one plane; nothing where no cable is planned.
  std::optional<RailPort> rail_port(std::string_view node, int rail, int plane = 0) const;
  /// Which rail an HCA of a node is; -1 where it is none of its compute HCAs.
  int rail_of(std::string_view node, std::string_view hca) const;
  /// From a switch to the level above it, in the order of the plan.
  const std::vector<Uplink>& uplinks(std::string_view lower) const;
  /// The switches above it, each once, in the order of the plan.
  std::vector<std::string_view> spines(std::string_view lower) const;
  /// The cable that ends there; nullptr where none is planned.
  const Cable* cable_at(const CableEnd& end) const;

 private:
  const Fabric& fabric_;
  std::unordered_map<std::string_view, std::size_t> switches_{};
  std::unordered_map<std::string_view, std::size_t> nodes_{};
  std::unordered_map<CableEnd, std::size_t, CableEndHash> ends_{};
  std::unordered_map<std::string_view, std::vector<Uplink>> uplinks_{};
  std::vector<std::vector<const Cable*>> access_{};  // by node, in the order of the plan
};

/// How many planes its switches are of: 1 where port 1 of each HCA alone is cabled.
int plane_count(const Fabric& fabric);

/// As it stands on the switch: "7/1" where two ports share a cage, else "13".
std::string port_label(const FabricSwitch& at, int port);

}  // namespace cupel::inventory
