#pragma once
// What a BIOS attribute may be, as the BMC's attribute registry tells it. Source: DSP0268,
// AttributeRegistry; DSP0266, 9.12 (registries).
#include "bmc/redfish/layout.h"
#include "bmc/redfish/write.h"

namespace cupel::bmc::redfish {

/// The registry that `bios` names, in English where there is a choice; null where the BMC has none
/// that can be read: then names are checked against the attributes alone.
Task<Result<json::value>> read_bios_registry_file(Client& client, Layout layout, json::value bios,
                                                  Deadline deadline);

/// What the registry says of each attribute, and how they depend on each other. Pure.
BiosRegistry registry_in(const json::value& registry);

/// `requested` as this BIOS writes it: a number that was typed as a text becomes one.
/// Errors: kInvalid names every attribute that there is not, that is read-only with the requested
/// values, or that may not have that value, with what it may have. Pure.
Result<BiosValues> checked(const BiosValues& requested, const BiosSettings& reported,
                           const json::value& registry);

}  // namespace cupel::bmc::redfish
