#pragma once
// That a BMC is who it should be, and where it is when it is no longer where the inventory says.
// The judgement itself is in known_bmc.h; this asks.
#include "bmc/redfish/client.h"

namespace cupel::bmc::redfish {

/// What people wrote of it besides its address.
struct Expected {
  ExpectedIdentity people{};
  std::vector<std::string> networks{};  // "10.0.1.0/24": where else it may be
  /// It may be asked by IPMI too: a restart that would do harm by Redfish is left to that.
  bool has_ipmi = false;
};

class Whereabouts {
 public:
  /// `peer` is as the inventory says. `transport` must outlive this.
  Whereabouts(Transport& transport, Peer peer, std::string user, SecretSource password,
              Expected expected);

  /// Where to ask first: where it was found last.
  Peer peer() const;

  /// What `client` is to do at its moments; this must outlive it.
  ClientHooks moments(Client& client);

  /// Whether what answers is the BMC of this node; remembers it at the first contact.
  /// Errors: kUntrusted, with both identities; whatever reading an identity says.
  Task<Result<void>> check(Client& client, Deadline deadline);

  /// The same by the service root alone, which everybody may read.
  Result<void> check_root(const json::value& root);

  /// Where the BMC is, if not at `lost`: the address that presents the pinned certificate, and
  /// then tells the known UUID, serial number and MAC. Looks at 64 addresses at a time.
  /// Errors: `why`, where it is found nowhere; kInvalid where the networks are too large;
  /// kUntrusted where several fit.
  Task<Result<inventory::Endpoint>> find(inventory::Endpoint lost, Error why, Deadline deadline);

 private:
  Task<std::vector<inventory::Endpoint>> alike(inventory::Endpoint lost, std::string pin,
                                               std::vector<std::string> addresses,
                                               Deadline deadline);
  Task<bool> is_it(inventory::Endpoint place, Deadline deadline);
  KnownBmc known() const;

  Transport& transport_;
  Peer peer_;
  std::string user_;
  SecretSource password_;
  Expected expected_;
};

/// The service root's UUID; empty where it tells none, or one that is nobody's.
std::string service_uuid(const json::value& root);

}  // namespace cupel::bmc::redfish
