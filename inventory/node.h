#pragma once
// One node of the site, as its operators wrote it down. Read by inventory/read_nodes.h.
#include <string>
#include <string_view>
#include <vector>

#include "inventory/access.h"
#include "inventory/node_boot.h"
#include "inventory/node_os.h"
#include "inventory/problem.h"

namespace cupel::inventory {

/// For sites whose machines call themselves otherwise than the inventory does.
constexpr std::string_view kAnyHostName = "any";

/// Which schedulers give the node to jobs. None: the one that the site has.
struct NodeSchedulers {
  bool slurm = false;
  bool kubernetes = false;
};

struct Node {
  std::string name;
  std::string profile;
  std::string rack{};
  int unit = 0;  // lowest unit it fills, counted from 1 at the bottom; 0: not given
  std::vector<std::string> feeds{};  // breakers; each must be able to carry the whole node
  /// Of each feed, on its breaker's PDU: "A7", "A1+A2" where it has several cords; "": not given.
  std::vector<std::string> outlets{};
  BmcAccess bmc;
  SshAccess ssh;
  std::string serial{};           // of the system, where the operators know it
  NodeSchedulers schedulers{};    // that the operators name
  std::string slurm_name{};       // NodeName in Slurm; default: the node's name
  std::string kubernetes_name{};  // of its Node in Kubernetes; the same
  std::string host_name{};        // empty: one of the two above; kAnyHostName: not checked
  NodeBoot boot{};
  UserDataLayers user_data{};                    // of the site, its rack and itself
  std::shared_ptr<const NodeNetwork> network{};  // of its installed system; empty: as `boot` has it
  Place where{};
};

/// The name by which the BMC's certificate, refused logins and limits are kept: the node's own, or
/// that of the first node that has the same BMC.
const std::string& bmc_name(const Node& node);

}  // namespace cupel::inventory
