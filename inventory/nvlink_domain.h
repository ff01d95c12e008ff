#pragma once
// Which NVLink domain and partition a machine is in, as its GPUs report it, and where the trays of
// racks contradict each other. Not where trays sit: rack_audit.h. Pure.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/fwd.h"

namespace cupel::inventory {

/// The fact of a node whose GPUs all report one domain: NvlinkDomain::text(). Empty: they do not.
inline constexpr std::string_view kDomainFact = "nvlink.domain";
/// The fact of a node whose GPUs report several: "CLUSTER.CLIQUE: gpu0, gpu1; CLUSTER.CLIQUE:
/// gpu2". Empty: they do not.
inline constexpr std::string_view kSplitDomainFact = "nvlink.domains";
/// 1 for each GPU that is in a partition of an NVLink domain. A profile with a criterion for it is
/// of machines that belong in a domain.
inline constexpr std::string_view kJoinedMeasure = "gpu.fabric.joined";

/// Only GPUs of one cluster reach each other by NVLink, and of these only those of one clique.
/// Source: NVML API reference, nvmlGpuFabricInfo_t.
struct NvlinkDomain {
  std::string cluster{};     // UUID in lower case; never zeros
  std::uint32_t clique = 0;  // partition; never 0, which is that of a GPU that has not joined
  std::string text() const;  // "0a1b2c3d-0000-4000-8000-000000000001.32766"
  friend auto operator<=>(const NvlinkDomain&, const NvlinkDomain&) = default;
};

/// Nothing for "N/A", a UUID of zeros, clique 0, and whatever is no UUID or no number.
std::optional<NvlinkDomain> nvlink_domain(std::string_view cluster, std::string_view clique);
/// What text() wrote.
std::optional<NvlinkDomain> parse_nvlink_domain(std::string_view text);

/// A profile whose machines belong in an NVLink domain: it has a criterion for kJoinedMeasure.
bool belongs_in_domain(const Profile& profile);

struct TrayDomain {
  std::string tray{};
  std::string rack{};  // of the inventory; empty: not compared
  NvlinkDomain domain{};
};

/// Trays that contradict each other. Partitions of one domain do not: a rack may have several.
struct DomainFinding {
  bool accuses = false;              // its trays are the odd ones; else nothing says which are
  std::vector<std::string> trays{};  // in the order of the input
  std::string what{};                // a sentence that names them
  friend bool operator==(const DomainFinding&, const DomainFinding&) = default;
};

/// A rack is one domain, and a domain one rack. A tray is odd where more than half of its rack's
/// trays report another cluster, or where more than half of its cluster's trays are in another
/// rack; without such a majority all of them are named, and none is accused.
std::vector<DomainFinding> audit_domains(std::span<const TrayDomain> trays);

}  // namespace cupel::inventory
