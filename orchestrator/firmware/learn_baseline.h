#pragma once
// A baseline from what a good machine reports. Pure.
#include <string>
#include <vector>

#include "inventory/baseline.h"
#include "inventory/parts.h"

namespace cupel::firmware {

struct LearnedBaseline {
  std::vector<inventory::ExpectedFirmware> components{};
  /// Entries that no component can stand for: two versions under one name.
  std::vector<inventory::Part> left_out{};
};

/// Numbered Ids of one version become one component with a pattern ("HGX_FW_GPU_SXM_*"), as do Ids
/// that hold the version itself; entries whose Id is only a number go by their Name where that is
/// of one version. Held against the same machine, each component is at its version.
LearnedBaseline learn_baseline(const std::vector<inventory::Part>& reported);

/// The `firmware:` of a profile, which load_profile.h reads back as it is.
std::string to_yaml(const LearnedBaseline& baseline);

}  // namespace cupel::firmware
