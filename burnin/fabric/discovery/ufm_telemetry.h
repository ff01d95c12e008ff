#pragma once
// Counters of ports as UFM's telemetry gives them in JSON. Pure.
#include <chrono>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "burnin/fabric/discovery/port_counters.h"
#include "burnin/fabric/link_look.h"

namespace cupel::burnin {

struct UfmTelemetry {
  std::chrono::sys_seconds taken{};   // by the newest of its samples
  std::vector<PortCounters> ports{};  // by the GUID of their node; counters as perfquery names them
  friend bool operator==(const UfmTelemetry&, const UfmTelemetry&) = default;
};

/// Errors: kMalformed for JSON that is none, and above 256 MiB; kNoMeasurement without a port.
/// Source: NVIDIA UFM SDK, telemetry plugin, small_telemetry.json.
Result<UfmTelemetry> parse_ufm_telemetry(std::string_view text);

/// Adds counters of the ports whose GUID `seen` names; a doubt counts the others.
void add_telemetry(LinkLook& look, const UfmTelemetry& telemetry,
                   const inventory::SeenFabric& seen);

}  // namespace cupel::burnin
