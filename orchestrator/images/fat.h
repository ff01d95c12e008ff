#pragma once
// The files of a FAT file system within a disk image, which is not mounted: what a firmware finds
// on an EFI system partition. Reads names and sizes, and no contents. Any bytes may stand there.
// Source: Microsoft, FAT General Overview of On-Disk Format 1.03; UEFI 2.10, 13.3.
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::images {

struct FatEntry {
  std::string name{};  // the long one, where it has one; '?' for what is not ASCII
  std::string short_name{};
  bool is_folder = false;
  std::uint32_t cluster = 0;  // its first one
  std::uint32_t size = 0;     // bytes
};

class Fat {
 public:
  /// Of the file system that begins at `start`, in bytes; nothing where its first sector is no
  /// FAT's. `file` must outlive it.
  static std::optional<Fat> open(std::ifstream& file, std::uint64_t start);

  /// Of the root, or of the folder that begins at the cluster; as much of it as can be read, 2 MiB
  /// at most, which is the largest that a folder may be.
  std::vector<FatEntry> root() const;
  std::vector<FatEntry> folder(std::uint32_t cluster) const;

  /// By a path such as \EFI\BOOT\BOOTX64.EFI, in any case of letters.
  std::optional<FatEntry> find(std::string_view path) const;

 private:
  explicit Fat(std::ifstream& file) : file_{&file} {}
  std::vector<FatEntry> entries_in(std::string_view bytes) const;
  std::string chain_bytes(std::uint32_t cluster) const;
  std::uint32_t behind(std::uint32_t cluster) const;

  std::ifstream* file_;
  std::uint64_t table_ = 0, root_ = 0, root_bytes_ = 0, data_ = 0;  // in bytes of the file
  std::uint64_t cluster_bytes_ = 0;
  std::uint32_t clusters_ = 0, root_cluster_ = 0;
  int bits_ = 0;  // of an entry of the table: 12, 16 or 32
};

}  // namespace cupel::images
