#pragma once
// What should exist: the site as its operators wrote it down. Filled by inventory/load.h, never
// changed afterwards. Not what was seen (parts.h) nor what a kind of machine is made of
// (profile.h).
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inventory/boot.h"
#include "inventory/fabric_rule.h"
#include "inventory/nccl_settings.h"
#include "inventory/problem.h"
#include "inventory/profile.h"
#include "inventory/secret_ref.h"
#include "inventory/slurm_site.h"
#include "inventory/ufm_site.h"

namespace cupel::inventory {

/// Host name or IP address, and port.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

/// "127.0.0.1:443"; an IPv6 host in brackets (RFC 3986, 3.2.2).
std::string to_string(const Endpoint& endpoint);

/// How the other side proves who it is. There is no way to say "do not check".
struct Trust {
  enum class Kind { first_use, pinned, ca } kind = Kind::first_use;
  std::string
      what{};  // pinned: "SHA256:..." of the certificate or host key; ca: path of a PEM file
  friend bool operator==(const Trust&, const Trust&) = default;
};

enum class BmcProtocol { redfish, ipmi };

/// IPMI to the same BMC. Where it is not given, nothing is asked by IPMI.
struct IpmiAccess {
  Endpoint endpoint;            // UDP; the BMC's own host unless told otherwise
  std::optional<int> cipher{};  // suite 3 or 17; nothing: 17, and 3 where the BMC has no 17
  friend bool operator==(const IpmiAccess&, const IpmiAccess&) = default;
};

/// What a BMC leaves the factory with.
struct FactoryLogin {
  std::string user;
  SecretRef password;
  friend bool operator==(const FactoryLogin&, const FactoryLogin&) = default;
};

struct BmcAccess {
  BmcProtocol protocol = BmcProtocol::redfish;  // asked first
  Endpoint endpoint;                            // HTTPS
  std::string user;
  SecretRef password;
  Trust trust;
  std::optional<IpmiAccess> ipmi{};
  std::optional<FactoryLogin> factory{};
  std::string mac{};  // of the BMC's port, where the operators know it: "aa:bb:cc:00:11:22"
  /// Which of the BMC's Systems is the node (its Id, "Node0"); empty: it has one.
  std::string system{};
  /// The first of the nodes that this BMC serves; empty: it serves this one alone.
  std::string shared_as{};
};

struct SshAccess {
  Endpoint endpoint;
  std::string user = "root";
  std::string key_file{};  // empty: the agent at SSH_AUTH_SOCK
  Trust trust;             // first_use or pinned
  bool sudo = false;       // stages are started with `sudo -n`
};

/// One level of the power tree. `watts` is what may be drawn through it.
struct PowerNode {
  enum class Kind { room, rack, pdu, breaker } kind{};
  std::string name;
  double watts = 0;
  std::string parent{};  // name of the level above; empty for a room
  Place where{};
};

struct Rack {
  std::string name;
  std::string room;
  int units = 48;
  Place where{};
};

/// For sites whose machines call themselves otherwise than the inventory does.
constexpr std::string_view kAnyHostName = "any";

/// A rack's PDU that switches its outlets by Redfish (DSP0268, PowerDistribution).
struct Pdu {
  std::string name;   // as its level of the power tree: "a01/p1"
  Endpoint endpoint;  // HTTPS
  std::string user;
  SecretRef password;
  Trust trust;
  Place where{};
};

struct Node {
  std::string name;
  std::string profile;
  std::string rack{};
  int unit = 0;  // lowest unit it fills, counted from 1 at the bottom; 0: not told
  std::vector<std::string> feeds{};  // breakers; each must be able to carry the whole node
  /// Of each feed, on its breaker's PDU: "A7", "A1+A2" where it has several cords; "": not told.
  std::vector<std::string> outlets{};
  BmcAccess bmc;
  SshAccess ssh;
  std::string serial{};           // of the system, where the operators know it
  std::string slurm_name{};       // NodeName in Slurm; the node's own name unless told otherwise
  std::string kubernetes_name{};  // of its Node in Kubernetes; the same
  std::string host_name{};        // empty: one of the two above; kAnyHostName: not checked
  NodeBoot boot{};
  Place where{};
};

/// The name by which the BMC's certificate, refused logins and limits are kept: the node's own, or
/// that of the first node that has the same BMC.
const std::string& bmc_name(const Node& node);

/// How the site's fabric is to be cabled.
struct FabricSite {
  Fabric fabric{};
  std::optional<FabricRule> rule{};  // nothing: from a file
  std::string file{};                // of cables
  NcclSettings nccl{};
  std::optional<UfmSite> ufm{};  // nothing: none is asked
  Place where{};
};

/// Where the site keeps its manifest of firmware images (image_manifest.h), and the public key that
/// it is signed with. The signature is beside the manifest: "images.yaml.sig".
struct ImageTrust {
  std::string manifest{};  // absolute, as is the key
  std::string key{};
  /// Where this machine serves images, over HTTP, to BMCs that fetch them; nothing: nowhere.
  std::optional<Endpoint> serve{};
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
  std::map<std::string, Profile> profiles;
  std::optional<SlurmSite> slurm;
  std::optional<KubernetesSite> kubernetes{};  // of these two one at most
  std::optional<ImageTrust> images{};          // nothing: no firmware is written
  std::optional<BootSite> boot{};              // nothing: no machine is booted over the network
  std::optional<FabricSite> fabric{};          // nothing: cables are not compared
  std::vector<std::string> bmc_networks{};     // "10.0.1.0/24": where a BMC that moved may be found

  const Node* node(std::string_view name) const;
  const Profile& profile_of(const Node& node) const { return profiles.at(node.profile); }
  /// The nodes that have the same BMC as this one, with itself, in the order of the file.
  std::vector<const Node*> nodes_of_bmc(const Node& node) const;
  /// The PDU that a breaker hangs on; nullptr where it switches nothing.
  const Pdu* pdu_of(std::string_view breaker) const;
};

/// "A1" and "A2" of "A1+A2".
std::vector<std::string_view> outlet_names(std::string_view outlets);

}  // namespace cupel::inventory
