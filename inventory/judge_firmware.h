#pragma once
// Whether one reported version is what a profile's baseline expects: for the audit and for the plan
// of updates alike. Pure.
#include <string>
#include <string_view>

#include "inventory/baseline.h"
#include "inventory/parts.h"

namespace cupel::inventory {

/// Whether the component is this part: by the Id or the Name of a FirmwareInventory's entry, or, of
/// what a node reports, by the part's name or model.
bool covers(const ExpectedFirmware& expected, const Part& part);

/// Whether this version is at the baseline. What cannot be ordered is in no range.
bool is_expected_version(const ExpectedFirmware& expected, std::string_view version);

/// "24.09.17", "at least 2.1", "at least 2.1, before 3".
std::string expected_version(const ExpectedFirmware& expected);

}  // namespace cupel::inventory
