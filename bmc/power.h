#pragma once
// Verbs that converge: look, act if need be, look again until the BMC itself says so.
#include <optional>

#include "bmc/bmc.h"

namespace cupel::bmc {

/// How often to look: often at first, then seldom. A machine takes seconds to minutes.
struct Pace {
  std::chrono::milliseconds first{1000};
  std::chrono::milliseconds longest{5000};
  std::chrono::milliseconds before_asking_again{10000};  // where the BMC said "not now"
  std::chrono::milliseconds until_bmc_is_gone{60000};    // that cut its own power too
  std::chrono::milliseconds longest_busy{60000};         // where the BMC said when to ask again
  std::chrono::milliseconds after_lost_answer{30000};    // until a reset shows that was done
  std::chrono::milliseconds until_restart_shows{5000};   // a machine that is on counts from then on
  std::chrono::milliseconds before_turning_on{30000};    // what a restart left off
};

/// Turns the machine on and returns once the BMC itself says it is on. Idempotent. Cancel-safe.
/// Errors: kTimeout at the deadline; kUnsupported if no allowed reset turns a machine on; kFailed
/// where the BMC gave it up, with the reason that its task reports. An answer that was lost is none
/// where the machine turns on all the same.
/// Source: Redfish DSP0266, actions: a 2xx says accepted, not done.
Task<Result<void>> ensure_on(Bmc& bmc, Deadline deadline, Pace pace = {});

/// Turns it off: gracefully first where the BMC offers that and `grace` is not 0, then by force.
/// Idempotent. Errors: kTimeout; kUnsupported.
Task<Result<void>> ensure_off(Bmc& bmc, std::chrono::milliseconds grace, Deadline deadline,
                              Pace pace = {});

/// Off and on again, also where the BMC has no such reset: ensure_off, then ensure_on.
Task<Result<void>> cycle(Bmc& bmc, std::chrono::milliseconds grace, Deadline deadline,
                         Pace pace = {});

/// Restarts a machine that is on: by the BMC's own restart where it has one that does this model no
/// harm and is not refused, else by off, wait, on; where the BMC has neither, by the restart that
/// the operating system is asked for. A machine that is off, or that the restart left off, is
/// turned on. Not idempotent. Returns once the machine is on, and was not seen to go off
/// for some seconds; whether it is the new boot, only the machine itself can tell.
/// Errors: kTimeout; kUnsupported; kUnreachable (the answer was lost: it may have been restarted).
/// `by`: which protocol's reset did it, where one did; must outlive the task.
Task<Result<void>> restart(Bmc& bmc, Deadline deadline, Pace pace = {},
                           std::optional<Protocol>* by = nullptr);

/// Cuts the machine's standby power too, as if the cord were pulled: off, AC cycle, wait for the
/// BMC, which may be gone for minutes, and on. Not idempotent. Errors: kUnsupported where the BMC
/// has no such reset: nothing was touched then; kTimeout; kUntrusted (another certificate since).
Task<Result<void>> ac_cycle(Bmc& bmc, std::chrono::milliseconds grace, Deadline deadline,
                            Pace pace = {});

/// Looks at what came of an AC cycle or a restart of the BMC that was `asked` for, without waiting
/// for its end. One whose answer was lost has begun where the BMC went away. Errors: kFailed, with
/// the reason, where the BMC accepted it and gave it up at once; that of `asked`.
Task<Result<void>> has_begun(Bmc& bmc, Result<Protocol> asked, Deadline deadline, Pace pace = {});

/// Restarts the BMC itself, and returns once it answers again; the machine stays as it is. Not
/// idempotent. Errors: as ManagementController::reset; kTimeout; kUntrusted (another certificate
/// since).
Task<Result<void>> restart_bmc(Bmc& bmc, Deadline deadline, Pace pace = {});

}  // namespace cupel::bmc
