#pragma once
// What a machine is made of, as somebody saw it or as a profile expects it. No judgement here.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/part_kind.h"

namespace cupel::inventory {

/// How a PCIe device is connected, and how it could be. 0: not reported.
struct PcieLink {
  int generation = 0;
  int width = 0;  // lanes
  int max_generation = 0;
  int max_width = 0;
  friend bool operator==(const PcieLink&, const PcieLink&) = default;
};

/// One part of one machine. What was not reported stays empty: unknown is not zero.
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
  std::string health{};  // as reported: "OK", "Warning", "Critical"; empty: not reported
  std::optional<PcieLink> pcie{};
  /// Of its ports, in their order: "aa:bb:cc:00:11:22"; of an HCA as the node sees it its node
  /// GUID.
  std::vector<std::string> macs{};
  std::string source{};  // the URI or file that said so

  friend bool operator==(const Part&, const Part&) = default;
};

/// A fact that could not be read, and where it should have been.
struct Unknown {
  std::string fact;    // "PSUs", "serial of dimm A7"
  std::string source;  // URI or command
  std::string why;     // "HTTP 404", "absent", "not a number"

  friend bool operator==(const Unknown&, const Unknown&) = default;
};

/// A source could not list all of its parts of a kind: one that it does not list may be there.
struct PartialList {
  PartKind kind{};
  std::string source;    // URI or command of what was not read
  std::string why;       // "HTTP 500"
  bool passing = false;  // it may be listed when asked again: a busy or restarting service

  friend bool operator==(const PartialList&, const PartialList&) = default;
};

/// The first entry of the kind; nullptr: the source lists all of its parts of that kind.
const PartialList* partial_list(std::span<const PartialList> partial, PartKind kind);

/// The kind of "gpu3", "dimm A7", "mlx5_5", "psu at PSU3", "GPU_SXM_3" or "psu"; nothing for names
/// of other patterns.
std::optional<PartKind> kind_of_name(std::string_view name);

/// One entry for each kind stays: the first that may pass, else the first.
void add_partial(std::vector<PartialList>& partial, PartialList entry);

/// Whether `name` is `part` itself ("gpu3"), a place on it ("gpu3/nvlink2") or a pair with it
/// ("gpu3-gpu4"); "mlx5_10" is not about "mlx5_1". Everything is about the machine as a whole,
/// whose `part` is empty.
bool is_about(std::string_view name, std::string_view part);

}  // namespace cupel::inventory
