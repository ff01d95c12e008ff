#pragma once
// Power and boot flags: what Chassis commands say and do.
#include "bmc/bmc.h"
#include "bmc/ipmi/client.h"

namespace cupel::bmc::ipmi {

/// Errors of all of these: as Client::ask.
Task<Result<PowerState>> read_power(Client& client, Deadline deadline);

/// Chassis Control as it is sent for this: once where a second one would restart the machine again.
/// Pure.
const Command& control_command(ResetType type);

/// Chassis Control. Errors: kUnsupported for what it has no word for. Source: IPMI 2.0, 28.3.
Task<Result<void>> control(Client& client, ResetType type, Deadline deadline);

/// Errors: kUnsupported (HTTP boot); kFailed where it reads back otherwise. Source: 28.12, 28.13.
Task<Result<void>> write_boot(Client& client, BootOverride requested, Deadline deadline);
Task<Result<BootOverride>> read_boot(Client& client, Deadline deadline);

/// The light on or off, until asked otherwise: reads it back where the BMC tells. Errors: kFailed
/// where it stays as it was. Source: 28.5 (Force Identify On), 28.2 (misc. chassis state).
Task<Result<void>> identify_chassis(Client& client, bool on, Deadline deadline);

/// Errors: kUnsupported where the chassis status does not tell.
Task<Result<bool>> read_identify(Client& client, Deadline deadline);

/// The five bytes of parameter 5, and what they say. Pure.
Bytes boot_flags(const BootOverride& requested, bool remote_media);
BootOverride parse_boot_flags(View flags);

}  // namespace cupel::bmc::ipmi
