#pragma once
// The kinds of parts that a machine is made of.
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

std::string_view to_string(PartKind kind);
std::optional<PartKind> part_kind(std::string_view word);

}  // namespace cupel::inventory
