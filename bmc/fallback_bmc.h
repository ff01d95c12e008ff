#pragma once
// Two protocols to one BMC as one Bmc: Redfish is asked first, and what it lacks comes from IPMI.
// No policy on whether IPMI may be used at all (the inventory says that), and no retries.
#include <memory>

#include "bmc/bmc.h"

namespace cupel::bmc {

/// Both answer for the same BMC; each may be nullptr, not both. Each answer says who gave it.
///
/// IPMI is asked where Redfish ends with kUnsupported, kNotFound, kUnreachable or kTimeout, and
/// never after anything else (kRefused, kUntrusted, kBusy, ...): who was turned away at one door
/// does not try the other. An act that must not happen twice (a restart, a cycle, a new password, a
/// reset of the BMC) goes to IPMI only after kUnsupported and kNotFound: a Redfish that broke off
/// may have accepted it. Where both fail the error tells both, with IPMI's code, or with Redfish's
/// where IPMI has no such verb. A verb that Redfish does not support is not asked of it again.
/// The console comes from IPMI (Serial-over-LAN) first.
///
/// `last_resort`: the same BMC by Redfish, which does not leave to IPMI what is better done there
/// (a restart that would cut a DPU's power). It is asked for a reset that must not happen twice
/// where `redfish` does not support it and IPMI turned out not to answer before anything was asked
/// of it; nullptr: nobody is.
std::unique_ptr<Bmc> first_of(std::unique_ptr<Bmc> redfish, std::unique_ptr<Bmc> ipmi,
                              std::unique_ptr<Bmc> last_resort = nullptr);

}  // namespace cupel::bmc
