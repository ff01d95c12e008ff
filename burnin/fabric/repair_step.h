#pragma once
// What people do at a link that is bad, and in which order. Plain data.
#include <optional>
#include <string>
#include <string_view>

namespace cupel::burnin {

/// In the order in which they are done, but for firmware: what stands behind makes what stands
/// before it needless. Source: NVIDIA, InfiniBand Cluster Operation Guide, "List of Scenarios".
enum class Repair {
  air_flow,
  clear,   // the counters, of both ends
  reseat,  // pull, clean, plug in
  transceivers,
  fibre,
  cable,  // where it is one piece with its transceivers
  firmware,
};

/// "air-flow", "clear", "reseat", "transceivers", "fibre", "cable", "firmware".
std::string_view to_string(Repair repair);
std::optional<Repair> repair_of(std::string_view name);

struct RepairStep {
  Repair repair{};
  std::string text{};  // a sentence for the person who does it
  friend bool operator==(const RepairStep&, const RepairStep&) = default;
};

}  // namespace cupel::burnin
