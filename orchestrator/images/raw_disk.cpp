#include "orchestrator/images/raw_disk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <span>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "orchestrator/images/disk_bytes.h"
#include "orchestrator/images/fat.h"
#include "orchestrator/images/partitions.h"

namespace cupel::images {
namespace {

using namespace std::string_view_literals;

struct Other {
  std::uint64_t offset;
  std::string_view bytes, what;
};
/// What is at hand in place of a raw disk. Source: file(1), its magic.
constexpr std::array kOthers{
    Other{0, "\x1f\x8b\x08"sv, "is compressed by gzip: unpack it first"},
    Other{0, "\xfd\x37zXZ"sv, "is compressed by xz: unpack it first"},
    Other{0, "BZh"sv, "is compressed by bzip2: unpack it first"},
    Other{0, "KDMV"sv, "is a VMDK: qemu-img convert -O raw it first"},
    Other{0, "vhdxfile"sv, "is a VHDX: qemu-img convert -O raw it first"},
    Other{0, "conectix"sv, "is a VHD: qemu-img convert -O raw it first"},
    Other{0, "hsqs"sv, "is a squashfs, and no disk"},
    Other{257, "ustar"sv, "is a tar archive, and no disk"},
    Other{32769, "CD001"sv, "is an ISO 9660 disc, and no disk with an installed system"}};

// GUIDs as they lie on a disk. Source: UEFI 2.10, 5.3.3 and appendix A; Discoverable Partitions.
constexpr std::array kEsp{"\x28\x73\x2a\xc1\x1f\xf8\xd2\x11\xba\x4b\x00\xa0\xc9\x3e\xc9\x3b"sv,
                          "\xef"sv};
constexpr std::array kSwap{"\x6d\xfd\x57\x06\xab\xa4\xc4\x43\x84\xe5\x09\x33\xc8\x4b\x4f\x4f"sv,
                           "\x82"sv};
constexpr std::array kLvm{"\x79\xd3\xd6\xe6\x07\xf5\xc2\x44\xa2\x3c\x23\x8f\x2a\x3d\xf9\x28"sv,
                          "\x8e"sv};

bool is_one_of(const Partition& partition, std::span<const std::string_view> types) {
  return std::ranges::find(types, partition.type) != types.end();
}

bool holds_fat(std::ifstream& file, const Partition& partition) {
  const auto sector = bytes_at(file, partition.start, kDiskSector);
  return sector.size() == kDiskSector && sector.ends_with("\x55\xaa") &&
         (sector.substr(54, 3) == "FAT" || sector.substr(82, 3) == "FAT");
}

bool holds(std::ifstream& file, const Partition& partition, std::uint64_t offset,
           std::string_view bytes) {
  return bytes_at(file, partition.start + offset, bytes.size()) == bytes;
}

// Whatever type the table gives them. Source: util-linux, libblkid/src/superblocks: swap.c, lvm.c
// and luks.c.
bool holds_swap(std::ifstream& file, const Partition& partition) {
  constexpr std::uint64_t kPages[] = {4096, 16384, 65536};
  constexpr auto kMagic = "SWAPSPACE2"sv;
  return is_one_of(partition, kSwap) || std::ranges::any_of(kPages, [&](std::uint64_t page) {
           return holds(file, partition, page - kMagic.size(), kMagic);
         });
}

bool holds_lvm(std::ifstream& file, const Partition& partition) {
  constexpr std::uint64_t kSectors[] = {0, 1, 2, 3}, kTypeAt = 24;
  return is_one_of(partition, kLvm) || std::ranges::any_of(kSectors, [&](std::uint64_t sector) {
           return holds(file, partition, sector * kDiskSector, "LABELONE") &&
                  holds(file, partition, sector * kDiskSector + kTypeAt, "LVM2 001");
         });
}

bool holds_luks(std::ifstream& file, const Partition& partition) {
  return holds(file, partition, 0, "LUKS\xba\xbe");
}

/// Of a partition with btrfs, what keeps the RAM system from growing it and from putting the seed
/// there; empty: nothing, or it has another file system. Source: btrfs(5), struct
/// btrfs_super_block.
std::string_view wrong_in_btrfs(std::ifstream& file, const Partition& partition) {
  constexpr std::uint64_t kSuperBlock = 65536, kPage = 4096, kSeeding = 1ULL << 32;
  const auto block = bytes_at(file, partition.start + kSuperBlock, kDiskSector);
  if (block.size() < kDiskSector || block.substr(64, 8) != "_BHRfS_M") return {};
  if (number_at(block, 136, 8) != 1)
    return "has a btrfs over several devices, of which a node's disk gets one. Make the image with "
           "a btrfs of one device";
  if (number_at(block, 144, 4) > kPage)
    return "has a btrfs in sectors above 4096 bytes, which the RAM system cannot mount: make it "
           "with "
           "mkfs.btrfs --sectorsize 4096";
  if ((number_at(block, 56, 8) & kSeeding) != 0)
    return "has a btrfs that is a seed device, which can neither be grown nor written: btrfstune "
           "-S "
           "0 it first";
  return {};
}

/// What is wrong with it; empty: nothing.
std::string_view wrong_in(std::ifstream& file, std::vector<Partition> partitions, bool for_bios) {
  if (partitions.empty())
    return "has no partition table: what is expected is a whole disk, raw, and no file system";
  const auto is_esp = [](const Partition& one) { return is_one_of(one, kEsp); };
  const auto esp = std::ranges::find_if(partitions, is_esp);
  if (esp == partitions.end() && !for_bios)
    return "has no EFI system partition, and no boot loader in its first sector: no machine could "
           "start it";
  if (esp != partitions.end() && !holds_fat(file, *esp))
    return "has an EFI system partition without a FAT file system: no machine finds its boot "
           "loader";
  const auto last = std::ranges::max_element(partitions, {}, &Partition::start);
  if (holds_swap(file, *last))
    return "has swap as its last partition, which is the one that is grown to the end of the "
           "node's disk: make the image with its root last";
  if (holds_lvm(file, *last))
    return "has LVM as its last partition: neither is that grown, nor gets a root in it the seed. "
           "Make the image with its root in a partition: ext4, XFS or btrfs";
  if (holds_luks(file, *last))
    return "has a partition encrypted by LUKS as its last one: neither is that grown, nor gets a "
           "root in it the seed. Make the image with its root in a partition: ext4, XFS or btrfs";
  for (const auto& each : partitions)
    if (const auto wrong = wrong_in_btrfs(file, each); !wrong.empty()) return wrong;
  return {};
}

bool is_loader(const FatEntry& entry) {
  return !entry.is_folder && lower_case(entry.name).ends_with(".efi");
}

/// The programs in folders below \EFI, where distributions put their loaders; the first of them.
/// Not of all folders that a hostile image may have there: each may be 2 MiB long.
std::vector<std::string> loaders_on(const Fat& fat) {
  constexpr std::size_t kMost = 6, kMostFolders = 32;
  std::vector<std::string> found;
  const auto efi = fat.find("EFI");
  if (!efi || !efi->is_folder) return found;
  std::size_t folders = 0;
  for (const auto& vendor : fat.folder(efi->cluster)) {
    if (!vendor.is_folder || vendor.name.starts_with(".")) continue;
    if (++folders > kMostFolders || found.size() == kMost) break;
    for (const auto& each : fat.folder(vendor.cluster))
      if (is_loader(each) && found.size() < kMost)
        found.push_back("\\EFI\\" + vendor.name + "\\" + each.name);
  }
  return found;
}

}  // namespace

Result<void> check_raw_disk(const std::string& file) {
  std::ifstream stream{file, std::ios::binary};
  const auto wrong = [&](std::string_view what) {
    return Error{Code::kInvalid, file + ": " + std::string{what}};
  };
  for (const auto& other : kOthers)
    if (bytes_at(stream, other.offset, other.bytes.size()) == other.bytes) return wrong(other.what);
  const bool has_gpt = bytes_at(stream, kDiskSector, kGptMagic.size()) == kGptMagic;
  if (!has_gpt && bytes_at(stream, 4096, kGptMagic.size()) == kGptMagic)
    return wrong(
        "has a partition table in sectors of 4096 bytes: nodes' disks with sectors of 512 would "
        "show no partitions. Make it with sectors of 512");
  const auto what = wrong_in(stream, partitions_of(stream), has_bios_loader(file));
  if (!what.empty()) return wrong(what);
  return ok();
}

Result<void> check_efi_loader(const std::string& file, std::string_view loader) {
  std::ifstream stream{file, std::ios::binary};
  const auto partitions = partitions_of(stream);
  const auto esp =
      std::ranges::find_if(partitions, [](const Partition& one) { return is_one_of(one, kEsp); });
  const auto fat = esp == partitions.end() ? std::nullopt : Fat::open(stream, esp->start);
  const bool is_path = loader.starts_with('\\');
  const auto found = fat && is_path ? fat->find(loader) : std::nullopt;
  if (found && !found->is_folder && found->size > 0) return ok();
  const auto others = fat ? loaders_on(*fat) : std::vector<std::string>{};
  return Error{Code::kInvalid,
               fmt::format("{}: its EFI system partition has no {}, which the boot entry would "
                           "name: no machine would start it. {}",
                           file, printable(loader),
                           others.empty() ? std::string{"It has no other loader below \\EFI either"}
                                          : fmt::format("Name one that it has by --efi: {}",
                                                        fmt::join(others, ", ")))};
}

bool has_bios_loader(const std::string& file) {
  constexpr std::size_t kCode = 440;
  std::ifstream stream{file, std::ios::binary};
  const auto sector = bytes_at(stream, 0, kDiskSector);
  return sector.size() == kDiskSector && sector.ends_with("\x55\xaa") &&
         sector.find_first_not_of('\0') < kCode;
}

}  // namespace cupel::images
