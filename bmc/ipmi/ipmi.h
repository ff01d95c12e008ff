#pragma once
// A BMC that speaks IPMI 2.0, behind the interface in bmc.h.
#include <memory>

#include "bmc/bmc.h"
#include "bmc/ipmi/transport.h"
#include "bmc/known_bmc.h"
#include "bmc/secret_source.h"
#include "inventory/access.h"

namespace cupel::bmc::ipmi {

/// Nothing is sent before the first verb. `transport` must outlive what is returned; call log_out()
/// before it goes. All verbs are cancel-safe, and may run side by side: they take turns.
/// Before the first change in a session the BMC is asked who it is, and held against `people` and
/// what is remembered of this node: a stranger is left alone (kUntrusted). Without `people` whoever
/// has the password is taken.
/// Errors of every verb: as Client::ask; the further ones are reported in bmc.h.
std::unique_ptr<Bmc> open(Transport& transport, std::string node, inventory::IpmiAccess access,
                          std::string user, SecretSource password,
                          std::optional<ExpectedIdentity> people = std::nullopt);

}  // namespace cupel::bmc::ipmi
