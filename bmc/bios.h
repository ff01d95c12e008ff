#pragma once
// BIOS settings that converge: look, stage what differs, restart (that is the caller's), and look
// whether it came true. No restart in here: when a machine may be restarted is policy.
#include "bmc/bmc.h"

namespace cupel::bmc {

enum class BiosState { as_wanted, waits_for_boot };

/// Stages what is not so already. Idempotent: what waits for the next boot is not staged again.
/// After `waits_for_boot` restart the machine, whatever the BMC says of that (iLO says nothing),
/// then confirm_bios. Errors: as Bmc::bios and Bmc::stage_bios.
Task<Result<BiosState>> ensure_bios(Bmc& bmc, BiosValues wanted, Deadline deadline);

/// After the restart: all of them are current, and none waits. Errors: kBusy while some still wait
/// for a boot; kFailed names each that is otherwise, or no longer told.
Task<Result<void>> confirm_bios(Bmc& bmc, BiosValues wanted, Deadline deadline);

/// The same to a BIOS: 5, 5.0 and "5"; true and "true". Pure.
bool same_setting(const BiosValue& one, const BiosValue& other);

/// As a person would type it.
std::string to_text(const BiosValue& value);

/// What `wanted` makes different from `settings` once it has booted; empty: nothing. Pure.
BiosValues differing(const BiosValues& wanted, const BiosSettings& settings);

}  // namespace cupel::bmc
