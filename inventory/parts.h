#pragma once
// What a machine is made of, as somebody saw it or as a profile expects it. No judgement here.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// How a PCIe device is connected, and how it could be. 0: not told.
struct PcieLink {
  int generation = 0;
  int width = 0;  // lanes
  int max_generation = 0;
  int max_width = 0;
  friend bool operator==(const PcieLink&, const PcieLink&) = default;
};

/// One part of one machine. What was not told stays empty: unknown is not zero.
struct Part {
  PartKind kind{};
  std::string name;  // as the field says it: "gpu3", "mlx5_5", "psu2", "dimm A7", "bmc"
  std::string model{};
  std::string manufacturer{};
  std::string serial{};
  std::string part_number{};
  std::string firmware{};  // version
  std::string slot{};      // where it sits: PCI address, DIMM locator, bay, as the source says it
  std::optional<double> size_bytes{};  // memory of a GPU or DIMM, capacity of a drive
  std::optional<double> count{};       // cores of a CPU
  std::string health{};                // as told: "OK", "Warning", "Critical"; empty: not told
  std::optional<PcieLink> pcie{};
  std::vector<std::string> macs{};  // of its ports, in their order: "aa:bb:cc:00:11:22"
  std::string source{};             // the URI or file that said so

  friend bool operator==(const Part&, const Part&) = default;
};

/// A fact that could not be read, and where it should have been.
struct Unknown {
  std::string fact;    // "PSUs", "serial of dimm A7"
  std::string source;  // URI or command
  std::string why;     // "HTTP 404", "absent", "not a number"

  friend bool operator==(const Unknown&, const Unknown&) = default;
};

/// Whether two PCI addresses name the same place: "00000000:1B:00.0", "0000:1b:00.0", and
/// "1b:00.0", which leaves the domain open.
bool same_pci(std::string_view left, std::string_view right);

/// A PCI address as the kernel writes it: "0000:1b:00.0" of "00000000:1B:00.0". Nothing of what has
/// no domain, which may be any, or is no address ("PCIe slot 3").
std::optional<std::string> written_pci(std::string_view text);

/// Whether `name` is `part` itself ("gpu3"), a place on it ("gpu3/nvlink2") or a pair with it
/// ("gpu3-gpu4"); "mlx5_10" is not about "mlx5_1". Everything is about the machine as a whole,
/// whose `part` is empty.
bool is_about(std::string_view name, std::string_view part);

}  // namespace cupel::inventory
