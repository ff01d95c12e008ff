#include "inventory/part_kind.h"

#include <array>
#include <utility>

namespace cupel::inventory {
namespace {

constexpr std::array<std::pair<PartKind, std::string_view>, 15> kWords{{
    {PartKind::gpu, "gpu"},
    {PartKind::cpu, "cpu"},
    {PartKind::dimm, "dimm"},
    {PartKind::nvme, "nvme"},
    {PartKind::drive, "drive"},
    {PartKind::psu, "psu"},
    {PartKind::fan, "fan"},
    {PartKind::hca, "hca"},
    {PartKind::nic, "nic"},
    {PartKind::dpu, "dpu"},
    {PartKind::switch_chip, "switch"},
    {PartKind::pcie, "pcie"},
    {PartKind::firmware, "firmware"},
    {PartKind::bmc, "bmc"},
    {PartKind::system, "system"},
}};

}  // namespace

std::string_view to_string(PartKind kind) {
  for (const auto& [known, word] : kWords)
    if (known == kind) return word;
  __builtin_unreachable();
}

std::optional<PartKind> part_kind(std::string_view word) {
  for (const auto& [kind, known] : kWords)
    if (known == word) return kind;
  return std::nullopt;
}

}  // namespace cupel::inventory
