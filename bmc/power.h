#pragma once
// Verbs that converge: look, act if need be, look again until the BMC itself says so.
#include "bmc/bmc.h"

namespace cupel::bmc {

/// How often to look: often at first, then seldom. A machine takes seconds to minutes.
struct Pace {
  std::chrono::milliseconds first{1000};
  std::chrono::milliseconds longest{5000};
  std::chrono::milliseconds before_asking_again{10000};  // where the BMC said "not now"
};

/// Turns the machine on and returns once the BMC itself says it is on. Idempotent. Cancel-safe.
/// Errors: kTimeout at the deadline; kUnsupported if no allowed reset turns a machine on.
/// Source: Redfish DSP0266, actions: a 2xx says accepted, not done.
Task<Result<void>> ensure_on(Bmc& bmc, Deadline deadline, Pace pace = {});

/// Turns it off: gracefully first where the BMC offers that and `grace` is not 0, then by force.
/// Idempotent. Errors: kTimeout; kUnsupported.
Task<Result<void>> ensure_off(Bmc& bmc, std::chrono::milliseconds grace, Deadline deadline,
                              Pace pace = {});

/// Off and on again, also where the BMC has no such reset: ensure_off, then ensure_on.
Task<Result<void>> cycle(Bmc& bmc, std::chrono::milliseconds grace, Deadline deadline,
                         Pace pace = {});

}  // namespace cupel::bmc
