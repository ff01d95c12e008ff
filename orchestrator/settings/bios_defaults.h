#pragma once
// How a machine's BIOS stands beside its maker's defaults, as its attribute registry names them.
// Pure. What has no default there, no setting that may be written, and texts (an asset tag) are not
// compared. Source: DSP0268, AttributeRegistry, DefaultValue.
#include <string>
#include <vector>

#include "bmc/setting_answers.h"

namespace cupel::settings {

struct BiosDefaults {
  std::size_t compared = 0;        // attributes; 0: the registry names no default
  std::vector<std::string> off{};  // those with another value, in the order of their names
};

BiosDefaults bios_defaults(const bmc::BiosSettings& reported, const bmc::BiosRegistry& registry);

}  // namespace cupel::settings
