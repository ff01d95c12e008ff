#pragma once
// The version that a component runs before its update: what it is, and whether its image could be
// written back. Pure.
#include <string>
#include <vector>

#include "base/result.h"
#include "inventory/image_manifest.h"
#include "orchestrator/firmware/firmware_plan.h"

namespace cupel::firmware {

/// What all `entries` of a component run; empty: no one version, or they are not all of its
/// entries.
std::string one_version(const std::vector<RunningVersion>& entries, std::size_t all);

/// For each component that is off the baseline, and whose recovery names previous-image: why the
/// version that runs now could not be written back.
std::vector<std::string> previous_image_warnings(const FirmwarePlan& plan,
                                                 const bmc::Identity& machine,
                                                 const Result<inventory::ImageManifest>& manifest,
                                                 std::chrono::sys_seconds now);

}  // namespace cupel::firmware
