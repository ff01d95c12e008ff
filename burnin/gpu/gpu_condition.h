#pragma once
// What `nvidia-smi -q -x` says of one GPU's condition besides its identity and its numbers: errors
// that were corrected, rows that were remapped, modes that wait for a reset or keep programs out,
// and what slows it down at rest.
#include <array>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "burnin/measurement.h"

namespace cupel::burnin {

inline constexpr std::array<std::string_view, 13> kConditionMeasures{
    "gpu.ecc.corrected",
    "gpu.ecc.sram_corrected",
    "gpu.ecc.sram_uncorrected.lifetime",
    "gpu.remap.corrected",
    "gpu.remap.banks.low",
    "gpu.remap.banks.none",
    "gpu.mode.pending",
    "gpu.compute_mode.shared",
    "gpu.pcie.replay_rollovers",
    "gpu.slowdown.at_rest",
    "gpu.clocks.lowered",
    "gpu.inforom.valid",
    "gpu.unique"};

/// What is not reported ("N/A") is no number: cards without ECC or MIG have none. `log`: all that
/// the tool printed, for its warnings. Source: nvidia-smi(1); NVIDIA, GPU memory error management.
void add_condition(const pugi::xml_node& gpu, const std::string& name, const std::string& address,
                   std::string_view log, Findings& findings);

}  // namespace cupel::burnin
