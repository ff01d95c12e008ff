#pragma once
// The partitions of a disk as sfdisk reports them, and a file system of one mounted for a moment.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "burnin/agent/node/boot/tool.h"

namespace cupel::agent::boot {

struct TableEntry {
  int number = 0;
  std::string node{};       // "/dev/nvme0n1p2"
  std::string type{};       // a GUID in upper case, or the MBR's byte
  std::uint64_t start = 0;  // sectors
  std::uint64_t size = 0;
  std::string uuid{};  // of a GPT's partition; as sfdisk prints it
};

struct PartitionTable {
  std::string label{};  // "gpt", "dos"
  std::vector<TableEntry> entries{};
};

/// Errors: kGrow, kFailed.
Outcome<PartitionTable> read_partition_table(const std::string& disk, const RunTool& run);

/// The EFI system partition's; nothing where there is none.
std::optional<TableEntry> efi_system_partition(const PartitionTable& table);

/// Those that we grow and mount: the RAM system has driver and program of each (burnin/ram).
inline constexpr std::array<std::string_view, 3> kFileSystems{"ext4", "xfs", "btrfs"};

/// What the partition holds, of kFileSystems; else empty.
std::string file_system_of(const std::string& node);

/// The same, read of its disk, which has sectors of 512 bytes: before the kernel knows the
/// partition.
std::string file_system_on(const std::string& disk, const TableEntry& entry);

/// Mounted below /run until it goes.
class Mounted {
 public:
  /// `options`: of the file system, such as "subvol=root".
  static Outcome<Mounted> open(const TableEntry& entry, const std::string& file_system,
                               const std::string& options = {});
  Mounted(Mounted&& other) noexcept;
  Mounted& operator=(Mounted&&) = delete;
  ~Mounted();
  const std::string& folder() const { return folder_; }

 private:
  explicit Mounted(std::string folder) : folder_{std::move(folder)} {}
  std::string folder_;
};

}  // namespace cupel::agent::boot
