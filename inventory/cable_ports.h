#pragma once
// Ports as people write them in lists of cables. Pure. Not public: of fabric_of_cables.cpp.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "inventory/fabric_rule.h"
#include "inventory/port_names.h"

namespace cupel::inventory {

struct HcaPort {
  std::string hca{};
  int port = 1;
};

/// A compute HCA of the node by its name, or counted: "mlx5_3", "n05 mlx5_3", "mlx5_3/1", "mlx5_3
/// port 1", "IB Port 2", "2", "HCA-2", "OSFP1 P2" (two a cage); "ib1" counts from 0. Nothing for
/// any other word.
std::optional<HcaPort> hca_port(const FabricMember& node, std::string_view text);

struct SwitchPort {
  std::string chip{};  // of a director: "/L16/U2"
  int port = 0;
};

/// How the switches of a list count their ports is seen from all of their names.
class SwitchPorts {
 public:
  void add(const std::string& device, const std::string& port);
  void decide(int ports_per_cage);
  /// Nothing for a word that is no port.
  std::optional<SwitchPort> port(const std::string& device, std::string_view text,
                                 int ports_per_cage) const;

 private:
  std::map<std::string, std::set<std::string>> names_{};  // by device in lower case
  std::map<std::string, PortNaming> namings_{};
};

}  // namespace cupel::inventory
