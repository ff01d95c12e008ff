#pragma once
// What NVMe drives say of their own health, as `smartctl -j -A` tells it.
#include <string_view>

#include "burnin/measurement.h"

namespace cupel::burnin {

/// "nvme.used" (per cent of its rated life), "nvme.spare" (per cent), "nvme.media_errors" and
/// "nvme.warnings" (bits of the critical warning) of each drive, between lines "cupel-smart: nvme0"
/// and "cupel-smart-end". Where no drive reported: an Unknown. Pure. Source: NVM Express Base
/// Specification 2.0, 5.16.1.3, SMART / Health Information.
void add_drive_health(std::string_view text, Findings& findings);

/// The same of one drive's document, with "nvme.temperature" (C). Pure.
void add_drive_health(const std::string& drive, std::string_view document, Findings& findings);

}  // namespace cupel::burnin
