#pragma once
// What should exist: the site as its operators wrote it down. Filled by inventory/load.h, never
// changed afterwards. Not what was seen (parts.h) nor what a kind of machine is made of
// (profile.h).
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/access.h"
#include "inventory/boot.h"
#include "inventory/fabric_site.h"
#include "inventory/image_trust.h"
#include "inventory/node.h"
#include "inventory/power_node.h"
#include "inventory/problem.h"
#include "inventory/profile.h"
#include "inventory/security_floor.h"
#include "inventory/slurm_site.h"

namespace cupel::inventory {

struct Rack {
  std::string name;
  std::string room;
  int units = 48;
  Place where{};
  std::shared_ptr<const UserData> user_data{};
};

/// A rack's PDU that switches its outlets by Redfish (DSP0268, PowerDistribution).
struct Pdu {
  std::string name;   // as its level of the power tree: "a01/p1"
  Endpoint endpoint;  // HTTPS
  std::string user;
  SecretRef password;
  Trust trust;
  Place where{};
};

struct Inventory {
  std::string site;
  std::string file;    // as it was named
  std::string digest;  // SHA-256 of the file and of the profiles it used
  std::vector<Rack> racks;
  std::vector<PowerNode> power;
  std::vector<Pdu> pdus{};  // those that switch outlets
  std::vector<Node> nodes;  // in the order of the file
  /// Names of nodes, in the order of the file, by the group's name.
  std::map<std::string, std::vector<std::string>, std::less<>> groups{};
  std::map<std::string, Profile> profiles;
  std::optional<SlurmSite> slurm;
  std::optional<KubernetesSite> kubernetes{};
  std::optional<ImageTrust> images{};       // nothing: no firmware is written
  std::optional<BootSite> boot{};           // nothing: no machine is booted over the network
  std::optional<FabricSite> fabric{};       // nothing: cables are not compared
  std::vector<std::string> bmc_networks{};  // "10.0.1.0/24": where a BMC that moved may be found
  FloorSite floor{};                        // the oldest safe versions; no rows: none is judged

  const Node* node(std::string_view name) const;
  const Profile& profile_of(const Node& node) const { return profiles.at(node.profile); }
  /// Whether the site's Slurm, or its Kubernetes, gives the node to jobs.
  bool is_of_slurm(const Node& node) const;
  bool is_of_kubernetes(const Node& node) const;
  /// The nodes that have the same BMC as this one, with itself, in the order of the file.
  std::vector<const Node*> nodes_of_bmc(const Node& node) const;
  /// The PDU that a breaker hangs on; nullptr where it switches nothing.
  const Pdu* pdu_of(std::string_view breaker) const;
};

/// "A1" and "A2" of "A1+A2".
std::vector<std::string_view> outlet_names(std::string_view outlets);

}  // namespace cupel::inventory
