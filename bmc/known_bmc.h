#pragma once
// Who a BMC is, apart from where it is: by its machine's serial number and its own MAC addresses.
// Pure; asking it is up to the protocols.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bmc/identity.h"
#include "inventory/endpoint.h"

namespace cupel::bmc {

/// What is known of the BMC of one node. Empty: not known.
struct KnownBmc {
  std::string serial{};
  std::string uuid{};          // of the machine
  std::string service_uuid{};  // of the service root, which tells it before any login
  std::vector<std::string> macs{};
  /// Where it was found when it was no longer where the inventory says.
  std::optional<inventory::Endpoint> moved_to{};
  friend bool operator==(const KnownBmc&, const KnownBmc&) = default;
};

/// What people wrote of it, which goes before whatever was learned.
struct ExpectedIdentity {
  std::string serial{};
  std::string mac{};
};

/// Why this is somebody else, with both identities; nothing where it is who was expected, or where
/// too little is known to tell. What people wrote must hold, each of it, as far as the BMC tells
/// it. Of what was learned one agreement is enough: a machine may get a new board, but not a new
/// board, serial number and BMC at once.
std::optional<std::string> identity_mismatch(const KnownBmc& known, const ExpectedIdentity& people,
                                             const Identity& seen);

/// What there is to remember after meeting it; keeps what it did not tell this time.
KnownBmc learned(KnownBmc known, const Identity& seen);

/// Where it is, if that is not where the inventory says.
std::optional<inventory::Endpoint> moved_from(const std::optional<KnownBmc>& known,
                                              const inventory::Endpoint& inventory);

/// "serial S1, BMC MAC aa:bb:cc:00:11:22".
std::string described(const KnownBmc& known);

}  // namespace cupel::bmc
