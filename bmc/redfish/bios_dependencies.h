#pragma once
// Dependencies of an attribute registry, as BMCs write them. What they mean:
// bmc/bios_dependencies.h.
#include "base/json.h"
#include "bmc/setting_answers.h"

namespace cupel::bmc::redfish {

/// Reads the dependencies, and the properties that they name, into `into`. What is malformed is
/// listed there, and the others are read. Pure.
void read_dependencies(const json::value& registry, BiosRegistry& into);

/// A text, number or flag; nothing for anything else.
std::optional<BiosValue> bios_value_of(const json::value& value);

}  // namespace cupel::bmc::redfish
