#pragma once
// A BMC that speaks Redfish, behind the interface in bmc.h.
#include <memory>

#include "bmc/bmc.h"
#include "bmc/redfish/read_cache.h"
#include "bmc/redfish/whereabouts.h"
#include "inventory/access.h"

namespace cupel::bmc::redfish {

/// Nothing is sent before the first verb. `transport` and `known` must outlive what is returned;
/// call log_out() before it goes. All verbs are cancel-safe, and may run side by side.
/// A BMC is known by its machine's serial number and its own MAC: before the first change in a
/// session it is asked for them, and a stranger is left alone (kUntrusted). One that is not at its
/// address is looked for in the networks of `expected`.
/// Errors of every verb: as Client::get; the further ones are reported in bmc.h.
/// `cache`: what the last inventory read, so that the next one asks only for what has changed; it
/// must outlive what is returned.
std::unique_ptr<Bmc> open(Transport& transport, std::string node, inventory::BmcAccess access,
                          SecretSource password, inventory::KnownKeys& known,
                          Expected expected = {}, ReadCache* cache = nullptr);

}  // namespace cupel::bmc::redfish
