#pragma once
// How a node's BMC and its SSH server are reached, and as whom.
#include <optional>
#include <string>

#include "inventory/endpoint.h"
#include "inventory/secret_ref.h"

namespace cupel::inventory {

enum class BmcProtocol { redfish, ipmi };

/// IPMI to the same BMC. Where it is not given, nothing is asked by IPMI.
struct IpmiAccess {
  Endpoint endpoint;            // UDP; default: the BMC's host
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
  Place key_named{};       // where the inventory says so
  Trust trust;             // first_use or pinned
  bool sudo = false;       // stages are started with `sudo -n`
};

}  // namespace cupel::inventory
