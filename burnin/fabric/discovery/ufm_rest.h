#pragma once
// Links and ports as UFM's REST API lists them, as a fabric that was seen. Pure.
#include "base/json.h"
#include "inventory/seen_fabric.h"

namespace cupel::burnin {

/// The answers to GET resources/links, resources/ports and resources/systems; null where one was
/// not had. Links have the peers, ports the speeds and what is down, systems say what is a switch.
/// A port without a GUID and a number is passed over. Errors: kMalformed: `links` is no list, or is
/// above the limits; kNoMeasurement: no link, which is no fabric without errors.
/// Source: NVIDIA UFM Enterprise REST API Guide 6.11 to 6.22, Links, Ports and Systems REST API.
Result<inventory::SeenFabric> parse_ufm_rest(const json::value& links, const json::value& ports,
                                             const json::value& systems);

}  // namespace cupel::burnin
