#pragma once
// That what answers is the BMC of this node: asked once in a session, before anything is changed.
// The judgement itself is in known_bmc.h.
#include "bmc/ipmi/client.h"
#include "bmc/known_bmc.h"

namespace cupel::bmc::ipmi {

struct Found;

/// What to hold against what is expected. A FRU has up to three serial numbers, and vendors differ
/// in which one is the machine's: one that is expected counts wherever it stands, and one that is
/// not counts only where it is the product's. Pure.
Identity comparable(const Found& found, const std::string& serial);

/// Asks the BMC who it is, and remembers what was not known. What Redfish reported before stays.
/// Errors: kUntrusted, with both identities; as identify().
Task<Result<void>> recognise(Client& client, ExpectedIdentity people, Deadline deadline);

}  // namespace cupel::bmc::ipmi
