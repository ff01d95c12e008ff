#pragma once
// Which NVMe drives a stage of drives is about, as a playbook names them and a profile expects
// them.
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "inventory/fwd.h"

namespace cupel::burnin {

/// "nvme0,nvme1"; none for "all". Errors: kInvalid, with what may be written.
Result<json::array> drive_names(std::string_view written);

/// How many NVMe drives the profile expects; 0 where it says nothing of them.
int expected_drives(const inventory::Profile& profile);

}  // namespace cupel::burnin
