#pragma once
// What a reading says that the run's nodes are compared by (uniformity.h), as facts of the node.
#include <array>
#include <span>
#include <string_view>

#include "base/json.h"
#include "burnin/measurement.h"
#include "inventory/fwd.h"

namespace cupel::steps {

inline constexpr std::string_view kVersionPrefix = "version.", kPlacePrefix = "place.";
/// Drives by name: "0000:c5:00.0 3.84 TB". No profile says how large each is.
inline constexpr std::string_view kDriveSizes = "size.nvme";
/// "model.hca": HCAs by name, "0000:18:00.0 MT4129". For where the profile names no model.
inline constexpr std::string_view kModelPrefix = "model.";
inline constexpr std::size_t kMostPartsOfFact = 64;

/// The rate of the fastest DIMM. One that is slower than the others of its node is its own
/// finding; where all are, no limit shows it.
inline constexpr std::string_view kMemoryRate = "dimm.speed";
/// What the operating system sees of the BIOS's settings: SMT and cores, the IOMMU, NUMA nodes of a
/// socket, the rate of the memory.
inline constexpr std::array<std::string_view, 4> kSeenSettings{"cpu.threads", "iommu.on",
                                                               "numa.nodes", kMemoryRate};

/// The versions among a stage's parts: each name begins with "version.", each value is a JSON
/// object from version to the names of the parts that have it; of a DIMM the part number is the
/// version. "place.gpu" is an object from the names of parts to their PCIe addresses, "model.gpu"
/// to their addresses and models, "size.nvme" to their addresses and sizes. At most 64 facts with
/// 64 parts each. Pure.
json::object version_facts(std::span<const inventory::Part> parts);

/// What the operating system sees of the BIOS's settings: "cpu.threads", "iommu.on", "numa.nodes",
/// "dimm.speed", as far as a stage measured them. Pure.
json::object setting_facts(std::span<const burnin::Measurement> measurements);

}  // namespace cupel::steps
