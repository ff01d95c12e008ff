#pragma once
// The kinds of parts that a machine is made of.
#include <array>
#include <optional>
#include <string_view>

namespace cupel::inventory {

enum class PartKind {
  gpu,
  cpu,
  dimm,
  nvme,
  drive,  // that is not NVMe
  psu,
  fan,
  hca,
  nic,
  dpu,
  switch_chip,  // NVSwitch
  pcie,         // any other PCIe device
  firmware,
  bmc,
  system
};

/// What a machine has a number of, so that one of them may be missing.
inline constexpr std::array kCountedKinds{PartKind::gpu,  PartKind::cpu,        PartKind::dimm,
                                          PartKind::nvme, PartKind::drive,      PartKind::psu,
                                          PartKind::fan,  PartKind::hca,        PartKind::nic,
                                          PartKind::dpu,  PartKind::switch_chip};

std::string_view to_string(PartKind kind);
std::optional<PartKind> part_kind(std::string_view word);

}  // namespace cupel::inventory
